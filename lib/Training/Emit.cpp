//===- Emit.cpp - small pieces of a step ----------------------------------===//

#include "Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace vdnn;

Value vdnn::emitPointwise(OpBuilder &builder, Location loc,
                          RankedTensorType type, ValueRange inputs,
                          ScalarBody body) {
  auto op = builder.create<PointwiseOp>(loc, type, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (Value input : inputs) {
    block->addArgument(toScalarType(getElementTypeOrSelf(input.getType())),
                       loc);
  }
  Value scalar = body(builder, loc, block->getArguments());
  builder.create<YieldOp>(loc, scalar);
  return op.getOutputs().front();
}

Value vdnn::emitScalar(OpBuilder &builder, Location loc, Type type,
                       double value) {
  return builder.create<arith::ConstantOp>(loc,
                                           builder.getFloatAttr(type, value));
}

Value vdnn::emitZeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  return emitPointwise(
      builder, loc, type, {}, [&](OpBuilder &b, Location l, ValueRange) {
        return emitScalar(b, l, toScalarType(type.getElementType()), 0);
      });
}

Value vdnn::emitReshape(OpBuilder &builder, Location loc, RankedTensorType type,
                        Value value) {
  if (value.getType() == type) {
    return value;
  }
  return builder.create<ReshapeOp>(loc, type, value);
}

bool vdnn::isCast(PointwiseOp op) {
  Block &body = op.getBody().front();
  return op.getInputs().size() == 1 && op.getOutputs().size() == 1 &&
         cast<RankedTensorType>(op.getInputs().front().getType()).getShape() ==
             cast<RankedTensorType>(op.getOutputs().front().getType())
                 .getShape() &&
         body.getTerminator()->getOperand(0) == body.getArgument(0);
}

Value vdnn::emitCast(OpBuilder &builder, Location loc, Type element,
                     Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element) {
    return value;
  }
  return emitPointwise(
      builder, loc, type.clone(element), value,
      [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; });
}

Value vdnn::emitSum(OpBuilder &builder, Location loc, Value value,
                    ArrayRef<int64_t> axes, Type element) {
  if (axes.empty()) {
    return emitCast(builder, loc, element, value);
  }
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t axis : axes) {
    shape[axis] = 1;
  }
  return builder.create<ReduceOp>(
      loc, type.clone(shape, element), value,
      ReductionAttr::get(builder.getContext(), Reduction::Sum),
      builder.getDenseI64ArrayAttr(axes));
}

Value vdnn::emitSumTo(OpBuilder &builder, Location loc, RankedTensorType type,
                      Value value) {
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (type.getDimSize(axis) == 1 && from.getDimSize(axis) != 1) {
      axes.push_back(axis);
    }
  }
  return emitSum(builder, loc, value, axes, type.getElementType());
}
