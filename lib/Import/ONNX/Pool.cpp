//===- Pool.cpp - pools ---------------------------------------------------===//

#include "Pointwise.h"
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

/// Along one dimension: numbers that differ by `step`, from `first`.
static FailureOr<Operand> ramp(const Node &node, size_t rank, size_t dimension,
                               int64_t size, int64_t first, int64_t step) {
  Type element = node.builder().getI64Type();
  Shape shape(rank, 1);
  shape[dimension] = size;
  if (size == 1) {
    return Operand{{}, IntegerAttr::get(element, first), shape, element};
  }
  if (failed(node.getImporter().chargeFolding(node, size))) {
    return failure();
  }
  std::vector<int64_t> values;
  for (int64_t i = 0; i < size; ++i) {
    values.push_back(first + i * step);
  }
  return toOperand(node.constantOp(
      HostTensor::ofIntegers(element, shape, std::move(values))));
}

/// ONNX's indices, which count through the whole input, from those of
/// `max_pool`, which count through a window.
static FailureOr<Value> globalIndices(const Node &node, const Window &window,
                                      Value index) {
  const Shape &x = node.in(0).shape;
  size_t rank = x.size();
  bool columnMajor = node.integer("storage_order", 0) != 0;
  // Distance of neighbours along each dimension; of the spatial ones the first
  // is the innermost one of column-major order.
  Shape distance(rank);
  int64_t volume = 1;
  for (size_t i = 0; i < rank - 2; ++i) {
    size_t d = columnMajor ? 2 + i : rank - 1 - i;
    distance[d] = volume;
    volume *= x[d];
  }
  distance[1] = volume;
  distance[0] = volume * x[1];
  SmallVector<Operand> operands = {toOperand(index)};
  for (size_t d = 0; d < rank; ++d) {
    int64_t stride = d < 2 ? 1 : window.strides[d - 2];
    int64_t begin = d < 2 ? 0 : -window.pads[d - 2];
    FailureOr<Operand> base = ramp(node, rank, d, shapeOf(index)[d],
                                   begin * distance[d], stride * distance[d]);
    if (failed(base)) {
      return failure();
    }
    operands.push_back(*base);
  }
  return pointwise(node, operands, [&](const Scalar &s, ArrayRef<Value> v) {
    Type i64 = s.builder.getI64Type();
    Value rest = s.convert(v[0], s.builder.getI8Type(), i64);
    Value sum = v[1];
    for (Value base : v.drop_front(2)) {
      sum = s.make<arith::AddIOp>(sum, base);
    }
    for (size_t d = rank - 2; d-- > 0;) {
      Value size = s.constant(i64, double(window.kernel[d]));
      Value at = s.make<arith::RemSIOp>(rest, size);
      Value scale =
          s.constant(i64, double(window.dilations[d] * distance[d + 2]));
      sum = s.make<arith::AddIOp>(sum, s.make<arith::MulIOp>(at, scale));
      rest = s.make<arith::DivSIOp>(rest, size);
    }
    return sum;
  });
}

static LogicalResult makeIndexedMaxPool(const Node &node,
                                        const Window &window) {
  constexpr int64_t most = 127; // an index has 8 bits
  std::optional<int64_t> positions = countElements(window.kernel);
  if (!positions || *positions > most) {
    return node.unsupported("the output 'Indices' of a window this large",
                            "at most " + Twine(most) + " positions");
  }
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  RankedTensorType type = resultType(node, window);
  auto pool = node.builder().create<MaxPoolOp>(
      node.loc(), type, type.clone(node.builder().getI8Type()), *x,
      window.kernel, window.strides, window.pads, window.dilations);
  node.nameResults(pool, node.outputName(0), {"index"});
  FailureOr<Value> indices = globalIndices(node, window, pool.getIndex());
  return failed(indices) || failed(node.set(0, pool.getY()))
             ? failure()
             : node.set(1, *indices);
}

static LogicalResult buildMaxPool(const Node &node) {
  FailureOr<Window> window = readPoolWindow(node);
  if (failed(window)) {
    return failure();
  }
  if (node.isUsed(1)) {
    return makeIndexedMaxPool(node, *window);
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
      {"MaxPool", 1, 23, buildMaxPool},
      {"AveragePool", 1, 23, buildAveragePool},
      {"GlobalMaxPool", 1, 23, buildGlobalMaxPool},
      {"GlobalAveragePool", 1, 23, buildGlobalAveragePool}};
  return entries;
}
