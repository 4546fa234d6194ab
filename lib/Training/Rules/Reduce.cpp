//===- Reduce.cpp - backward rule of reductions ---------------------------===//

#include "../Emit.h"
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace vdnn;

/// Number of elements that each element of the result stands for.
static double countReduced(ReduceOp op) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  auto y = cast<RankedTensorType>(op.getY().getType());
  return double(x.getNumElements()) / double(y.getNumElements());
}

static Value emitMask(OpBuilder &b, Location loc, Value x, Value extreme,
                      Value chosen) {
  Value equal =
      b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, x, extreme);
  Value zero = emitScalar(b, loc, chosen.getType(), 0);
  return b.create<arith::SelectOp>(loc, equal, chosen, zero);
}

/// Maximum and minimum: equal extremes share the gradient.
static Value emitExtremum(ReduceOp op, Value dy, Tape &tape) {
  OpBuilder &builder = tape.builder;
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getX().getType());
  Value isExtreme = emitPointwise(
      builder, loc, type, {op.getX(), op.getY()},
      [](OpBuilder &b, Location l, ValueRange s) {
        return emitMask(b, l, s[0], s[1], emitScalar(b, l, s[0].getType(), 1));
      });
  // bf16 can't count beyond 256.
  Value count = emitSum(builder, loc, isExtreme, op.getAxes(),
                        toScalarType(type.getElementType()));
  return emitPointwise(builder, loc, type, {op.getX(), op.getY(), dy, count},
                       [](OpBuilder &b, Location l, ValueRange s) {
                         Value share = b.create<arith::DivFOp>(l, s[2], s[3]);
                         return emitMask(b, l, s[0], s[1], share);
                       });
}

static LogicalResult reduceBackward(ReduceOp op, Tape &tape) {
  if (!tape.wants(op.getX())) {
    return success();
  }
  Value dy = tape.gradientOf(op.getY());
  auto type = cast<RankedTensorType>(op.getX().getType());
  Value dx;
  switch (op.getKind()) {
  case Reduction::Sum:
  case Reduction::None:
    dx =
        emitPointwise(tape.builder, op.getLoc(), type, dy,
                      [](OpBuilder &, Location, ValueRange s) { return s[0]; });
    break;
  case Reduction::Mean: {
    double factor = 1 / countReduced(op);
    dx = emitPointwise(tape.builder, op.getLoc(), type, dy,
                       [&](OpBuilder &b, Location l, ValueRange s) {
                         return b.create<arith::MulFOp>(
                             l, s[0], emitScalar(b, l, s[0].getType(), factor));
                       });
    break;
  }
  case Reduction::SumSquare:
    dx = emitPointwise(tape.builder, op.getLoc(), type, {dy, op.getX()},
                       [](OpBuilder &b, Location l, ValueRange s) {
                         Value twice = b.create<arith::AddFOp>(l, s[1], s[1]);
                         return b.create<arith::MulFOp>(l, s[0], twice);
                       });
    break;
  case Reduction::Max:
  case Reduction::Min:
    dx = emitExtremum(op, dy, tape);
    break;
  case Reduction::Prod:
    return op.emitError(
        "no backward rule for a product over axes; sum, mean, max, min and "
        "sum_square have one");
  }
  tape.add(op.getX(), dx);
  return success();
}

void vdnn::addReduceRules(RuleTable &table) {
  table.add<ReduceOp, reduceBackward>();
}
