//===- Pool.cpp - backward rules of pooling -------------------------------===//

#include "Rules.h"

using namespace mlir;
using namespace vdnn;

static LogicalResult maxPoolBackward(MaxPoolOp op, Tape &tape) {
  if (!tape.wants(op.getX())) {
    return success();
  }
  // An index, where the op has one, stands for both its input and its output.
  Value index = op.getIndex();
  Value dy = tape.gradientOf(op.getY());
  auto backward = tape.builder.create<MaxPoolBackwardOp>(
      op.getLoc(), op.getX().getType(), dy, index, index ? Value() : op.getX(),
      index ? Value() : op.getY(), op.getKernelAttr(), op.getStridesAttr(),
      op.getPadsAttr(), op.getDilationsAttr());
  tape.add(op.getX(), backward.getDx());
  return success();
}

static LogicalResult avgPoolBackward(AvgPoolOp op, Tape &tape) {
  if (tape.wants(op.getX())) {
    auto backward = tape.builder.create<AvgPoolBackwardOp>(
        op.getLoc(), op.getX().getType(), tape.gradientOf(op.getY()),
        op.getKernelAttr(), op.getStridesAttr(), op.getPadsAttr(),
        op.getCountIncludePadAttr());
    tape.add(op.getX(), backward.getDx());
  }
  return success();
}

void vdnn::addPoolRules(RuleTable &table) {
  table.add<MaxPoolOp, maxPoolBackward>();
  table.add<AvgPoolOp, avgPoolBackward>();
}
