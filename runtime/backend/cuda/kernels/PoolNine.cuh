//===- PoolNine.cuh - strips of windows of 3 x 3 --------------------------===//
//
// A thread handles neighbouring channels of a strip, one column of some rows,
// from top to bottom: what it knows of a row serves every window that has it.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOLNINE_CUH
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOLNINE_CUH

#include "runtime/backend/cuda/kernels/Pool.cuh"
#include "runtime/backend/cuda/kernels/PoolNine.h"

namespace vdnn::rt::cuda::pool {

/// Rows of a strip: of an extent, all strips about alike.
struct Strips {
  int rows, count;

  explicit Strips(int extent) {
    constexpr int kMostRows = 8;
    count = static_cast<int>(ceilDivide(extent, kMostRows));
    rows = count ? static_cast<int>(ceilDivide(extent, count)) : 0;
  }
};

__device__ inline bool isWithin(int at, int extent) {
  return 0 <= at && at < extent;
}

} // namespace vdnn::rt::cuda::pool

#endif
