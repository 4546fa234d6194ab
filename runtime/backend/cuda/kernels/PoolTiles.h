//===- PoolTiles.h - windows of 2 x 2 that tile the image -----------------===//
//
// The usual max pool: every pixel belongs to one window, so that a thread has
// all of a window to itself and nothing is searched for.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOLTILES_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOLTILES_H

#include "runtime/backend/cuda/kernels/Pool.h"

namespace vdnn::rt::cuda {

/// Whether the kernels below take such a pool.
bool isTiled(const PoolGeometry &geometry, Storage storage);

/// Channels as planes alone: one channel, see `isTiled`.
cudaError_t launchTiledMaxPool(const PoolGeometry &geometry, Storage storage,
                               const void *x, void *y, int8_t *index,
                               cudaStream_t stream);
cudaError_t launchTiledMaxPoolBackward(const PoolGeometry &geometry,
                                       Storage storage, const void *dy,
                                       const int8_t *index, void *dx,
                                       cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
