//===- SgdShape.h - a weight update's operands ----------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_SGDSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_SGDSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

struct SgdShape {
  int64_t elements;
  float momentum, decay;
  bool nesterov, hasVelocity;
  bool bf16Gradient;
  bool hasCopy; ///< the last result: the new parameter, rounded to bf16
  std::vector<schedule::InPlace> inPlace;

  /// Checks parameter, gradient (f32 or bf16), rate and, with momentum,
  /// velocity, and the new values; reads the attributes.
  static Result<SgdShape> parse(const schedule::KernelT &kernel,
                                const LaunchTypes &types);
};

} // namespace vdnn::rt::backend

#endif
