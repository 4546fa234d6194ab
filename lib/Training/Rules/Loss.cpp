//===- Loss.cpp - backward rule of the cross entropy ----------------------===//

#include "Rules.h"

using namespace mlir;
using namespace vdnn;

static LogicalResult crossEntropyBackward(SoftmaxCrossEntropyOp op,
                                          Tape &tape) {
  if (op.getWeights() && tape.wants(op.getWeights())) {
    return op.emitError("no gradient for the class weights of a cross entropy; "
                        "make them a constant");
  }
  if (tape.gradientOf(op.getLogProb())) {
    return op.emitError("no gradient passes through the logarithms of a cross "
                        "entropy; use its first result only");
  }
  if (tape.wants(op.getLogits())) {
    auto backward = tape.builder.create<SoftmaxCrossEntropyBackwardOp>(
        op.getLoc(), op.getLogits().getType(), tape.gradientOf(op.getLoss()),
        op.getLogProb(), op.getLabels(), op.getWeights(), op.getReductionAttr(),
        op.getIgnoreIndexAttr());
    tape.add(op.getLogits(), backward.getDlogits());
  }
  return success();
}

void vdnn::addLossRules(RuleTable &table) {
  table.add<SoftmaxCrossEntropyOp, crossEntropyBackward>();
}
