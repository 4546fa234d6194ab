//===- Verify.cpp - what the forward ops must hold ------------------------===//

#include "Checks.h"

#include "vdnn/Dialect/VDNN.h"

#include "llvm/ADT/SmallBitVector.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace vdnn;

static constexpr size_t kMaxRank = 8;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===--- linear -----------------------------------------------------------===//

LogicalResult ConvOp::verify() {
  Named x{"x", getX()}, w{"w", getW()}, y{"y", getY()};
  VDNN_CHECK(verifyConvolution(*this, x, w, y, getStrides(), getDilations(),
                               getPads(), getGroup()));
  if (getBias()) {
    Named bias{"bias", getBias()};
    VDNN_CHECK(expectShape(*this, bias, w.shape()[0]));
    VDNN_CHECK(expectSameElementOrF32(*this, bias, x));
  }
  return success();
}

LogicalResult MatMulOp::verify() {
  Named a{"a", getA()}, b{"b", getB()}, y{"y", getY()};
  VDNN_CHECK(expectRank(*this, a, 2, kMaxRank));
  size_t rank = a.shape().size();
  VDNN_CHECK(expectRank(*this, b, rank, rank));
  VDNN_CHECK(expectSameElement(*this, b, a));
  VDNN_CHECK(expectSameElementOrF32(*this, y, a));
  int64_t rows = a.shape()[rank - (getTransposeA() ? 1 : 2)];
  int64_t depth = a.shape()[rank - (getTransposeA() ? 2 : 1)];
  int64_t columns = b.shape()[rank - (getTransposeB() ? 2 : 1)];

  SmallVector<int64_t> expected(a.shape().drop_back(2));
  expected.push_back(getTransposeB() ? columns : depth);
  expected.push_back(getTransposeB() ? depth : columns);
  VDNN_CHECK(expectShape(*this, b, expected));
  expected.truncate(rank - 2);
  expected.append({rows, columns});
  VDNN_CHECK(expectShape(*this, y, expected));
  if (getBias()) {
    Named bias{"bias", getBias()};
    VDNN_CHECK(expectShape(*this, bias, columns));
    VDNN_CHECK(expectSameElement(*this, bias, y));
  }
  return success();
}

//===--- pooling ----------------------------------------------------------===//

LogicalResult MaxPoolOp::verify() {
  Named x{"x", getX()}, y{"y", getY()};
  VDNN_CHECK(verifyPool(
      *this, {getKernel(), getStrides(), getPads(), getDilations()}, x, y));
  if (getIndex()) {
    VDNN_CHECK(expectShape(*this, {"index", getIndex()}, y.shape()));
    VDNN_CHECK(verifyPoolIndex(*this, getKernel()));
  }
  return success();
}

LogicalResult AvgPoolOp::verify() {
  return verifyPool(*this, {getKernel(), getStrides(), getPads(), {}},
                    {"x", getX()}, {"y", getY()});
}

//===--- normalisation ----------------------------------------------------===//

LogicalResult BatchNormOp::verify() {
  Named x{"x", getX()};
  VDNN_CHECK(expectRank(*this, x, 2, kMaxRank));
  VDNN_CHECK(expectAlike(*this, {"y", getY()}, x));
  for (Named vector : {Named{"scale", getScale()}, Named{"bias", getBias()},
                       Named{"running_mean", getRunningMean()},
                       Named{"running_var", getRunningVar()},
                       Named{"mean", getMean()}, Named{"inv_std", getInvStd()},
                       Named{"new_running_mean", getNewRunningMean()},
                       Named{"new_running_var", getNewRunningVar()}}) {
    VDNN_CHECK(expectShape(*this, vector, x.shape()[1]));
  }
  if (getResidual()) {
    VDNN_CHECK(expectAlike(*this, {"residual", getResidual()}, x));
  }
  VDNN_CHECK(expectSameElement(*this, {"new_running_mean", getNewRunningMean()},
                               {"running_mean", getRunningMean()}));
  VDNN_CHECK(expectSameElement(*this, {"new_running_var", getNewRunningVar()},
                               {"running_var", getRunningVar()}));
  VDNN_CHECK(expectInRange(*this, "epsilon", getEpsilon().convertToDouble(), 0,
                           kInfinity));
  return expectInRange(*this, "momentum", getMomentum().convertToDouble(), 0,
                       std::nextafter(1.0, 2.0));
}

LogicalResult BatchNormInferenceOp::verify() {
  Named x{"x", getX()};
  VDNN_CHECK(expectRank(*this, x, 2, kMaxRank));
  VDNN_CHECK(expectAlike(*this, {"y", getY()}, x));
  for (Named vector : {Named{"scale", getScale()}, Named{"bias", getBias()},
                       Named{"mean", getMean()}, Named{"var", getVar()}}) {
    VDNN_CHECK(expectShape(*this, vector, x.shape()[1]));
  }
  return expectInRange(*this, "epsilon", getEpsilon().convertToDouble(), 0,
                       kInfinity);
}

LogicalResult LRNOp::verify() {
  Named x{"x", getX()};
  VDNN_CHECK(expectRank(*this, x, 3, kMaxRank));
  VDNN_CHECK(expectAlike(*this, {"y", getY()}, x));
  return expectInRange(*this, "size", int64_t(getSize()), 1, kMaxWindow);
}

LogicalResult SoftmaxOp::verify() {
  Named x{"x", getX()};
  VDNN_CHECK(expectAxis(*this, "axis", getAxis(), x));
  return expectAlike(*this, {"y", getY()}, x);
}

LogicalResult DropoutOp::verify() {
  VDNN_CHECK(expectAlike(*this, {"y", getY()}, {"x", getX()}));
  VDNN_CHECK(expectShape(*this, {"seed", getSeed()}, {}));
  VDNN_CHECK(expectShape(*this, {"step", getStep()}, {}));
  VDNN_CHECK(expectInRange(*this, "ratio", getRatio().convertToDouble(), 0, 1));
  // Half of Philox's counter.
  return expectInRange(*this, "id", int64_t(getId()), 0,
                       std::numeric_limits<uint32_t>::max());
}

//===--- elementwise and reductions ---------------------------------------===//

LogicalResult PointwiseOp::verify() {
  if (getOutputs().empty()) {
    return emitOpError() << "expected at least one result, found none";
  }
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(getOutputs().front().getType()).getShape();
  for (Value output : getOutputs()) {
    VDNN_CHECK(expectShape(*this, {"outputs", output}, shape));
  }
  SmallVector<Type> inputs;
  for (Value value : getInputs()) {
    Named input{"inputs", value};
    VDNN_CHECK(expectRank(*this, input, shape.size(), shape.size()));
    for (auto [size, whole] : llvm::zip(input.shape(), shape)) {
      if (size != whole && size != 1) {
        return emitOpError()
               << "expected operands whose dimensions are those of the result, "
               << toText(shape) << ", or 1, found " << toText(input.shape());
      }
    }
    inputs.push_back(input.element());
  }
  SmallVector<Type> outputs;
  for (Value output : getOutputs()) {
    outputs.push_back(
        cast<RankedTensorType>(output.getType()).getElementType());
  }
  return verifyProgram(*this, getBody(), inputs, outputs);
}

LogicalResult ReduceOp::verify() {
  Named x{"x", getX()};
  if (getKind() == Reduction::None) {
    return emitOpError()
           << "expected a reduction that combines elements, found 'none'";
  }
  SmallVector<int64_t> expected(x.shape());
  for (int64_t axis : getAxes()) {
    VDNN_CHECK(expectAxis(*this, "axes", axis, x));
  }
  if (!llvm::is_sorted(getAxes(), std::less_equal<>())) {
    return emitOpError()
           << "expected 'axes' in ascending order without repetition";
  }
  for (int64_t axis : getAxes()) {
    expected[axis] = 1;
  }
  Named y{"y", getY()};
  VDNN_CHECK(expectShape(*this, y, expected));
  return expectSameElementOrF32(*this, y, x);
}

//===--- shape ------------------------------------------------------------===//

/// Element count; none if it does not fit.
static std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (llvm::MulOverflow(count, size, count)) {
      return std::nullopt;
    }
  }
  return count;
}

static bool isChannelsLast(Value value) {
  auto layout = dyn_cast_or_null<LayoutAttr>(
      cast<RankedTensorType>(value.getType()).getEncoding());
  return layout && layout.getValue() == Layout::ChannelsLast;
}

LogicalResult ReshapeOp::verify() {
  Named x{"x", getX()}, y{"y", getY()};
  VDNN_CHECK(expectSameElement(*this, y, x));
  std::optional<int64_t> count = countElements(x.shape());
  if (!count || count != countElements(y.shape())) {
    return emitOpError()
           << "expected a result of as many elements as 'x' of shape "
           << toText(x.shape()) << ", found " << toText(y.shape());
  }
  if (isChannelsLast(getX()) || isChannelsLast(getY())) {
    return emitOpError() << "expected row major operand and result, found "
                            "channels last; reorder first";
  }
  return success();
}

LogicalResult ReorderOp::verify() {
  return expectAlike(*this, {"y", getY()}, {"x", getX()});
}

LogicalResult TransposeOp::verify() {
  Named x{"x", getX()}, y{"y", getY()};
  size_t rank = x.shape().size();
  VDNN_CHECK(expectNumbers(*this, "permutation", getPermutation(), rank, 0,
                           std::max<int64_t>(0, int64_t(rank) - 1)));
  llvm::SmallBitVector seen(rank);
  SmallVector<int64_t> expected;
  for (int64_t axis : getPermutation()) {
    if (seen.test(axis)) {
      return emitOpError()
             << "expected each dimension once in 'permutation', found " << axis
             << " twice";
    }
    seen.set(axis);
    expected.push_back(x.shape()[axis]);
  }
  VDNN_CHECK(expectShape(*this, y, expected));
  return expectSameElement(*this, y, x);
}

LogicalResult ConcatOp::verify() {
  Named y{"y", getY()};
  VDNN_CHECK(expectAxis(*this, "axis", getAxis(), y));
  if (getInputs().empty()) {
    return emitOpError() << "expected at least one operand, found none";
  }
  int64_t total = 0;
  for (Value value : getInputs()) {
    Named input{"inputs", value};
    VDNN_CHECK(expectRank(*this, input, y.shape().size(), y.shape().size()));
    SmallVector<int64_t> expected(y.shape());
    expected[getAxis()] = input.shape()[getAxis()];
    VDNN_CHECK(expectShape(*this, input, expected));
    VDNN_CHECK(expectSameElement(*this, input, y));
    if (llvm::AddOverflow(total, expected[getAxis()], total)) {
      return emitOpError()
             << "expected operands whose sizes add up within 63 bits";
    }
  }
  if (total != y.shape()[getAxis()]) {
    return emitOpError() << "expected a result of size " << total
                         << " along axis " << getAxis() << ", found "
                         << y.shape()[getAxis()];
  }
  return success();
}

LogicalResult SliceOp::verify() {
  Named x{"x", getX()}, y{"y", getY()};
  VDNN_CHECK(expectAxis(*this, "axis", getAxis(), x));
  VDNN_CHECK(expectRank(*this, y, x.shape().size(), x.shape().size()));
  SmallVector<int64_t> expected(x.shape());
  expected[getAxis()] = std::min(y.shape()[getAxis()], x.shape()[getAxis()]);
  VDNN_CHECK(expectShape(*this, y, expected));
  VDNN_CHECK(expectSameElement(*this, y, x));
  return expectInRange(*this, "offset", int64_t(getOffset()), 0,
                       x.shape()[getAxis()] - y.shape()[getAxis()]);
}

//===--- loss and update --------------------------------------------------===//

LogicalResult SoftmaxCrossEntropyOp::verify() {
  Named logits{"logits", getLogits()}, loss{"loss", getLoss()},
      logProb{"log_prob", getLogProb()};
  VDNN_CHECK(verifyCrossEntropy(*this, logits, {"labels", getLabels()},
                                {"weights", getWeights()}, loss,
                                getReduction()));
  VDNN_CHECK(expectSameElement(*this, loss, logits));
  return expectAlike(*this, logProb, logits);
}

/// What one update and a group of them have in common.
template <typename Op>
static LogicalResult verifyOptimizer(Op op, bool hasVelocity) {
  VDNN_CHECK(expectShape(op, {"rate", op.getRate()}, {}));
  VDNN_CHECK(expectInRange(op, "momentum", op.getMomentum().convertToDouble(),
                           0, kInfinity));
  VDNN_CHECK(expectInRange(
      op, "weight_decay", op.getWeightDecay().convertToDouble(), 0, kInfinity));
  if (op.getNesterov() && !hasVelocity) {
    return op.emitOpError()
           << "expected a momentum with 'nesterov', found zero";
  }
  return success();
}

/// `velocity` and `copy` may be null.
static LogicalResult verifyUpdate(Operation *op, Named parameter,
                                  Value gradient, Value velocity,
                                  Value newParameter, Value newVelocity,
                                  Value newCopy) {
  VDNN_CHECK(expectShape(op, {"gradient", gradient}, parameter.shape()));
  VDNN_CHECK(expectAlike(op, {"new_parameter", newParameter}, parameter));
  if (newCopy) {
    Named copy{"new_copy", newCopy};
    VDNN_CHECK(expectShape(op, copy, parameter.shape()));
    if (!copy.element().isBF16()) {
      return op->emitOpError() << "expected 'new_copy' with the element type "
                                  "'bf16', found "
                               << copy.element();
    }
  }
  if (velocity) {
    VDNN_CHECK(expectAlike(op, {"velocity", velocity}, parameter));
    VDNN_CHECK(expectAlike(op, {"new_velocity", newVelocity}, parameter));
  }
  return success();
}

LogicalResult SGDOp::verify() {
  bool hasMomentum = !getMomentum().isZero();
  if (hasMomentum != bool(getVelocity()) ||
      (hasMomentum && !getNewVelocity())) {
    return emitOpError() << "expected a velocity and its new value if and only "
                            "if 'momentum' is not zero, found "
                         << (getVelocity() ? "a" : "no") << " velocity and "
                         << (getNewVelocity() ? "a" : "no") << " new value";
  }
  if (getOthers().size() > (hasMomentum ? 2 : 1)) {
    return emitOpError() << "expected at most a new velocity, with a momentum, "
                            "and a bf16 copy beside the new parameter, found "
                         << getOthers().size() << " results";
  }
  VDNN_CHECK(verifyOptimizer(*this, hasMomentum));
  return verifyUpdate(*this, {"parameter", getParameter()}, getGradient(),
                      getVelocity(), getNewParameter(), getNewVelocity(),
                      getNewCopy());
}

LogicalResult SGDGroupOp::verify() {
  size_t count = getParameters().size();
  bool hasMomentum = !getMomentum().isZero();
  if (count == 0 || count > kMaxParameters) {
    return emitOpError() << "expected 1 to " << kMaxParameters
                         << " parameters, found " << count;
  }
  if (getGradients().size() != count ||
      getVelocities().size() != (hasMomentum ? count : 0)) {
    return emitOpError() << "expected a gradient and, if and only if "
                            "'momentum' is not zero, a velocity for each of "
                         << count << " parameters, found "
                         << getGradients().size() << " gradients and "
                         << getVelocities().size() << " velocities";
  }
  size_t values = (hasMomentum ? 2 : 1) * count;
  bool hasCopies = getNewValues().size() == values + count;
  if (getNewValues().size() != values && !hasCopies) {
    return emitOpError() << "expected " << values << " new values, or "
                         << values + count << " with bf16 copies, found "
                         << getNewValues().size();
  }
  VDNN_CHECK(verifyOptimizer(*this, hasMomentum));
  for (size_t i = 0; i < count; ++i) {
    VDNN_CHECK(expectSameElement(*this, {"gradient", getGradients()[i]},
                                 {"gradient", getGradients()[0]}));
    VDNN_CHECK(verifyUpdate(
        *this, {"parameter", getParameters()[i]}, getGradients()[i],
        hasMomentum ? getVelocities()[i] : Value(), getNewValues()[i],
        hasMomentum ? getNewValues()[count + i] : Value(),
        hasCopies ? getNewValues()[values + i] : Value()));
  }
  return success();
}
