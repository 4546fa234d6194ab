//===- Dropout.h - random zeros from a counter ----------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_DROPOUT_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_DROPOUT_H

#include "runtime/backend/cuda/kernels/Storage.h"

#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

struct DropoutShape {
  int64_t elements; ///< at most 2^34
  uint32_t id;
  uint32_t threshold; ///< kept if the upper 24 bits of the word reach this
  float scale;
};

/// y may lie on x.
cudaError_t launchDropout(const DropoutShape &shape, Storage storage,
                          const void *x, const int64_t *seed,
                          const int64_t *step, void *y, cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
