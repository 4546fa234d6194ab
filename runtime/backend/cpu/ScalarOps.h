//===- ScalarOps.h - scalar instructions over blocks of elements ----------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_SCALAROPS_H
#define VDNN_RUNTIME_BACKEND_CPU_SCALAROPS_H

#include "runtime/schedule/Schedule.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace vdnn::rt::cpu {

/// Computes `count` elements of a result from as many of each operand. The
/// result may be one of the operands.
using BlockFunction = void (*)(std::byte *result,
                               const std::byte *const *operands, int64_t count);

/// How to compute an instruction on operands of these types, and the result's
/// type.
struct ScalarOp {
  BlockFunction function;
  schedule::ElementType result;
};

/// Any instruction but `constant`. Bool is one byte, 0 or 1.
Result<ScalarOp>
lookUpScalarOp(const schedule::ScalarOpT &op,
               std::span<const schedule::ElementType> operands);

/// Fills `count` elements with a constant of the type.
Status fillConstant(std::byte *result, schedule::ElementType element,
                    double value, int64_t count);

} // namespace vdnn::rt::cpu

#endif
