//===- Conv.cpp - backward rule of convolution ----------------------------===//

#include "../Emit.h"
#include "Rules.h"

using namespace mlir;
using namespace vdnn;

/// The gradient of a bias, before a max pool: each gradient of the pool's
/// output goes to one element of its input, so that their sum is there already,
/// over fewer elements. Null where `dy` is no such pool's.
static Value sumBehindPool(Tape &tape, ConvOp op, Value dy) {
  auto pool = dy.getDefiningOp<MaxPoolBackwardOp>();
  if (!pool || !pool.getIndex()) {
    return {};
  }
  auto type = cast<RankedTensorType>(pool.getDy().getType());
  auto biasType = cast<RankedTensorType>(op.getBias().getType());
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[1] = type.getDimSize(1);
  Value sum =
      emitSumTo(tape.builder, op.getLoc(), biasType.clone(shape), pool.getDy());
  return emitReshape(tape.builder, op.getLoc(), biasType, sum);
}

// The filter's gradient comes first: where nobody else reads x later, its bytes
// are free before those of dx, of the same size, are taken, so that x and dx
// are never alive together. The other way round they always are.
static LogicalResult convBackward(ConvOp op, Tape &tape) {
  Value dy = tape.gradientOf(op.getY());
  if (op.getRelu()) {
    dy = emitReluBackward(tape, op.getLoc(), dy, op.getY());
  }
  OpBuilder &builder = tape.builder;
  bool wantsBias = op.getBias() && tape.wants(op.getBias());
  if (Value dbias = wantsBias ? sumBehindPool(tape, op, dy) : Value()) {
    tape.add(op.getBias(), dbias);
    wantsBias = false;
  }
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
