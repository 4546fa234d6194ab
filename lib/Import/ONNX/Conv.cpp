//===- Conv.cpp - convolutions --------------------------------------------===//

#include "Table.h"
#include "Window.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

/// A bias that the exporter made up for a layer without one: zeros that the
/// graph computes. It is no parameter.
static bool isMadeUp(const Node &node, size_t i) {
  const Tensor &bias = node.in(i);
  return bias.constant && !bias.weight && bias.constant->isAll(0);
}

static LogicalResult buildConv(const Node &node) {
  if (failed(node.checkInputs(2, 3))) {
    return failure();
  }
  const Tensor &x = node.in(0);
  const Tensor &w = node.in(1);
  int64_t group = node.integer("group", 1);
  if (x.shape.size() < 3 || w.shape.size() != x.shape.size()) {
    return node.unsupported("an input of rank " + Twine(x.shape.size()) +
                                " with weights of rank " +
                                Twine(w.shape.size()),
                            "equal ranks from 3 to 5");
  }
  int64_t outChannels = w.shape[0];
  if (group < 1 || x.shape[1] % group != 0 || outChannels % group != 0 ||
      x.shape[1] / group != w.shape[1]) {
    return node.error() << "weights of " << outChannels << " x " << w.shape[1]
                        << " channels do not fit an input of " << x.shape[1]
                        << " channels in " << group << " groups";
  }
  if (node.has(2) && node.in(2).shape != Shape{outChannels}) {
    return node.error() << "its bias must be a vector of " << outChannels
                        << " elements";
  }
  FailureOr<Window> window =
      readWindow(node, Shape(ArrayRef<int64_t>(w.shape).drop_front(2)));
  if (failed(window)) {
    return failure();
  }
  double fanIn = double(*countElements(w.shape)) / double(outChannels);
  FailureOr<Value> input = node.value(0);
  FailureOr<Value> weights = node.parameter(1, Start::he(fanIn));
  FailureOr<Value> bias = Value();
  if (node.has(2) && !isMadeUp(node, 2)) {
    bias = node.parameter(2, Start::zeros());
  }
  if (failed(input) || failed(weights) || failed(bias)) {
    return failure();
  }
  // torch's exporter renames what it folds a BatchNormalization into.
  ++node.getImporter().counts.convs;
  if (node.has(2) && node.inputName(1).starts_with("onnx::Conv_") &&
      node.inputName(2).starts_with("onnx::Conv_")) {
    ++node.getImporter().counts.foldedConvs;
  }
  Shape shape = {x.shape[0], outChannels};
  shape.append(window->output);
  return node.set(0, Value(node.builder().create<ConvOp>(
                         node.loc(), RankedTensorType::get(shape, x.element),
                         *input, *weights, *bias, window->strides,
                         window->dilations, window->pads, uint64_t(group))));
}

ArrayRef<Entry> vdnn::onnx::convEntries() {
  static constexpr Entry entries[] = {{"Conv", 1, 23, buildConv}};
  return entries;
}
