//===- Conv.cpp - backward rule of convolution ----------------------------===//

#include "Rules.h"

using namespace mlir;
using namespace vdnn;

// The filter's gradient comes first: where nobody else reads x later, its bytes
// are free before those of dx, of the same size, are taken, so that x and dx
// are never alive together. The other way round they always are.
static LogicalResult convBackward(ConvOp op, Tape &tape) {
  Value dy = tape.gradientOf(op.getY());
  OpBuilder &builder = tape.builder;
  bool wantsBias = op.getBias() && tape.wants(op.getBias());
  if (tape.wants(op.getW()) || wantsBias) {
    Type dbias = wantsBias ? op.getBias().getType() : Type();
    auto filter = builder.create<ConvBackwardFilterOp>(
        op.getLoc(), op.getW().getType(), dbias, op.getX(), dy,
        op.getStridesAttr(), op.getDilationsAttr(), op.getPadsAttr(),
        op.getGroupAttr());
    if (tape.wants(op.getW())) {
      tape.add(op.getW(), filter.getDw());
    }
    if (wantsBias) {
      tape.add(op.getBias(), filter.getDbias());
    }
  }
  if (tape.wants(op.getX())) {
    auto data = builder.create<ConvBackwardDataOp>(
        op.getLoc(), op.getX().getType(), dy, op.getW(), op.getStridesAttr(),
        op.getDilationsAttr(), op.getPadsAttr(), op.getGroupAttr());
    tape.add(op.getX(), data.getDx());
  }
  return success();
}

void vdnn::addConvRules(RuleTable &table) { table.add<ConvOp, convBackward>(); }
