//===- Lrn.h - local response normalisation across channels ---------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_LRN_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_LRN_H

#include "runtime/backend/cuda/kernels/Storage.h"

#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

struct LrnShape {
  int64_t rows;
  int channels;     ///< at most kLrnChannels
  int below, above; ///< channels of the window on either side
  float alphaOverSize, beta, bias;
};

/// The gradient keeps a row of channels in shared memory, twice.
constexpr int kLrnChannels = 6144;

cudaError_t launchLrn(const LrnShape &shape, Storage storage, const void *x,
                      void *y, cudaStream_t stream);
cudaError_t launchLrnBackward(const LrnShape &shape, Storage storage,
                              const void *dy, const void *x, void *dx,
                              cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
