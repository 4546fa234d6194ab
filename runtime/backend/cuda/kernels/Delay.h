//===- Delay.h - a kernel that does nothing for a while -------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_DELAY_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_DELAY_H

#include <cstdint>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// Keeps the stream busy for at least so long, on one thread of the GPU.
cudaError_t launchDelay(uint64_t nanoseconds, cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
