//===- PointwisePlan.h - a scalar program, ready to run -------------------===//
//
// Elements are taken in blocks that fit the first-level cache; each instruction
// runs over the block as one vector loop. Inputs of full shape are read where
// they lie and results are written where they belong, unless that could
// overwrite an input that a later instruction needs; only intermediate values
// use scratch, which is on the stack.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_POINTWISEPLAN_H
#define VDNN_RUNTIME_BACKEND_CPU_POINTWISEPLAN_H

#include "runtime/backend/cpu/Kernel.h"
#include "runtime/backend/cpu/ScalarOps.h"

#include <array>

namespace vdnn::rt::cpu::pointwise {

inline constexpr int64_t kScratchBytes = 64 << 10;
inline constexpr int64_t kLargestBlock = 1024;
/// Blocks are multiples of this, so that slots stay aligned.
inline constexpr int64_t kBlockStep = 64;

/// Where a value of the block lies.
struct Location {
  enum Kind { Read, Write, Scratch } kind;
  /// Operand or result, or the bytes of scratch per element before it.
  int64_t index;
  int64_t elementBytes;
};

struct Instruction {
  BlockFunction function;
  std::array<Location, 3> operands;
  size_t operandCount;
  Location result;
};

/// An input that is not simply the block's bytes: it is gathered into scratch.
/// Dimensions in the result's order of memory.
struct Gather {
  struct Dim {
    int64_t size, stride;
  };
  size_t read;
  std::vector<Dim> dims;
  Location to;

  void run(std::byte *target, const std::byte *source, int64_t begin,
           int64_t count) const;
};

struct Constant {
  Location to;
  schedule::ElementType element;
  double value;
};

struct Copy {
  Location from, to;
};

struct Plan {
  std::vector<Gather> gathers;
  std::vector<Constant> constants;
  std::vector<Instruction> instructions;
  std::vector<Copy> copies;
  int64_t elements = 0;
  int64_t block = 0;

  void run(const Operands &operands, unsigned threads) const;
};

/// Plans a pointwise kernel; `inPlace` becomes the pairs that may share a
/// range.
Result<Plan> makePlan(const Request &request,
                      std::vector<schedule::InPlace> &inPlace);

} // namespace vdnn::rt::cpu::pointwise

#endif
