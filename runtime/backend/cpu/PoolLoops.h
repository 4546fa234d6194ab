//===- PoolLoops.h - loops over a pool's windows --------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_POOLLOOPS_H
#define VDNN_RUNTIME_BACKEND_CPU_POOLLOOPS_H

#include "runtime/backend/common/PoolShape.h"
#include "runtime/backend/cpu/Kernel.h"

namespace vdnn::rt::cpu {

/// Channels that one work item handles: rows of this many floats stay in the
/// first-level cache.
inline constexpr int64_t kBlock = 256;

inline int64_t blocks(const PoolShape &s) {
  return (s.channels + kBlock - 1) / kBlock;
}

/// A pixel's coordinates from its number in row-major order.
inline PoolShape::Extent unflatten(int64_t pixel,
                                   const PoolShape::Extent &extent) {
  return {pixel / (extent[1] * extent[2]), pixel / extent[2] % extent[1],
          pixel % extent[2]};
}

/// Calls `visit(inPixel, position)` for every place of the window at `at` that
/// lies inside the input, in row-major order of the window.
template <typename Visit>
void forWindow(const PoolShape &s, const PoolShape::Extent &at,
               const Visit &visit) {
  for (int64_t a = 0; a < s.kernel[0]; ++a) {
    int64_t i = at[0] * s.stride[0] - s.padBegin[0] + a * s.dilation[0];
    if (i < 0 || i >= s.in[0]) {
      continue;
    }
    for (int64_t b = 0; b < s.kernel[1]; ++b) {
      int64_t j = at[1] * s.stride[1] - s.padBegin[1] + b * s.dilation[1];
      if (j < 0 || j >= s.in[1]) {
        continue;
      }
      for (int64_t c = 0; c < s.kernel[2]; ++c) {
        int64_t k = at[2] * s.stride[2] - s.padBegin[2] + c * s.dilation[2];
        if (k >= 0 && k < s.in[2]) {
          visit((i * s.in[1] + j) * s.in[2] + k,
                (a * s.kernel[1] + b) * s.kernel[2] + c);
        }
      }
    }
  }
}

/// Calls `visit(at, position)` for every window that covers the input pixel
/// `in`, and the pixel's position in it.
template <typename Visit>
void forCoveringWindows(const PoolShape &s, const PoolShape::Extent &in,
                        const Visit &visit) {
  auto window = [&](int dim, int64_t tap) {
    int64_t start = in[dim] + s.padBegin[dim] - tap * s.dilation[dim];
    return start < 0 || start % s.stride[dim] != 0 ||
                   start / s.stride[dim] >= s.out[dim]
               ? -1
               : start / s.stride[dim];
  };
  for (int64_t a = 0; a < s.kernel[0]; ++a) {
    int64_t i = window(0, a);
    if (i < 0) {
      continue;
    }
    for (int64_t b = 0; b < s.kernel[1]; ++b) {
      int64_t j = window(1, b);
      if (j < 0) {
        continue;
      }
      for (int64_t c = 0; c < s.kernel[2]; ++c) {
        int64_t k = window(2, c);
        if (k >= 0) {
          visit(PoolShape::Extent{i, j, k},
                (a * s.kernel[1] + b) * s.kernel[2] + c);
        }
      }
    }
  }
}

} // namespace vdnn::rt::cpu

#endif
