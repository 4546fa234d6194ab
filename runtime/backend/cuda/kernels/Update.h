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

/// One parameter. Without a velocity both its pointers are null. Results may
/// lie on operands of their type.
struct SgdUpdate {
  int64_t elements;
  const float *parameter;
  const void *gradient;
  const float *velocity;
  float *newParameter, *newVelocity;
  void *copy; ///< the new parameter, rounded to bf16, or null
};

/// `gradient`: the type of the gradient.
cudaError_t launchSgd(const Sgd &sgd, const float *rate, Storage gradient,
                      const SgdUpdate &update, cudaStream_t stream);

/// Several parameters, all with a velocity or all without.
struct SgdGroup {
  static constexpr int kMaxUpdates = 64;

  Sgd sgd;
  int count;
  const float *rate;
  SgdUpdate updates[kMaxUpdates];
  unsigned firstBlock[kMaxUpdates]; ///< of each update; set by the launch
};
static_assert(sizeof(SgdGroup) <= 4096, "what a kernel takes as parameters");

/// The group itself is the kernel's parameter: nothing is copied to the device
/// before.
cudaError_t launchSgdGroup(SgdGroup group, Storage gradient,
                           cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
