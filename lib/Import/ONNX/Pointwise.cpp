//===- Pointwise.cpp - elementwise ops as vdnn.pointwise ------------------===//

#include "Pointwise.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Scalar::constant(Type type, double value) const {
  TypedAttr attribute = isa<FloatType>(type)
                            ? TypedAttr(builder.getFloatAttr(type, value))
                            : builder.getIntegerAttr(type, int64_t(value));
  return builder.create<arith::ConstantOp>(loc, attribute);
}

Value Scalar::compare(arith::CmpFPredicate predicate, Value a, Value b) const {
  return builder.create<arith::CmpFOp>(loc, predicate, a, b);
}

Value Scalar::compare(arith::CmpIPredicate predicate, Value a, Value b) const {
  return builder.create<arith::CmpIOp>(loc, predicate, a, b);
}

Value Scalar::select(Value condition, Value a, Value b) const {
  return builder.create<arith::SelectOp>(loc, condition, a, b);
}

Value Scalar::convert(Value x, Type from, Type to) const {
  bool fromFloat = isa<FloatType>(from);
  // A boolean is 0 or 1.
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  Type target = toScalarType(to);
  unsigned fromWidth = x.getType().getIntOrFloatBitWidth();
  unsigned toWidth = target.getIntOrFloatBitWidth();
  if (from == to || (fromFloat && x.getType() == target)) {
    return x;
  }
  if (to.isInteger(1)) {
    Value zero = constant(x.getType(), 0);
    return fromFloat ? compare(arith::CmpFPredicate::UNE, x, zero)
                     : compare(arith::CmpIPredicate::ne, x, zero);
  }
  if (isa<FloatType>(to)) {
    if (!fromFloat) {
      return isUnsigned ? Value(builder.create<arith::UIToFPOp>(loc, target, x))
                        : builder.create<arith::SIToFPOp>(loc, target, x);
    }
    return fromWidth < toWidth
               ? Value(builder.create<arith::ExtFOp>(loc, target, x))
               : builder.create<arith::TruncFOp>(loc, target, x);
  }
  if (fromFloat) {
    return to.isUnsignedInteger()
               ? Value(builder.create<arith::FPToUIOp>(loc, target, x))
               : builder.create<arith::FPToSIOp>(loc, target, x);
  }
  if (fromWidth == toWidth) {
    return x;
  }
  if (fromWidth > toWidth) {
    return builder.create<arith::TruncIOp>(loc, target, x);
  }
  return isUnsigned ? Value(builder.create<arith::ExtUIOp>(loc, target, x))
                    : builder.create<arith::ExtSIOp>(loc, target, x);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Operand vdnn::onnx::toOperand(Value value) {
  return {value, {}, Shape(shapeOf(value)), elementOf(value)};
}

FailureOr<Operand> vdnn::onnx::readOperand(const Node &node, size_t i) {
  const Tensor &tensor = node.in(i);
  if (tensor.constant && tensor.constant->isUniform()) {
    Attribute number =
        tensor.constant->isFloat()
            ? Attribute(FloatAttr::get(toScalarType(tensor.element),
                                       tensor.constant->number(0)))
            : IntegerAttr::get(toScalarType(tensor.element),
                               tensor.constant->integer(0));
    return Operand{{}, number, tensor.shape, tensor.element};
  }
  FailureOr<Value> value = node.value(i);
  return failed(value) ? FailureOr<Operand>(failure()) : toOperand(*value);
}

FailureOr<SmallVector<Operand>> vdnn::onnx::readOperands(const Node &node) {
  SmallVector<Operand> operands;
  for (size_t i = 0; i < node.inputs(); ++i) {
    if (!node.has(i)) {
      return node.error() << "input " << i << " is left out, but is required";
    }
    if (node.in(i).element != node.in(0).element) {
      return node.error() << "has operands of different element types";
    }
    FailureOr<Operand> operand = readOperand(node, i);
    if (failed(operand)) {
      return failure();
    }
    operands.push_back(*operand);
  }
  return operands;
}

LogicalResult vdnn::onnx::checkArithmetic(const Node &node, Type element,
                                          bool floatOnly) {
  if (isa<FloatType>(element) ||
      (!floatOnly && isa<IntegerType>(element) && !element.isInteger(1))) {
    return success();
  }
  auto diagnostic = node.error() << "elements of type " << element
                                 << " are not supported; accepted: f16, bf16, "
                                    "f32, f64";
  if (!floatOnly) {
    diagnostic << ", i8, i16, i32, i64, ui8, ui16, ui32, ui64";
  }
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// The element type of a result whose scalars have the type `scalar`: where
/// operands are bf16, whose scalars are f32, so is the result.
static Type getResultElement(ArrayRef<Operand> operands, Type scalar) {
  for (const Operand &operand : operands) {
    if (operand.element.isBF16() && scalar.isF32()) {
      return operand.element;
    }
  }
  return scalar;
}

FailureOr<Value> vdnn::onnx::pointwise(const Node &node,
                                       ArrayRef<Operand> operands, Body body,
                                       ArrayRef<int64_t> shape, Type element) {
  Shape result(shape);
  for (const Operand &operand : operands) {
    std::optional<Shape> joined = broadcastShapes(result, operand.shape);
    if (!joined) {
      return node.error() << "has operands whose shapes do not broadcast";
    }
    result = *joined;
  }
  if (!countElements(result)) {
    return node.error() << "its result has too many elements";
  }
  OpBuilder &builder = node.builder();
  SmallVector<Value> inputs;
  SmallVector<int64_t> positions; ///< of each operand in inputs, or -1
  for (const Operand &operand : operands) {
    if (!operand.value) {
      positions.push_back(-1);
      continue;
    }
    Shape full(result.size() - operand.shape.size(), 1);
    full.append(operand.shape);
    Value value = node.reshape(operand.value, full);
    auto *found = llvm::find(inputs, value);
    positions.push_back(found - inputs.begin());
    if (found == inputs.end()) {
      inputs.push_back(value);
    }
  }
  if (inputs.empty()) {
    // Numbers alone: one of them stands for the step's memory.
    HostTensor one = HostTensor::ofNumbers(builder.getF32Type(),
                                           Shape(result.size(), 1), {0});
    inputs.push_back(node.constantOp(one));
  }
  // The element type of the result is known once the body is built.
  Block block;
  for (Value input : inputs) {
    block.addArgument(toScalarType(elementOf(input)), node.loc());
  }
  OpBuilder inner(builder.getContext()); // the block belongs to no op yet
  inner.setInsertionPointToEnd(&block);
  SmallVector<Value> scalars;
  for (auto [operand, position] : llvm::zip(operands, positions)) {
    scalars.push_back(position >= 0
                          ? Value(block.getArgument(unsigned(position)))
                          : inner.create<arith::ConstantOp>(
                                node.loc(), cast<TypedAttr>(operand.number)));
  }
  Value yielded = body(Scalar{inner, node.loc(), node}, scalars);
  inner.create<YieldOp>(node.loc(), yielded);
  if (!element) {
    element = getResultElement(operands, yielded.getType());
  }
  auto type = RankedTensorType::get(result, element);
  auto op = builder.create<PointwiseOp>(node.loc(), TypeRange(type), inputs);
  Block &target = op.getBody().emplaceBlock();
  target.getOperations().splice(target.end(), block.getOperations());
  for (BlockArgument argument : block.getArguments()) {
    argument.replaceAllUsesWith(
        target.addArgument(argument.getType(), node.loc()));
  }
  // Numbers that the body did not need.
  for (Operation &scalar : llvm::make_early_inc_range(llvm::reverse(target))) {
    if (scalar.use_empty() && !isa<YieldOp>(scalar)) {
      scalar.erase();
    }
  }
  return op.getResult(0);
}
