//===- Patterns.cpp -------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace vdnn;

/// The only scalar op of `op` beside constants, if `op` has `inputs` operands,
/// all of the type of its one result, and yields that scalar op's value.
template <typename OpT>
static OpT getOnlyScalarOp(PointwiseOp op, size_t inputs) {
  if (!op || op.getInputs().size() != inputs || op.getOutputs().size() != 1) {
    return {};
  }
  Type type = op.getOutputs().front().getType();
  if (!llvm::all_of(op.getInputs().getTypes(),
                    [&](Type input) { return input == type; })) {
    return {};
  }
  Block &body = op.getBody().front();
  auto scalar = body.getTerminator()->getOperand(0).getDefiningOp<OpT>();
  for (Operation &other : body.without_terminator()) {
    if (&other != scalar.getOperation() && !isa<arith::ConstantOp>(other)) {
      return {};
    }
  }
  return scalar;
}

bool vdnn::isRelu(PointwiseOp op) {
  auto maximum = getOnlyScalarOp<arith::MaximumFOp>(op, 1);
  if (!maximum) {
    return false;
  }
  Value x = op.getBody().getArgument(0);
  return (maximum.getLhs() == x &&
          matchPattern(maximum.getRhs(), m_AnyZeroFloat())) ||
         (maximum.getRhs() == x &&
          matchPattern(maximum.getLhs(), m_AnyZeroFloat()));
}

bool vdnn::isSum(PointwiseOp op) {
  auto sum = getOnlyScalarOp<arith::AddFOp>(op, 2);
  return sum && isa<BlockArgument>(sum.getLhs()) &&
         isa<BlockArgument>(sum.getRhs()) && sum.getLhs() != sum.getRhs();
}
