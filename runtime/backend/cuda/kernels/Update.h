//===- Update.h - the weight update ---------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_UPDATE_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_UPDATE_H

#include <cstdint>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

struct Sgd {
  float momentum, decay;
  bool nesterov;
};

/// Without a velocity both its pointers are null. Results may lie on operands.
cudaError_t launchSgd(const Sgd &sgd, float *newParameter, float *newVelocity,
                      const float *parameter, const float *gradient,
                      const float *rate, const float *velocity,
                      int64_t elements, cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
