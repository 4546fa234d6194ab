//===- Norm.cpp - backward rules of normalisation, softmax, dropout -------===//

#include "../Emit.h"
#include "../Patterns.h"
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace vdnn;

static LogicalResult batchNormBackward(BatchNormOp op, Tape &tape) {
  for (Value statistic : op.getResults().drop_front()) {
    if (tape.gradientOf(statistic)) {
      return op.emitError(
          "no gradient passes through the statistics of a batch "
          "norm; use its first result only");
    }
  }
  Value dy = tape.gradientOf(op.getY());
  auto addTo = [&](Value operand, Value gradient) {
    if (operand && tape.wants(operand)) {
      tape.add(operand, gradient);
    }
  };
  ValueRange normalized = op->getOperands().take_front(3);
  bool wanted = llvm::any_of(
      normalized, [&](Value operand) { return tape.wants(operand); });
  bool readsOutput = op.getRelu() && op.getResidual();
  // Whoever computes the gradient can mask it, in one pass. A sum is made by
  // the norm itself.
  auto producer = dy.getDefiningOp<PointwiseOp>();
  if (readsOutput && (!wanted || (producer && !isSum(producer)))) {
    dy = emitReluBackward(tape, op.getLoc(), dy, op.getY());
    readsOutput = false;
  }
  if (!wanted) {
    addTo(op.getResidual(), dy);
    return success();
  }
  bool masksItself = op.getRelu() && !op.getResidual();
  auto backward = tape.builder.create<BatchNormBackwardOp>(
      op.getLoc(), op.getX().getType(), op.getScale().getType(),
      op.getBias().getType(), readsOutput ? op.getY().getType() : Type(), dy,
      op.getX(), op.getScale(), op.getMean(), op.getInvStd(),
      masksItself ? op.getBias() : Value(), readsOutput ? op.getY() : Value(),
      /*addend=*/Value(), op.getEpsilonAttr(),
      masksItself || readsOutput ? tape.builder.getUnitAttr() : UnitAttr());
  // First the residual: what it is the output of comes next.
  addTo(op.getResidual(), readsOutput ? backward.getDresidual() : dy);
  for (auto [operand, gradient] :
       llvm::zip(normalized, backward->getResults())) {
    addTo(operand, gradient);
  }
  return success();
}

/// A vector of C elements as a tensor that broadcasts over N x C x spatial.
static Value emitPerChannel(Tape &tape, Location loc, Value vector,
                            int64_t rank) {
  auto type = cast<RankedTensorType>(vector.getType());
  SmallVector<int64_t> shape(rank, 1);
  shape[1] = type.getDimSize(0);
  return emitReshape(tape.builder, loc, type.clone(shape), vector);
}

/// Adds the sum of `gradient` over all but the channels to that of a vector.
static void addPerChannel(Tape &tape, Location loc, Value vector,
                          Value gradient) {
  auto full = cast<RankedTensorType>(gradient.getType());
  SmallVector<int64_t> shape(full.getRank(), 1);
  shape[1] = full.getDimSize(1);
  auto type = cast<RankedTensorType>(vector.getType());
  Value sum = emitSumTo(tape.builder, loc,
                        full.clone(shape, type.getElementType()), gradient);
  tape.add(vector, emitReshape(tape.builder, loc, type, sum));
}

static LogicalResult frozenNormBackward(BatchNormInferenceOp op, Tape &tape) {
  if (tape.wants(op.getMean()) || tape.wants(op.getVar())) {
    return op.emitError(
        "no gradient for the statistics of a frozen batch norm; "
        "make them states, or train with '--bn=train'");
  }
  Location loc = op.getLoc();
  Value dy = tape.gradientOf(op.getY());
  auto full = cast<RankedTensorType>(dy.getType());
  double epsilon = op.getEpsilon().convertToDouble();
  auto perChannel = [&](Value vector) {
    return emitPerChannel(tape, loc, vector, full.getRank());
  };
  auto emitInvStd = [=](OpBuilder &b, Location l, Value variance) -> Value {
    Value shifted = b.create<arith::AddFOp>(
        l, variance, emitScalar(b, l, variance.getType(), epsilon));
    return b.create<math::RsqrtOp>(l, shifted);
  };
  if (tape.wants(op.getScale())) {
    Value product = emitPointwise(
        tape.builder, loc, full,
        {dy, op.getX(), perChannel(op.getMean()), perChannel(op.getVar())},
        [&](OpBuilder &b, Location l, ValueRange s) -> Value {
          Value centred = b.create<arith::SubFOp>(l, s[1], s[2]);
          Value normal =
              b.create<arith::MulFOp>(l, centred, emitInvStd(b, l, s[3]));
          return b.create<arith::MulFOp>(l, s[0], normal);
        });
    addPerChannel(tape, loc, op.getScale(), product);
  }
  if (tape.wants(op.getBias())) {
    addPerChannel(tape, loc, op.getBias(), dy);
  }
  if (tape.wants(op.getX())) {
    tape.add(op.getX(),
             emitPointwise(
                 tape.builder, loc, full,
                 {dy, perChannel(op.getScale()), perChannel(op.getVar())},
                 [&](OpBuilder &b, Location l, ValueRange s) -> Value {
                   Value factor =
                       b.create<arith::MulFOp>(l, s[1], emitInvStd(b, l, s[2]));
                   return b.create<arith::MulFOp>(l, s[0], factor);
                 }));
  }
  return success();
}

static LogicalResult lrnBackward(LRNOp op, Tape &tape) {
  if (tape.wants(op.getX())) {
    auto backward = tape.builder.create<LRNBackwardOp>(
        op.getLoc(), op.getX().getType(), tape.gradientOf(op.getY()), op.getX(),
        op.getSizeAttr(), op.getAlphaAttr(), op.getBetaAttr(),
        op.getBiasAttr());
    tape.add(op.getX(), backward.getDx());
  }
  return success();
}

static LogicalResult softmaxBackward(SoftmaxOp op, Tape &tape) {
  if (tape.wants(op.getX())) {
    auto backward = tape.builder.create<SoftmaxBackwardOp>(
        op.getLoc(), op.getX().getType(), tape.gradientOf(op.getY()), op.getY(),
        op.getAxisAttr(), op.getLogAttr());
    tape.add(op.getX(), backward.getDx());
  }
  return success();
}

// The same elements are dropped again: the choice depends on `id` and position.
static LogicalResult dropoutBackward(DropoutOp op, Tape &tape) {
  if (tape.wants(op.getX())) {
    auto backward = tape.builder.create<DropoutOp>(
        op.getLoc(), op.getX().getType(), tape.gradientOf(op.getY()),
        op.getSeed(), op.getStep(), op.getRatioAttr(), op.getIdAttr());
    tape.add(op.getX(), backward.getY());
  }
  return success();
}

void vdnn::addNormRules(RuleTable &table) {
  table.add<BatchNormOp, batchNormBackward>();
  table.add<BatchNormInferenceOp, frozenNormBackward>();
  table.add<LRNOp, lrnBackward>();
  table.add<SoftmaxOp, softmaxBackward>();
  table.add<DropoutOp, dropoutBackward>();
}
