//===- ConvShape.h - a convolution's geometry -----------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_CONVSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_CONVSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

/// One entry per spatial dimension, of which there are one to three.
struct ConvShape {
  std::vector<int64_t> strides, dilations, padsBegin, padsEnd;
  int64_t group = 1;

  /// Reads attributes `strides`, `dilations`, `pads` and `group`; checks the
  /// shapes, and that the layout is the same, of input `x` (N, C, spatial...),
  /// filter `w` (K, C / group, spatial...), output `y` (N, K, spatial...) and,
  /// where there is one, `bias` (K).
  static Result<ConvShape> parse(const schedule::KernelT &kernel,
                                 const schedule::TypeT &x,
                                 const schedule::TypeT &w,
                                 const schedule::TypeT &y,
                                 const schedule::TypeT *bias);
};

/// The three tensors of a convolution kernel, whichever direction it computes.
struct ConvTypes {
  const schedule::TypeT *x, *w, *y, *bias;

  /// Of `conv`, `conv_backward_data` and `conv_backward_filter`, whose operand
  /// counts are checked. Null bias: there is none.
  static Result<ConvTypes> of(const std::string &kind,
                              const LaunchTypes &types);
};

} // namespace vdnn::rt::backend

#endif
