//===- PointwiseOperands.h - where a pointwise kernel's operands lie ------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_POINTWISEOPERANDS_H
#define VDNN_RUNTIME_BACKEND_CUDA_POINTWISEOPERANDS_H

#include "runtime/backend/common/Checks.h"

#include <span>
#include <vector>

namespace vdnn::rt::cuda {

/// How a thread finds its elements of an operand.
enum class Access {
  Full,     ///< they lie where those of the results do
  Scalar,   ///< the operand has one element
  Vector,   ///< they are neighbours, at an offset of their own
  Splat,    ///< they are one element
  Gathered, ///< each at an offset of its own
};

struct PointwiseOperand {
  /// A dimension in the results' order of memory; neighbours that are one run
  /// are merged.
  struct Dim {
    int64_t size, stride;
  };

  schedule::ElementType element; ///< in memory
  Access access;
  std::vector<Dim> dims; ///< of Vector, Splat and Gathered

  /// Of an operand that is neither Full nor Scalar: for threads that take
  /// `width` neighbours, the first a multiple of it.
  void chooseAccess(int64_t width);
};

/// The operands of a kernel with results like `y`, broadcast to its shape;
/// Gathered where the width must be known.
Result<std::vector<PointwiseOperand>>
readOperands(std::span<const schedule::TypeT *const> reads,
             const schedule::TypeT &y);

} // namespace vdnn::rt::cuda

#endif
