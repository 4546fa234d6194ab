//===- PoolShape.h - a pool's geometry ------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_POOLSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_POOLSHAPE_H

#include "runtime/backend/common/Checks.h"

#include <array>

namespace vdnn::rt::backend {

/// Always three spatial dimensions: missing ones lead, with one element. Always
/// channels last: in row-major order each channel is an image of one.
struct PoolShape {
  using Extent = std::array<int64_t, 3>;

  int64_t batch = 1, channels = 1;
  Extent in = {1, 1, 1}, out = {1, 1, 1};
  Extent kernel = {1, 1, 1}, stride = {1, 1, 1}, dilation = {1, 1, 1};
  Extent padBegin = {0, 0, 0}, padEnd = {0, 0, 0};

  /// Reads attributes `kernel`, `strides`, `pads` and, if `dilated`,
  /// `dilations`; checks `out` against `in`: of one layout, both f32 or both
  /// bf16.
  static Result<PoolShape> parse(const schedule::KernelT &kernel,
                                 const schedule::TypeT &in,
                                 const schedule::TypeT &out, bool dilated);

  /// Checks the result `index` of a pool with result `out`, which numbers a
  /// window's positions in eight bits.
  Status expectIndex(const schedule::TypeT &index,
                     const schedule::TypeT &out) const;

  int64_t windowSize() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t inPixels() const { return in[0] * in[1] * in[2]; }
  int64_t outPixels() const { return out[0] * out[1] * out[2]; }

  /// What a mean over the window at `at` divides by.
  int64_t divisor(const Extent &at, bool includePad) const;
};

} // namespace vdnn::rt::backend

#endif
