//===- PoolNine.h - max pools with windows of 3 x 3 -----------------------===//
//
// With stride 1 or 2, as in most networks: windows share what they know of a
// row, and no division is left in the loops.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOLNINE_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOLNINE_H

#include "runtime/backend/cuda/kernels/Pool.h"

namespace vdnn::rt::cuda {

/// Whether the kernels below take such a pool.
bool isNine(const PoolGeometry &geometry);

cudaError_t launchNineMaxPool(const PoolGeometry &geometry, Storage storage,
                              const void *x, void *y, int8_t *index,
                              cudaStream_t stream);
cudaError_t launchNineMaxPoolBackward(const PoolGeometry &geometry,
                                      Storage storage, const void *dy,
                                      const int8_t *index, void *dx,
                                      cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
