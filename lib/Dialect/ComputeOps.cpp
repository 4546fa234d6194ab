//===- ComputeOps.cpp - what planners ask of the forward ops --------------===//

#include "vdnn/Dialect/Shapes.h"
#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/Builders.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" // generated code

#define GET_OP_CLASSES
#include "vdnn/Dialect/ComputeOps.cpp.inc"

using namespace mlir;
using namespace vdnn;

using Pairs = SmallVector<std::pair<unsigned, unsigned>>;

/// This operand and result, where they have the same type.
static Pairs pairOf(Operation *op, unsigned operand, unsigned result) {
  if (op->getOperand(operand).getType() == op->getResult(result).getType()) {
    return {{operand, result}};
  }
  return {};
}

//===--- linear -----------------------------------------------------------===//

OpClass ConvOp::getOpClass() { return OpClass::Convolution; }
double ConvOp::getFlops() {
  return convFlops(getW().getType(), getY().getType()) +
         (getBias() ? elements(getY().getType()) : 0);
}

OpClass MatMulOp::getOpClass() { return OpClass::FullyConnected; }
double MatMulOp::getFlops() {
  ArrayRef<int64_t> a = cast<ShapedType>(getA().getType()).getShape();
  double depth = a[a.size() - (getTransposeA() ? 2 : 1)];
  return elements(getY().getType()) * (2 * depth + (getBias() ? 1 : 0));
}

//===--- pooling ----------------------------------------------------------===//

OpClass MaxPoolOp::getOpClass() { return OpClass::Pool; }
double MaxPoolOp::getFlops() {
  return elements(getY().getType()) * product(getKernel());
}

OpClass AvgPoolOp::getOpClass() { return OpClass::Pool; }
double AvgPoolOp::getFlops() {
  return elements(getY().getType()) * product(getKernel());
}

//===--- normalisation ----------------------------------------------------===//

// Per element: one add for the mean, a subtract, a multiply and an add for the
// variance, a multiply-add to apply; an add of the residual and a maximum.
OpClass BatchNormOp::getOpClass() { return OpClass::Norm; }
double BatchNormOp::getFlops() {
  return (6 + (getResidual() ? 1 : 0) + (getRelu() ? 1 : 0)) *
         elements(getX().getType());
}

// The running statistics become their new values, and the sum may take the
// place of the residual.
Pairs BatchNormOp::getInPlacePairs() {
  Pairs pairs = pairOf(*this, 3, 3);
  pairs.append(pairOf(*this, 4, 4));
  if (getResidual()) {
    pairs.append(pairOf(*this, 5, 0));
  }
  return pairs;
}

OpClass BatchNormInferenceOp::getOpClass() { return OpClass::Norm; }
double BatchNormInferenceOp::getFlops() {
  return 2 * elements(getX().getType());
}
Pairs BatchNormInferenceOp::getInPlacePairs() { return pairOf(*this, 0, 0); }

// Per element: `size` multiply-adds, a power (one operation), a multiply-add
// and a division.
OpClass LRNOp::getOpClass() { return OpClass::Norm; }
double LRNOp::getFlops() {
  return elements(getX().getType()) * (2.0 * getSize() + 4);
}

// Per element: maximum, subtract, exponential, sum, division.
double SoftmaxOp::getFlops() { return 5 * elements(getX().getType()); }
Pairs SoftmaxOp::getInPlacePairs() { return pairOf(*this, 0, 0); }

// Only the scaling is floating point; the ten rounds of Philox per four
// elements are integer work.
OpClass DropoutOp::getOpClass() { return OpClass::Dropout; }
double DropoutOp::getFlops() { return elements(getX().getType()); }
Pairs DropoutOp::getInPlacePairs() { return pairOf(*this, 0, 0); }

//===--- elementwise ------------------------------------------------------===//

// A function of one tensor (the other operands are broadcast) is an activation;
// sums and products of tensors are not.
OpClass PointwiseOp::getOpClass() {
  if (getOutputs().empty()) {
    return OpClass::Other;
  }
  ArrayRef<int64_t> shape =
      cast<ShapedType>(getOutputs().front().getType()).getShape();
  int64_t whole = llvm::count_if(getInputs(), [&](Value input) {
    return cast<ShapedType>(input.getType()).getShape() == shape;
  });
  return whole == 1 ? OpClass::Activation : OpClass::Other;
}

double PointwiseOp::getFlops() {
  if (getOutputs().empty()) {
    return 0;
  }
  double instructions = 0;
  for (Operation &op : getBody().front().without_terminator()) {
    instructions += op.getNumOperands() != 0;
  }
  return instructions * elements(getOutputs().front().getType());
}

// The program reads an element of every operand before it writes one: any
// operand of a result's type will do.
Pairs PointwiseOp::getInPlacePairs() {
  Pairs pairs;
  for (auto [operand, input] : llvm::enumerate(getInputs())) {
    for (auto [result, output] : llvm::enumerate(getOutputs())) {
      if (input.getType() == output.getType()) {
        pairs.push_back({unsigned(operand), unsigned(result)});
      }
    }
  }
  return pairs;
}

double ReduceOp::getFlops() {
  return elements(getX().getType()) *
         (getKind() == Reduction::SumSquare ? 2 : 1);
}

//===--- shape ------------------------------------------------------------===//

bool ReshapeOp::isView() { return true; }

//===--- loss and update --------------------------------------------------===//

// The log-softmax of every logit; picking the labels' costs nothing beside it.
OpClass SoftmaxCrossEntropyOp::getOpClass() { return OpClass::Loss; }
double SoftmaxCrossEntropyOp::getFlops() {
  return 5 * elements(getLogits().getType());
}

Pairs SoftmaxCrossEntropyOp::getInPlacePairs() { return pairOf(*this, 0, 1); }

OpClass SGDOp::getOpClass() { return OpClass::Update; }
double SGDOp::getFlops() {
  return elements(getParameter().getType()) * (getVelocity() ? 6 : 4);
}
Pairs SGDOp::getInPlacePairs() {
  Pairs pairs = pairOf(*this, 0, 0);
  if (getVelocity()) {
    pairs.append(pairOf(*this, 3, 1));
  }
  return pairs;
}

OpClass SGDGroupOp::getOpClass() { return OpClass::Update; }
double SGDGroupOp::getFlops() {
  double sum = 0;
  for (Value parameter : getParameters()) {
    sum += elements(parameter.getType()) * (getVelocities().empty() ? 4 : 6);
  }
  return sum;
}
Pairs SGDGroupOp::getInPlacePairs() {
  Pairs pairs;
  unsigned count = getParameters().size();
  for (unsigned i = 0; i < count; ++i) {
    pairs.append(pairOf(*this, 1 + i, i));
    if (!getVelocities().empty()) {
      pairs.append(pairOf(*this, 1 + 2 * count + i, count + i));
    }
  }
  return pairs;
}
