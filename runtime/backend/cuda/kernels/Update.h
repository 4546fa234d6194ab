//===- Update.h - the weight update ---------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_UPDATE_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_UPDATE_H

#include "runtime/backend/cuda/kernels/Storage.h"

#include <cstdint>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

struct Sgd {
  float momentum, decay;
  bool nesterov;
};

/// Without a velocity both its pointers are null. Results may lie on operands
/// of their type.
struct SgdOperands {
  const float *parameter;
  const void *gradient;
  Storage gradientStorage;
  const float *rate, *velocity;
  float *newParameter, *newVelocity;
  void *copy; ///< the new parameter, rounded to bf16, or null
};

cudaError_t launchSgd(const Sgd &sgd, const SgdOperands &operands,
                      int64_t elements, cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
