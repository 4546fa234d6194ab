//===- Softmax.h - softmax, its logarithm, and their gradient -------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_SOFTMAX_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_SOFTMAX_H

#include <cstdint>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// The tensor as outer x length x inner, normalised along the middle.
struct SoftmaxShape {
  int64_t outer, length, inner;
  bool log;
};

/// y may lie on x.
cudaError_t launchSoftmax(const SoftmaxShape &shape, const float *x, float *y,
                          cudaStream_t stream);
/// dx may lie on dy.
cudaError_t launchSoftmaxBackward(const SoftmaxShape &shape, const float *dy,
                                  const float *y, float *dx,
                                  cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
