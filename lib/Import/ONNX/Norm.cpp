//===- Norm.cpp - normalisation, softmax and dropout ----------------------===//

#include "Pointwise.h"
#include "Table.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

//===----------------------------------------------------------------------===//
// BatchNormalization
//===----------------------------------------------------------------------===//

/// The node was exported to normalise by its batch.
static bool isTrainingMode(const Node &node) {
  if (node.opset() >= 14) {
    return node.integer("training_mode", 0) != 0;
  }
  return node.outputs() > 1 && !node.outputName(1).empty();
}

static LogicalResult buildTrained(const Node &node, ArrayRef<Value> v,
                                  double epsilon) {
  Importer &importer = node.getImporter();
  if (!isa<BlockArgument>(v[3]) || !isa<BlockArgument>(v[4]) ||
      !node.in(3).weight || !node.in(4).weight) {
    return node.error() << "its running statistics are computed or given as "
                           "inputs, and cannot be trained; initializers, or "
                           "--bn=frozen, are expected";
  }
  bool asExported = isTrainingMode(node);
  Type x = v[0].getType();
  Type vector = v[1].getType();
  // An export in inference mode says nothing of how the running variance is
  // kept: PyTorch, where such exports come from, keeps the unbiased one.
  auto norm = node.builder().create<BatchNormOp>(
      node.loc(), x, vector, vector, vector, vector, v[0], v[1], v[2], v[3],
      v[4], /*residual=*/Value(), llvm::APFloat(epsilon),
      llvm::APFloat(node.number("momentum", 0.9)),
      /*unbiased_running_var=*/node.opset() < 14 || !asExported);
  node.nameResults(norm, node.outputName(0),
                   {"mean", "inv_std", "running_mean", "running_var"});
  importer.addUpdate(v[3], norm.getNewRunningMean());
  importer.addUpdate(v[4], norm.getNewRunningVar());
  importer.counts.inferenceBatchNorms += !asExported;
  if (failed(node.set(0, norm.getY())) ||
      failed(node.set(1, norm.getNewRunningMean()))) {
    return failure();
  }
  return node.set(2, norm.getNewRunningVar());
}

/// Without a loss a model is not trained and normalises by its running
/// statistics, unless somebody reads the new ones.
static bool readsNewStatistics(const Node &node) {
  return isTrainingMode(node) && (node.isUsed(1) || node.isUsed(2));
}

static LogicalResult buildByBatch(const Node &node, ArrayRef<Value> v,
                                  double epsilon) {
  Type vector = v[1].getType();
  auto norm = node.builder().create<BatchNormOp>(
      node.loc(), v[0].getType(), vector, vector, vector, vector, v[0], v[1],
      v[2], v[3], v[4], /*residual=*/Value(), llvm::APFloat(epsilon),
      llvm::APFloat(node.number("momentum", 0.9)),
      /*unbiased_running_var=*/false);
  node.nameResults(norm, node.outputName(0),
                   {"mean", "inv_std", "running_mean", "running_var"});
  if (failed(node.set(0, norm.getY())) ||
      failed(node.set(1, norm.getNewRunningMean()))) {
    return failure();
  }
  return node.set(2, norm.getNewRunningVar());
}

static LogicalResult buildBatchNormalization(const Node &node) {
  if (failed(node.checkInputs(5, 5)) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  const Shape &shape = node.in(0).shape;
  if (shape.size() < 2) {
    return node.unsupported("an input of rank " + Twine(shape.size()),
                            "N x C x ...");
  }
  if (node.opset() < 9 && node.integer("spatial", 1) == 0) {
    return node.unsupported("spatial=0", "statistics per channel");
  }
  for (size_t i = 1; i < 5; ++i) {
    if (node.in(i).shape != Shape{shape[1]} ||
        node.in(i).element != node.in(0).element) {
      return node.error() << "'" << node.inputName(i)
                          << "' must be a vector of " << shape[1]
                          << " elements of its input's type";
    }
  }
  FailureOr<Value> operands[] = {
      node.value(0), node.parameter(1, Start::ones()),
      node.parameter(2, Start::zeros()), node.state(3, Start::zeros()),
      node.state(4, Start::ones())};
  SmallVector<Value, 5> v;
  for (const FailureOr<Value> &operand : operands) {
    if (failed(operand)) {
      return failure();
    }
    v.push_back(*operand);
  }
  ++node.getImporter().counts.batchNorms;
  double epsilon = node.number("epsilon", 1e-5);
  if (node.getOptions().training &&
      node.getOptions().batchNorm == BatchNormMode::Train) {
    return buildTrained(node, v, epsilon);
  }
  bool byBatch = !node.getOptions().training && readsNewStatistics(node);
  for (size_t i = byBatch ? 3 : 1; i < node.outputs(); ++i) {
    if (node.isUsed(i)) {
      return node.unsupported("the output '" + node.outputName(i) + "'",
                              "the first output alone, where the model is not "
                              "trained");
    }
  }
  if (byBatch) {
    return buildByBatch(node, v, epsilon);
  }
  return node.set(0, Value(node.builder().create<BatchNormInferenceOp>(
                         node.loc(), v[0].getType(), v[0], v[1], v[2], v[3],
                         v[4], llvm::APFloat(epsilon))));
}

//===----------------------------------------------------------------------===//
// LRN and softmax
//===----------------------------------------------------------------------===//

static LogicalResult buildLRN(const Node &node) {
  if (failed(node.checkInputs(1, 1)) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  int64_t size = node.integer("size", 0);
  if (node.rank(0) < 3 || size < 1 || size % 2 == 0 || size > 65535) {
    return node.unsupported("an input of rank " + Twine(node.rank(0)) +
                                " with size " + Twine(size),
                            "N x C x spatial dimensions and an odd size");
  }
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  return node.set(0, Value(node.builder().create<LRNOp>(
                         node.loc(), x->getType(), *x, uint64_t(size),
                         llvm::APFloat(node.number("alpha", 1e-4)),
                         llvm::APFloat(node.number("beta", 0.75)),
                         llvm::APFloat(node.number("bias", 1)))));
}

static LogicalResult buildSoftmax(const Node &node) {
  bool old = node.opset() < 13;
  if (failed(node.checkInputs(1, 1)) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  int64_t rank = node.rank(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.integer("axis", old ? 1 : -1), rank);
  FailureOr<Value> x = failed(axis) ? FailureOr<Value>() : node.value(0);
  if (failed(x)) {
    return failure();
  }
  Shape shape(shapeOf(*x));
  Value input = *x;
  // Before opset 13 the dimensions from the axis on count as one.
  if (old && *axis != rank - 1) {
    ArrayRef<int64_t> all = shape;
    input = node.reshape(*x, {*countElements(all.take_front(*axis)),
                              *countElements(all.drop_front(*axis))});
    axis = 1;
  }
  Value y = node.builder().create<SoftmaxOp>(node.loc(), input.getType(), input,
                                             uint64_t(*axis),
                                             node.op() == "LogSoftmax");
  return node.set(0, node.reshape(y, shape));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static FailureOr<double> readRatio(const Node &node) {
  double ratio = node.number("ratio", 0.5);
  if (node.opset() >= 12) {
    ratio = 0.5;
    if (node.has(1)) {
      std::shared_ptr<const HostTensor> given = node.constant(1);
      if (!given) {
        return node.unsupported("a ratio that the step computes", "a constant");
      }
      // As it was written: 0.1, not the nearest number of single precision.
      ratio = shortestDecimal(float(given->number(0)));
    }
  }
  if (!(ratio >= 0 && ratio < 1)) {
    return node.error() << "its ratio is " << ratio
                        << "; at least 0 and less than 1 is expected";
  }
  return ratio;
}

static LogicalResult buildDropout(const Node &node) {
  if (failed(node.checkInputs(1, 3)) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  FailureOr<double> ratio = readRatio(node);
  if (failed(ratio)) {
    return failure();
  }
  bool active =
      node.getOptions().training && node.getOptions().dropout && *ratio != 0;
  if (node.isUsed(1)) {
    if (active || node.opset() < 10) {
      return node.unsupported("the output 'mask'", "the output 'output' alone");
    }
    HostTensor all =
        HostTensor::ofIntegers(node.builder().getI1Type(), {}, {1});
    if (failed(node.set(1, all.reshaped(node.in(0).shape)))) {
      return failure();
    }
  }
  if (!active) {
    return node.forward(0, 0);
  }
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  Importer &importer = node.getImporter();
  Value seed = importer.scalarInput("vdnn.seed");
  Value step = importer.scalarInput("vdnn.step");
  return node.set(
      0, Value(node.builder().create<DropoutOp>(
             node.loc(), x->getType(), *x, seed, step, llvm::APFloat(*ratio),
             uint64_t(importer.nextDropout()))));
}

ArrayRef<Entry> vdnn::onnx::normEntries() {
  static constexpr Entry entries[] = {
      {"BatchNormalization", 6, 23, buildBatchNormalization},
      {"LRN", 1, 23, buildLRN},
      {"Softmax", 1, 23, buildSoftmax},
      {"LogSoftmax", 1, 23, buildSoftmax},
      {"Dropout", 6, 23, buildDropout}};
  return entries;
}
