//===- Pointwise.cpp - backward rule of pointwise ops ---------------------===//

#include "../Emit.h"
#include "../ScalarProgram.h"
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace vdnn;

Value vdnn::emitReluBackward(Tape &tape, Location loc, Value dy, Value y) {
  return emitPointwise(
      tape.builder, loc, cast<RankedTensorType>(y.getType()), {y, dy},
      [](OpBuilder &b, Location l, ValueRange s) -> Value {
        Value zero = emitScalar(b, l, s[0].getType(), 0);
        Value passes =
            b.create<arith::CmpFOp>(l, arith::CmpFPredicate::OGT, s[0], zero);
        return b.create<arith::SelectOp>(l, passes, s[1], zero);
      });
}

static LogicalResult pointwiseBackward(PointwiseOp op, Tape &tape) {
  SmallVector<Value> gradients;
  for (Value output : op.getOutputs()) {
    gradients.push_back(tape.gradientOf(output));
  }
  SmallVector<bool> wanted;
  for (Value input : op.getInputs()) {
    wanted.push_back(tape.wants(input));
  }
  ScalarProgram fromOutputs(op, ScalarProgram::Source::Outputs);
  ScalarProgram fromInputs(op, ScalarProgram::Source::Inputs);
  if (failed(fromOutputs.differentiate(gradients, wanted)) ||
      failed(fromInputs.differentiate(gradients, wanted))) {
    return failure();
  }
  // What is read must stay alive until now. At a tie the outputs: the next op
  // keeps them anyway, and this one may then work in place.
  bool outputs = fromOutputs.bytesRead() <= fromInputs.bytesRead();
  SmallVector<Value> results =
      (outputs ? fromOutputs : fromInputs).emit(tape.builder);
  for (auto [input, gradient] : llvm::zip(op.getInputs(), results)) {
    if (gradient) {
      auto type = cast<RankedTensorType>(input.getType());
      tape.add(input, emitSumTo(tape.builder, op.getLoc(), type, gradient));
    }
  }
  return success();
}

void vdnn::addPointwiseRules(RuleTable &table) {
  table.add<PointwiseOp, pointwiseBackward>();
}
