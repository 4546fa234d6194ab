//===- ScalarProgram.cpp - reverse mode inside a region -------------------===//

#include "ScalarProgram.h"
#include "Emit.h"

#include "vdnn/Dialect/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace vdnn;

ScalarProgram::ScalarProgram(PointwiseOp forward, Source source)
    : builder(forward.getContext()), loc(forward.getLoc()), forward(forward),
      source(source), block(new Block) {
  region.push_back(block);
  builder.setInsertionPointToEnd(block);
}

Value ScalarProgram::read(Value tensor, bool isForward) {
  if (isForward) {
    forwardOperands.insert(tensor);
  }
  Value &argument = arguments[tensor];
  if (!argument) {
    operands.push_back(tensor);
    argument = block->addArgument(
        toScalarType(getElementTypeOrSelf(tensor.getType())), loc);
  }
  return argument;
}

Value ScalarProgram::constant(Type type, double value) {
  Value &cached = constants[{type, llvm::bit_cast<uint64_t>(value)}];
  if (!cached) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    cached = emitScalar(builder, loc, type, value);
  }
  return cached;
}

Value ScalarProgram::forwardValue(Value scalar) {
  if (Value known = values.lookup(scalar)) {
    return known;
  }
  Value value;
  Operation *yield = forward.getBody().front().getTerminator();
  auto yielded = llvm::find(yield->getOperands(), scalar);
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    value = read(forward.getInputs()[argument.getArgNumber()], true);
  } else if (source == Source::Outputs &&
             yielded != yield->getOperands().end()) {
    value = read(
        forward
            .getOutputs()[std::distance(yield->getOperands().begin(), yielded)],
        true);
  } else {
    IRMapping mapping;
    for (Value operand : scalar.getDefiningOp()->getOperands()) {
      mapping.map(operand, forwardValue(operand));
    }
    value = builder.clone(*scalar.getDefiningOp(), mapping)->getResult(0);
  }
  values[scalar] = value;
  return value;
}

void ScalarProgram::add(Value scalar, Value gradient) {
  if (!isWanted(scalar)) {
    return;
  }
  Value &sum = adjoints[scalar];
  sum = sum ? builder.create<arith::AddFOp>(loc, sum, gradient) : gradient;
}

LogicalResult ScalarProgram::differentiate(ValueRange gradients,
                                           ArrayRef<bool> wanted) {
  Block &body = forward.getBody().front();
  for (auto [argument, isWantedInput] :
       llvm::zip(body.getArguments(), wanted)) {
    if (isWantedInput) {
      wantedScalars.insert(argument);
    }
  }
  for (Operation &op : body.without_terminator()) {
    bool reached = llvm::any_of(
        op.getOperands(), [&](Value operand) { return isWanted(operand); });
    if (reached && isa<FloatType>(op.getResult(0).getType())) {
      wantedScalars.insert(op.getResult(0));
    }
  }
  for (auto [scalar, gradient] :
       llvm::zip(body.getTerminator()->getOperands(), gradients)) {
    if (gradient && isWanted(scalar)) {
      add(scalar, read(gradient, false));
    }
  }
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    Value gradient = adjoints.lookup(op.getResult(0));
    if (gradient && failed(addScalarDerivative(&op, gradient, *this))) {
      return failure();
    }
  }
  return success();
}

double ScalarProgram::bytesRead() const {
  double bytes = 0;
  for (Value tensor : forwardOperands) {
    bytes += double(tensorBytes(cast<RankedTensorType>(tensor.getType())));
  }
  return bytes;
}

/// The element type of the gradient of `input` before it is summed up to the
/// input's shape: the input's own; where there is something to sum up, that of
/// the result, which is written and read as often as it.
static Type getGradientElement(Type input, RankedTensorType full,
                               Type adjoint) {
  auto type = cast<RankedTensorType>(input);
  bool sums = type.getShape() != full.getShape() &&
              toScalarType(full.getElementType()) == adjoint;
  return sums ? full.getElementType() : type.getElementType();
}

SmallVector<Value> ScalarProgram::emit(OpBuilder &at) {
  auto full = cast<RankedTensorType>(forward.getOutputs().front().getType());
  SmallVector<Value> gradients;
  // Per input: which result of the program it takes.
  SmallVector<std::pair<unsigned, unsigned>> taken;
  SmallVector<std::pair<Value, Type>> results;
  for (BlockArgument input : forward.getBody().getArguments()) {
    gradients.push_back(Value());
    Value adjoint = adjoints.lookup(input);
    if (!adjoint) {
      continue;
    }
    Type type = full.clone(
        getGradientElement(forward.getInputs()[input.getArgNumber()].getType(),
                           full, adjoint.getType()));
    if (auto argument = dyn_cast<BlockArgument>(adjoint)) {
      Value tensor = operands[argument.getArgNumber()];
      if (tensor.getType() == type) {
        gradients.back() = tensor;
        continue;
      }
    }
    std::pair<Value, Type> result(adjoint, type);
    auto *known = llvm::find(results, result);
    taken.push_back({unsigned(gradients.size() - 1),
                     unsigned(std::distance(results.begin(), known))});
    if (known == results.end()) {
      results.push_back(result);
    }
  }
  if (results.empty()) {
    return gradients;
  }
  SmallVector<Value> yielded(llvm::make_first_range(results));
  SmallVector<Type> types(llvm::make_second_range(results));
  builder.create<YieldOp>(loc, yielded);
  auto op = at.create<PointwiseOp>(loc, types, operands);
  op.getBody().takeBody(region);
  for (auto [input, result] : taken) {
    gradients[input] = op.getOutputs()[result];
  }
  return gradients;
}
