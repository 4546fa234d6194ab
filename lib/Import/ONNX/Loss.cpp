//===- Loss.cpp - losses against class indices ----------------------------===//

#include "Pointwise.h"
#include "Table.h"

#include "llvm/ADT/Sequence.h"

#include <numeric>

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

namespace {
struct Loss {
  Reduction reduction;
  IntegerAttr ignored;
  Shape shape; ///< of the loss
};
} // namespace

/// Checks the operands: scores N x C x d..., labels N x d..., weights C.
static FailureOr<Loss> readLoss(const Node &node) {
  if (failed(node.checkInputs(2, 3))) {
    return failure();
  }
  ArrayRef<int64_t> scores = node.in(0).shape;
  Type labels = node.in(1).element;
  if (!node.in(0).isFloat() || scores.size() < 2 ||
      !(labels.isInteger(32) || labels.isInteger(64))) {
    return node.error() << "scores of floating point and at least rank 2, and "
                           "labels of type i32 or i64, are expected";
  }
  Shape expected = {scores[0]};
  llvm::append_range(expected, scores.drop_front(2));
  if (node.in(1).shape != expected ||
      (node.has(2) && (node.in(2).shape != Shape{scores[1]} ||
                       node.in(2).element != node.in(0).element))) {
    return node.error() << "its labels must have the scores' shape without the "
                           "second dimension, and its weights the size of that";
  }
  std::string text = node.text("reduction", "mean");
  Loss loss;
  if (text == "mean") {
    loss.reduction = Reduction::Mean;
  } else if (text == "sum") {
    loss.reduction = Reduction::Sum;
  } else if (text == "none") {
    loss.reduction = Reduction::None;
    loss.shape = expected;
  } else {
    return node.unsupported("reduction '" + text + "'", "mean, sum, none");
  }
  if (node.attribute("ignore_index")) {
    loss.ignored =
        node.builder().getI64IntegerAttr(node.integer("ignore_index", 0));
  }
  return loss;
}

static LogicalResult build(const Node &node, const Loss &loss, Value scores) {
  FailureOr<Value> labels = node.value(1);
  FailureOr<Value> weights = Value();
  if (node.has(2)) {
    // The weights of the classes are chosen, not trained.
    weights = node.state(2, Start::ones());
  }
  if (failed(labels) || failed(weights)) {
    return failure();
  }
  auto op = node.builder().create<SoftmaxCrossEntropyOp>(
      node.loc(), RankedTensorType::get(loss.shape, elementOf(scores)),
      scores.getType(), scores, *labels, *weights, loss.reduction,
      loss.ignored);
  StringRef second =
      node.op() == "SoftmaxCrossEntropyLoss" ? node.outputName(1) : StringRef();
  std::string logName = second.empty()
                            ? node.getImporter().uniqueName(
                                  (node.outputName(0) + ".log_prob").str())
                            : second.str();
  op->setAttr("vdnn.names", node.builder().getStrArrayAttr(
                                {node.outputName(0), StringRef(logName)}));
  if (failed(node.set(0, op.getLoss()))) {
    return failure();
  }
  return second.empty() ? success() : node.set(1, op.getLogProb());
}

static LogicalResult buildSoftmaxCrossEntropy(const Node &node) {
  FailureOr<Loss> loss = readLoss(node);
  FailureOr<Value> scores = failed(loss) ? FailureOr<Value>() : node.value(0);
  return failed(scores) ? failure() : build(node, *loss, *scores);
}

//===----------------------------------------------------------------------===//
// NegativeLogLikelihoodLoss
//===----------------------------------------------------------------------===//

/// Sum over axes, which stay with size 1.
static Value sum(const Node &node, Value x, ArrayRef<int64_t> axes) {
  Shape shape(shapeOf(x));
  for (int64_t axis : axes) {
    shape[axis] = 1;
  }
  return node.builder().create<ReduceOp>(
      node.loc(), RankedTensorType::get(shape, elementOf(x)), x, Reduction::Sum,
      axes);
}

/// Without the softmax, by elementwise ops: of all classes those whose number
/// is the label count. Their gradients are those of the loss.
static LogicalResult buildByClasses(const Node &node, const Loss &loss,
                                    Value scores) {
  FailureOr<Value> labels = node.value(1);
  FailureOr<Value> weights = Value();
  if (node.has(2)) {
    weights = node.state(2, Start::ones());
  }
  if (failed(labels) || failed(weights)) {
    return failure();
  }
  ArrayRef<int64_t> shape = shapeOf(scores);
  int64_t classes = shape[1];
  if (failed(node.getImporter().chargeFolding(node, classes))) {
    return failure();
  }
  Shape perClass(shape.size(), 1);
  perClass[1] = classes;
  Shape perSample(shape);
  perSample[1] = 1;
  Type label = elementOf(*labels);
  std::vector<int64_t> numbers(classes);
  std::iota(numbers.begin(), numbers.end(), 0);
  HostTensor table =
      HostTensor::ofIntegers(label, perClass, std::move(numbers));
  SmallVector<Operand> operands = {toOperand(node.reshape(*labels, perSample)),
                                   toOperand(node.constantOp(table))};
  if (*weights) {
    operands.push_back(toOperand(node.reshape(*weights, perClass)));
  }
  // The weight of a sample's class; 0 of the other classes. A label that is no
  // class makes the loss no number.
  auto weigh = [&](const Scalar &s, ArrayRef<Value> v) -> Value {
    using P = arith::CmpIPredicate;
    Type real = toScalarType(elementOf(scores));
    Value zero = s.constant(real, 0);
    Value one = *weights ? v[2] : s.constant(real, 1);
    Value weight = s.select(s.compare(P::eq, v[0], v[1]), one, zero);
    Value isClass = s.make<arith::AndIOp>(
        s.compare(P::sge, v[0], s.constant(label, 0)),
        s.compare(P::slt, v[0], s.constant(label, double(classes))));
    weight =
        s.select(isClass, weight,
                 s.constant(real, std::numeric_limits<double>::quiet_NaN()));
    if (!loss.ignored) {
      return weight;
    }
    Value ignored = s.builder.create<arith::ConstantOp>(
        s.loc, IntegerAttr::get(label, loss.ignored.getInt()));
    return s.select(s.compare(P::eq, v[0], ignored), zero, weight);
  };
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(shape.size())));
  FailureOr<Value> weight = pointwise(node, operands, weigh, shape);
  if (failed(weight)) {
    return failure();
  }
  FailureOr<Value> terms = pointwise(
      node, {toOperand(*weight), toOperand(scores)},
      [](const Scalar &s, ArrayRef<Value> v) {
        // A score may be infinite where its weight is 0.
        Value zero = s.constant(v[0].getType(), 0);
        Value isZero = s.compare(arith::CmpFPredicate::OEQ, v[0], zero);
        Value term = s.make<arith::MulFOp>(s.make<arith::NegFOp>(v[0]), v[1]);
        return s.select(isZero, zero, term);
      });
  if (failed(terms)) {
    return failure();
  }
  Value result;
  if (loss.reduction == Reduction::None) {
    result = sum(node, *terms, {1});
  } else {
    result = sum(node, *terms, all);
  }
  if (loss.reduction == Reduction::Mean) {
    FailureOr<Value> mean =
        pointwise(node, {toOperand(result), toOperand(sum(node, *weight, all))},
                  [](const Scalar &s, ArrayRef<Value> v) {
                    return s.make<arith::DivFOp>(v[0], v[1]);
                  });
    if (failed(mean)) {
      return failure();
    }
    result = *mean;
  }
  return node.set(0, node.reshape(result, loss.shape));
}

static LogicalResult buildNegativeLogLikelihood(const Node &node) {
  FailureOr<Loss> loss = readLoss(node);
  FailureOr<Value> scores = failed(loss) ? FailureOr<Value>() : node.value(0);
  if (failed(scores)) {
    return failure();
  }
  // On the logarithm of a softmax it is the cross entropy of its operand.
  auto softmax = scores->getDefiningOp<SoftmaxOp>();
  if (!softmax || !softmax.getLog() || softmax.getAxis() != 1) {
    return buildByClasses(node, *loss, *scores);
  }
  return build(node, *loss, softmax.getX());
}

ArrayRef<Entry> vdnn::onnx::lossEntries() {
  static constexpr Entry entries[] = {
      {"SoftmaxCrossEntropyLoss", 12, 23, buildSoftmaxCrossEntropy},
      {"NegativeLogLikelihoodLoss", 12, 23, buildNegativeLogLikelihood}};
  return entries;
}
