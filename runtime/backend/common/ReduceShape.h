//===- ReduceShape.h - a reduction's geometry -----------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_REDUCESHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_REDUCESHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

/// A dimension in the order of memory, or several neighbours that are all
/// reduced or all kept.
struct ReduceDim {
  int64_t size;
  bool reduced;
};

enum class ReduceKind { Sum, Mean, Max, Min, Prod, SumSquare };

struct ReduceShape {
  ReduceKind kind;
  std::vector<ReduceDim> dims; ///< kinds alternate; none has one element

  /// Checks the operand and the result, of the operand's element type or, from
  /// a bf16 operand, f32; reads the attributes `kind` and `axes`.
  static Result<ReduceShape> parse(const schedule::KernelT &kernel,
                                   const LaunchTypes &types);

  /// Operands per result.
  int64_t reducedElements() const;
};

} // namespace vdnn::rt::backend

#endif
