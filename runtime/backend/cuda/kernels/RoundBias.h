//===- RoundBias.h - a bias in the type that cuDNN adds -------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_ROUNDBIAS_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_ROUNDBIAS_H

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// Rounds to nearest even.
cudaError_t launchRoundBias(const float *from, __nv_bfloat16 *to, int64_t count,
                            cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
