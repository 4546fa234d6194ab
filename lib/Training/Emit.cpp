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
  return emitPointwise(builder, loc, type, {},
                       [&](OpBuilder &b, Location l, ValueRange) {
                         return emitScalar(b, l, type.getElementType(), 0);
                       });
}

Value vdnn::emitReshape(OpBuilder &builder, Location loc, RankedTensorType type,
                        Value value) {
  if (value.getType() == type) {
    return value;
  }
  return builder.create<ReshapeOp>(loc, type, value);
}

Value vdnn::emitSum(OpBuilder &builder, Location loc, Value value,
                    ArrayRef<int64_t> axes) {
  if (axes.empty()) {
    return value;
  }
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t axis : axes) {
    shape[axis] = 1;
  }
  return builder.create<ReduceOp>(
      loc, type.clone(shape), value,
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
  return emitSum(builder, loc, value, axes);
}
