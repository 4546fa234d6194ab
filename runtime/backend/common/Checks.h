//===- Checks.h - what the kernels of all backends check and compute ------===//
//
// Checks of a launch's operands against its kernel, and arithmetic on shapes.
// Every backend's factories begin with these, so that they refuse the same
// things in the same words.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_CHECKS_H
#define VDNN_RUNTIME_BACKEND_COMMON_CHECKS_H

#include "runtime/exec/Device.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace vdnn::rt::backend {

/// How many operands and results a kernel takes.
struct Arity {
  size_t minReads, maxReads, minWrites, maxWrites;
};
Status expectArity(const LaunchTypes &types, Arity arity);
Status expectElement(const schedule::TypeT &type, schedule::ElementType element,
                     const char *what);
/// F32 or BF16: what activations have.
Status expectActivation(const schedule::TypeT &type, const char *what);
Status expectLayout(const schedule::TypeT &type, schedule::Layout layout,
                    const char *what);
Status expectShape(const schedule::TypeT &type,
                   const std::vector<int64_t> &shape, const char *what);
Status expectSameType(const schedule::TypeT &type, const schedule::TypeT &other,
                      const char *what);

/// Element type F32 for all reads and writes but those that `except` lists
/// (reads first, then writes).
Status expectAllF32(const LaunchTypes &types,
                    std::initializer_list<size_t> except = {});

/// Every pair that a command computes in place must be one of `known`, the
/// pairs that its kernel allows.
Status expectInPlace(std::span<const schedule::InPlace> pairs,
                     std::span<const schedule::InPlace> known,
                     const std::string &kind);

/// Bytes of each of a launch's operands.
Result<std::vector<uint64_t>>
bytesOf(std::span<const schedule::TypeT *const> types);

std::string toString(const std::vector<int64_t> &shape);

int64_t countElements(const std::vector<int64_t> &shape);

/// The type that a tensor's elements have in a pointwise program: integers
/// without sign, whose instructions say which they mean, and f32 for bf16.
schedule::ElementType scalarElement(schedule::ElementType element);

/// The dimensions of a type in the order of memory, outermost first: {0, 1, 2,
/// 3}, or {0, 2, 3, 1} where channels are last.
std::vector<size_t> memoryOrder(const schedule::TypeT &type);

/// The stride of each logical dimension, in elements.
std::vector<int64_t> memoryStrides(const schedule::TypeT &type);

/// Offsets of parts of a workspace, each aligned to 64 bytes.
class WorkspacePlan {
public:
  uint64_t add(uint64_t bytes) {
    uint64_t offset = (bytes_ + 63) / 64 * 64;
    bytes_ = offset + bytes;
    return offset;
  }
  uint64_t bytes() const { return bytes_; }

private:
  uint64_t bytes_ = 0;
};

/// Returns the error of a Status from a function that returns a Result or a
/// Status.
#define VDNN_TRY(expression)                                                   \
  do {                                                                         \
    if (::vdnn::rt::Status status_ = (expression); !status_.ok()) {            \
      return status_.error();                                                  \
    }                                                                          \
  } while (false)

} // namespace vdnn::rt::backend

#endif
