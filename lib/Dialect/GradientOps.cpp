//===- GradientOps.cpp - what planners ask of the backward ops ------------===//

#include "vdnn/Dialect/Shapes.h"
#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/Builders.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" // generated code

#define GET_OP_CLASSES
#include "vdnn/Dialect/GradientOps.cpp.inc"

using namespace mlir;
using namespace vdnn;

using Pairs = SmallVector<std::pair<unsigned, unsigned>>;

/// Operand `operand` and a result, where they have the same type.
static Pairs inPlace(Operation *op, unsigned operand, unsigned result = 0) {
  if (op->getOperand(operand).getType() == op->getResult(result).getType()) {
    return {{operand, result}};
  }
  return {};
}

// Both gradients of a convolution do as many multiply-adds as the convolution
// itself.
OpClass ConvBackwardDataOp::getOpClass() { return OpClass::Convolution; }
double ConvBackwardDataOp::getFlops() {
  return convFlops(getW().getType(), getDy().getType());
}

OpClass ConvBackwardFilterOp::getOpClass() { return OpClass::Convolution; }
double ConvBackwardFilterOp::getFlops() {
  return convFlops(getDw().getType(), getDy().getType()) +
         (getDbias() ? elements(getDy().getType()) : 0);
}

// With an index one add per gradient; without it every window is searched
// again.
OpClass MaxPoolBackwardOp::getOpClass() { return OpClass::Pool; }
double MaxPoolBackwardOp::getFlops() {
  return elements(getDy().getType()) * (getIndex() ? 1 : product(getKernel()));
}

OpClass AvgPoolBackwardOp::getOpClass() { return OpClass::Pool; }
double AvgPoolBackwardOp::getFlops() {
  return elements(getDy().getType()) * product(getKernel());
}

// Per element: two sums (of dy and of dy times the normalised x) and two
// multiply-adds to combine them; in each of the two passes the normalised value
// (a subtract, a multiply-add) and its comparison for a ReLU. With the output
// at hand: a comparison, a selection, a sum.
OpClass BatchNormBackwardOp::getOpClass() { return OpClass::Norm; }
double BatchNormBackwardOp::getFlops() {
  return (getBias() ? 17 : getY() ? 12 : 9) * elements(getX().getType());
}
Pairs BatchNormBackwardOp::getInPlacePairs() {
  // The masked gradient is written once, while the others are read.
  Pairs pairs = inPlace(*this, 0, getY() ? 3 : 0);
  pairs.append(inPlace(*this, 1));
  if (getAddend()) {
    pairs.append(inPlace(*this, 6, 3));
  }
  return pairs;
}

// Twice the window of the forward op: the scale again, then the sum of its
// gradients.
OpClass LRNBackwardOp::getOpClass() { return OpClass::Norm; }
double LRNBackwardOp::getFlops() {
  return elements(getX().getType()) * (4.0 * getSize() + 8);
}

double SoftmaxBackwardOp::getFlops() { return 4 * elements(getDy().getType()); }
Pairs SoftmaxBackwardOp::getInPlacePairs() { return inPlace(*this, 0); }

OpClass SoftmaxCrossEntropyBackwardOp::getOpClass() { return OpClass::Loss; }
double SoftmaxCrossEntropyBackwardOp::getFlops() {
  return 3 * elements(getLogProb().getType());
}
Pairs SoftmaxCrossEntropyBackwardOp::getInPlacePairs() {
  return inPlace(*this, 1);
}
