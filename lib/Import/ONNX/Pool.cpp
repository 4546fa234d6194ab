//===- Pool.cpp - pools
//-----------------------------------------------------===//

#include "Table.h"
#include "Window.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

/// Type of a pool's result.
static RankedTensorType resultType(const Node &node, const Window &window) {
  const Tensor &x = node.in(0);
  Shape shape = {x.shape[0], x.shape[1]};
  shape.append(window.output);
  return RankedTensorType::get(shape, x.element);
}

static FailureOr<Window> readPoolWindow(const Node &node) {
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  if (!node.in(0).isFloat()) {
    return node.unsupported("a pool of integers", "floating-point numbers");
  }
  FailureOr<Window> window = readWindow(node, {});
  if (failed(window)) {
    return failure();
  }
  size_t rank = window->kernel.size();
  for (size_t i = 0; i < rank; ++i) {
    // The rounding up of the result is no padding of the node.
    int64_t asked = window->pads[i];
    if (asked >= window->extent(i)) {
      return node.unsupported("a padding of " + Twine(asked) +
                                  " with a window of " +
                                  Twine(window->extent(i)),
                              "paddings smaller than the window");
    }
  }
  return window;
}

static LogicalResult makeMaxPool(const Node &node, const Window &window) {
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  auto pool = node.builder().create<MaxPoolOp>(
      node.loc(), resultType(node, window), Type(), *x, window.kernel,
      window.strides, window.pads, window.dilations);
  return node.set(0, pool.getY());
}

static LogicalResult buildMaxPool(const Node &node) {
  FailureOr<Window> window = readPoolWindow(node);
  if (failed(window)) {
    return failure();
  }
  if (node.isUsed(1)) {
    return node.unsupported("the output 'Indices'", "the output 'Y' alone");
  }
  return makeMaxPool(node, *window);
}

static LogicalResult makeAvgPool(const Node &node, const Window &window,
                                 bool countPad) {
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  auto pool = node.builder().create<AvgPoolOp>(
      node.loc(), resultType(node, window), *x, window.kernel, window.strides,
      window.pads, countPad);
  return node.set(0, pool.getY());
}

static LogicalResult buildAveragePool(const Node &node) {
  FailureOr<Window> window = readPoolWindow(node);
  if (failed(window)) {
    return failure();
  }
  if (llvm::any_of(window->dilations, [](int64_t d) { return d != 1; })) {
    return node.unsupported("a dilated mean", "dilations of 1");
  }
  bool padded =
      llvm::any_of(window->pads, [](int64_t pad) { return pad != 0; });
  bool countPad = node.integer("count_include_pad", 0) != 0 && padded;
  // What lies beyond the padding never counts, and the op cannot tell it from
  // padding.
  if (countPad && window->extended) {
    return node.unsupported(
        "ceil_mode with count_include_pad where windows reach beyond the "
        "padding",
        "one of the two");
  }
  return makeAvgPool(node, *window, countPad);
}

/// One window as large as the input.
static FailureOr<Window> wholeWindow(const Node &node) {
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  int64_t rank = node.rank(0) - 2;
  if (rank < 1 || rank > 3 || !node.in(0).isFloat()) {
    return node.unsupported(
        "this input", "N x C x 1 to 3 spatial dimensions of floating point");
  }
  Window window;
  window.kernel = Shape(ArrayRef<int64_t>(node.in(0).shape).drop_front(2));
  window.strides.assign(rank, 1);
  window.dilations.assign(rank, 1);
  window.pads.assign(2 * rank, 0);
  window.output.assign(rank, 1);
  return window;
}

static LogicalResult buildGlobalAveragePool(const Node &node) {
  FailureOr<Window> window = wholeWindow(node);
  return failed(window) ? failure() : makeAvgPool(node, *window, false);
}

static LogicalResult buildGlobalMaxPool(const Node &node) {
  FailureOr<Window> window = wholeWindow(node);
  return failed(window) ? failure() : makeMaxPool(node, *window);
}

ArrayRef<Entry> vdnn::onnx::poolEntries() {
  static constexpr Entry entries[] = {
      {"MaxPool", 6, 23, buildMaxPool},
      {"AveragePool", 6, 23, buildAveragePool},
      {"GlobalMaxPool", 6, 23, buildGlobalMaxPool},
      {"GlobalAveragePool", 6, 23, buildGlobalAveragePool}};
  return entries;
}
