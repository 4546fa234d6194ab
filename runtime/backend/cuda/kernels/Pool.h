//===- Pool.h - maximum and mean over windows, and their gradients --------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOL_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOL_H

#include "runtime/backend/cuda/kernels/FastDivide.h"
#include "runtime/backend/cuda/kernels/Storage.h"

namespace vdnn::rt::cuda {

/// Three spatial dimensions; missing ones lead, with one element. An image has
/// less than 2^31 elements.
struct PoolGeometry {
  int64_t batch;
  int channels;
  int in[3], out[3];
  int kernel[3], stride[3], dilation[3], padBegin[3], padEnd[3];
  bool includePad;
};

/// `index`: null, or one number per element of y.
cudaError_t launchMaxPool(const PoolGeometry &geometry, Storage storage,
                          const void *x, void *y, int8_t *index,
                          cudaStream_t stream);
cudaError_t launchAvgPool(const PoolGeometry &geometry, Storage storage,
                          const void *x, void *y, cudaStream_t stream);

cudaError_t launchMaxPoolBackwardIndexed(const PoolGeometry &geometry,
                                         Storage storage, const void *dy,
                                         const int8_t *index, void *dx,
                                         cudaStream_t stream);
cudaError_t launchMaxPoolBackward(const PoolGeometry &geometry, Storage storage,
                                  const void *dy, const void *x, const void *y,
                                  void *dx, cudaStream_t stream);
cudaError_t launchAvgPoolBackward(const PoolGeometry &geometry, Storage storage,
                                  const void *dy, void *dx,
                                  cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
