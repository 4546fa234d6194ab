//===- Loss.cpp - losses against class indices
//------------------------------===//

#include "Table.h"

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

static LogicalResult buildNegativeLogLikelihood(const Node &node) {
  FailureOr<Loss> loss = readLoss(node);
  FailureOr<Value> scores = failed(loss) ? FailureOr<Value>() : node.value(0);
  if (failed(scores)) {
    return failure();
  }
  // On the logarithm of a softmax it is the cross entropy of its operand.
  auto softmax = scores->getDefiningOp<SoftmaxOp>();
  if (!softmax || !softmax.getLog() || softmax.getAxis() != 1) {
    return node.unsupported("an operand that is no LogSoftmax over dimension 1",
                            "LogSoftmax followed by this op");
  }
  return build(node, *loss, softmax.getX());
}

ArrayRef<Entry> vdnn::onnx::lossEntries() {
  static constexpr Entry entries[] = {
      {"SoftmaxCrossEntropyLoss", 12, 23, buildSoftmaxCrossEntropy},
      {"NegativeLogLikelihoodLoss", 12, 23, buildNegativeLogLikelihood}};
  return entries;
}
