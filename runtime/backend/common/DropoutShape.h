//===- DropoutShape.h - a dropout's numbers -------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_DROPOUTSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_DROPOUTSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

/// docs/kernels.md says which elements stay.
struct DropoutNumbers {
  int64_t elements;
  uint32_t id;
  uint32_t threshold; ///< an element stays if 24 bits are at least this
  float scale;

  /// Checks x, seed, step and y; reads the attributes `ratio` and `id`.
  static Result<DropoutNumbers> parse(const schedule::KernelT &kernel,
                                      const LaunchTypes &types);
};

} // namespace vdnn::rt::backend

#endif
