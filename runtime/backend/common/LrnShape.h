//===- LrnShape.h - a local response normalisation's geometry -------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_LRNSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_LRNSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

struct LrnWindow {
  int64_t rows, channels;
  int64_t below, above; ///< channels of the window on either side
  float alphaOverSize, beta, bias;

  /// Checks the operands and the result, all of one type in f32 or bf16; reads
  /// the attributes.
  static Result<LrnWindow> parse(const schedule::KernelT &kernel,
                                 const LaunchTypes &types);
};

} // namespace vdnn::rt::backend

#endif
