//===- ScalarCode.h - scalar instructions as CUDA C -----------------------===//
//
// The semantics are those of docs/kernels.md, "Pointwise": a value of 16-bit
// floating point is a `float` that has such a value, Bool is a byte of 0 or 1,
// and integers have no sign until an instruction says how it takes them.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_SCALARCODE_H
#define VDNN_RUNTIME_BACKEND_CUDA_SCALARCODE_H

#include "runtime/schedule/Schedule.h"

#include <span>
#include <string>

namespace vdnn::rt::cuda {

/// Functions that the expressions below call: to be put before them.
extern const char *const kScalarFunctions;

/// The C type of a value in a program, and of an element of a tensor. Null
/// where programs have no such values.
const char *valueType(schedule::ElementType element);
const char *memoryType(schedule::ElementType element);

/// Expressions for the value of an element in memory, and the reverse; 16-bit
/// floating point is widened and rounded.
std::string fromMemory(schedule::ElementType element,
                       const std::string &memory);
std::string toMemory(schedule::ElementType element, const std::string &value);

/// An expression for an instruction's value.
struct ScalarCode {
  std::string expression;
  schedule::ElementType result;
  bool callsLibrary; ///< a mathematical function: long code
};

/// Any instruction but `constant`; `names` are its operands' variables.
Result<ScalarCode> scalarCode(const schedule::ScalarOpT &op,
                              std::span<const schedule::ElementType> operands,
                              std::span<const std::string> names);

Result<std::string> constantCode(schedule::ElementType element, double value);

} // namespace vdnn::rt::cuda

#endif
