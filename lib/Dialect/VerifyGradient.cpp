//===- VerifyGradient.cpp - what the backward ops must hold ---------------===//

#include "Checks.h"

#include <limits>

using namespace mlir;
using namespace vdnn;

LogicalResult ConvBackwardDataOp::verify() {
  return verifyConvolution(*this, {"dx", getDx()}, {"w", getW()},
                           {"dy", getDy()}, getStrides(), getDilations(),
                           getPads(), getGroup());
}

LogicalResult ConvBackwardFilterOp::verify() {
  Named dw{"dw", getDw()};
  VDNN_CHECK(verifyConvolution(*this, {"x", getX()}, dw, {"dy", getDy()},
                               getStrides(), getDilations(), getPads(),
                               getGroup()));
  if (getDbias()) {
    Named dbias{"dbias", getDbias()};
    VDNN_CHECK(expectShape(*this, dbias, dw.shape()[0]));
    VDNN_CHECK(expectSameElementOrF32(*this, dbias, dw));
  }
  return success();
}

LogicalResult MaxPoolBackwardOp::verify() {
  Named dy{"dy", getDy()}, dx{"dx", getDx()};
  VDNN_CHECK(verifyPool(
      *this, {getKernel(), getStrides(), getPads(), getDilations()}, dx, dy));
  if (bool(getIndex()) == bool(getX()) || bool(getX()) != bool(getY())) {
    return emitOpError() << "expected either 'index' or both 'x' and 'y'";
  }
  if (getIndex()) {
    VDNN_CHECK(expectShape(*this, {"index", getIndex()}, dy.shape()));
    return verifyPoolIndex(*this, getKernel());
  }
  VDNN_CHECK(expectAlike(*this, {"x", getX()}, dx));
  return expectAlike(*this, {"y", getY()}, dy);
}

LogicalResult AvgPoolBackwardOp::verify() {
  return verifyPool(*this, {getKernel(), getStrides(), getPads(), {}},
                    {"dx", getDx()}, {"dy", getDy()});
}

LogicalResult BatchNormBackwardOp::verify() {
  Named x{"x", getX()};
  VDNN_CHECK(expectRank(*this, x, 2, 8));
  VDNN_CHECK(expectAlike(*this, {"dy", getDy()}, x));
  VDNN_CHECK(expectAlike(*this, {"dx", getDx()}, x));
  for (Named vector :
       {Named{"scale", getScale()}, Named{"mean", getMean()},
        Named{"inv_std", getInvStd()}, Named{"dscale", getDscale()},
        Named{"dbias", getDbias()}}) {
    VDNN_CHECK(expectShape(*this, vector, x.shape()[1]));
  }
  if (getRelu() != (bool(getBias()) != bool(getY())) ||
      (!getRelu() && getBias())) {
    return emitOpError() << "expected either 'bias' or 'y' with 'relu' and "
                            "only then: they tell where the ReLU let through";
  }
  if (getBias()) {
    VDNN_CHECK(expectShape(*this, {"bias", getBias()}, x.shape()[1]));
  }
  if (bool(getDresidual()) != bool(getY()) || (getAddend() && !getY())) {
    return emitOpError() << "expected a fourth result with 'y' and only then, "
                            "'addend' with 'y' alone";
  }
  for (Named like : {Named{"y", getY()}, Named{"addend", getAddend()},
                     Named{"dresidual", getDresidual()}}) {
    if (like.value) {
      VDNN_CHECK(expectAlike(*this, like, x));
    }
  }
  return expectInRange(*this, "epsilon", getEpsilon().convertToDouble(), 0,
                       std::numeric_limits<double>::infinity());
}

LogicalResult LRNBackwardOp::verify() {
  Named x{"x", getX()};
  VDNN_CHECK(expectRank(*this, x, 3, 8));
  VDNN_CHECK(expectAlike(*this, {"dy", getDy()}, x));
  VDNN_CHECK(expectAlike(*this, {"dx", getDx()}, x));
  return expectInRange(*this, "size", int64_t(getSize()), 1, kMaxWindow);
}

LogicalResult SoftmaxBackwardOp::verify() {
  Named y{"y", getY()};
  VDNN_CHECK(expectAxis(*this, "axis", getAxis(), y));
  VDNN_CHECK(expectAlike(*this, {"dy", getDy()}, y));
  return expectAlike(*this, {"dx", getDx()}, y);
}

LogicalResult SoftmaxCrossEntropyBackwardOp::verify() {
  Named logProb{"log_prob", getLogProb()}, dloss{"dloss", getDloss()};
  VDNN_CHECK(verifyCrossEntropy(*this, logProb, {"labels", getLabels()},
                                {"weights", getWeights()}, dloss,
                                getReduction()));
  VDNN_CHECK(expectSameElement(*this, dloss, logProb));
  return expectAlike(*this, {"dlogits", getDlogits()}, logProb);
}
