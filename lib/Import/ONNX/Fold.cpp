//===- Fold.cpp - shape ops on constants ----------------------------------===//

#include "Fold.h"
#include "Slicing.h"

using namespace mlir;
using namespace vdnn::onnx;

/// Sets result `i` to elements of `x`.
static LogicalResult setGathered(const Node &node, size_t i,
                                 const HostTensor &x, Shape shape,
                                 ArrayRef<int64_t> source) {
  return node.set(i, x.gathered(std::move(shape), source));
}

static Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

/// For every element of a tensor of `shape`, `start` plus its indices times
/// `strides`.
static std::vector<int64_t> walk(ArrayRef<int64_t> shape, int64_t start,
                                 ArrayRef<int64_t> strides) {
  std::vector<int64_t> result = {start};
  for (auto [extent, stride] : llvm::zip(shape, strides)) {
    std::vector<int64_t> next;
    for (int64_t base : result) {
      for (int64_t i = 0; i < extent; ++i) {
        next.push_back(base + i * stride);
      }
    }
    result = std::move(next);
  }
  return result;
}

/// Whether a result of this shape may be held; says so if not.
static LogicalResult checkSize(const Node &node, ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = countElements(shape);
  if (count && *count <= maxFoldedElements) {
    return success();
  }
  return node.error() << "its result must have 1 to " << maxFoldedElements
                      << " elements, as it is computed from constants";
}

LogicalResult vdnn::onnx::foldTranspose(const Node &node) {
  FailureOr<Shape> permutation = readPermutation(node);
  if (failed(permutation)) {
    return failure();
  }
  const HostTensor &x = *node.in(0).constant;
  Shape shape;
  Shape strides;
  Shape from = stridesOf(x.shape);
  for (int64_t axis : *permutation) {
    shape.push_back(x.shape[axis]);
    strides.push_back(from[axis]);
  }
  if (x.splat) {
    return node.set(0, x.reshaped(shape));
  }
  if (failed(checkSize(node, shape))) {
    return failure();
  }
  return setGathered(node, 0, x, shape, walk(shape, 0, strides));
}

LogicalResult vdnn::onnx::foldExpand(const Node &node) {
  FailureOr<Shape> shape = readExpandShape(node);
  if (failed(shape)) {
    return failure();
  }
  std::optional<HostTensor> result = node.in(0).constant->broadcast(*shape);
  if (!result) {
    return checkSize(node, *shape);
  }
  return node.set(0, std::move(*result));
}

LogicalResult vdnn::onnx::foldConcat(const Node &node) {
  FailureOr<std::pair<int64_t, Shape>> target = readConcat(node);
  if (failed(target) || failed(checkSize(node, target->second))) {
    return failure();
  }
  auto [axis, shape] = *target;
  HostTensor result;
  result.element = node.in(0).element;
  result.shape = shape;
  int64_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) {
    outer *= shape[i];
  }
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < node.inputs(); ++i) {
      const HostTensor &x = *node.in(i).constant;
      int64_t inner = x.size() / outer;
      for (int64_t k = o * inner; k < (o + 1) * inner; ++k) {
        if (x.isFloat()) {
          result.numbers.push_back(x.number(k));
        } else {
          result.integers.push_back(x.integer(k));
        }
      }
    }
  }
  result.splat = result.size() == 1;
  return node.set(0, std::move(result));
}

LogicalResult vdnn::onnx::foldGather(const Node &node) {
  FailureOr<GatherTarget> target = readGather(node);
  if (failed(target) || failed(checkSize(node, target->shape))) {
    return failure();
  }
  const HostTensor &x = *node.in(0).constant;
  int64_t axis = target->axis;
  int64_t extent = x.shape[axis];
  int64_t inner = stridesOf(x.shape)[axis];
  int64_t outer = x.size() / (extent * inner);
  std::vector<int64_t> source;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t index : target->indices) {
      for (int64_t i = 0; i < inner; ++i) {
        source.push_back((o * extent + index) * inner + i);
      }
    }
  }
  return setGathered(node, 0, x, target->shape, source);
}

LogicalResult vdnn::onnx::foldSlice(const Node &node) {
  FailureOr<SmallVector<Range>> ranges = readSlice(node);
  if (failed(ranges)) {
    return failure();
  }
  const HostTensor &x = *node.in(0).constant;
  Shape shape = x.shape;
  Shape strides = stridesOf(x.shape);
  int64_t start = 0;
  for (const Range &range : *ranges) {
    start += range.offset * strides[range.axis];
    shape[range.axis] = range.size;
    strides[range.axis] *= range.step;
  }
  if (x.splat && countElements(shape)) {
    return node.set(0, x.reshaped(shape));
  }
  if (failed(checkSize(node, shape))) {
    return failure();
  }
  return setGathered(node, 0, x, shape, walk(shape, start, strides));
}

LogicalResult vdnn::onnx::foldReduce(const Node &node) {
  FailureOr<Reduced> reduced = readReduce(node);
  if (failed(reduced)) {
    return failure();
  }
  const HostTensor &x = *node.in(0).constant;
  if (x.size() > maxFoldedElements || x.isFloat() ||
      (node.op() != "ReduceProd" && node.op() != "ReduceSum" &&
       node.op() != "ReduceMax" && node.op() != "ReduceMin")) {
    return node.unsupported("a constant operand",
                            "ReduceSum, ReduceProd, ReduceMax or ReduceMin of "
                            "few integers");
  }
  Shape kept = x.shape;
  for (int64_t axis : reduced->axes) {
    kept[axis] = 1;
  }
  Shape to = stridesOf(kept);
  for (size_t i = 0; i < kept.size(); ++i) {
    to[i] = kept[i] == 1 ? 0 : to[i];
  }
  std::vector<int64_t> target = walk(x.shape, 0, to);
  std::vector<std::optional<int64_t>> sums(*countElements(kept));
  for (int64_t i = 0; i < x.size(); ++i) {
    std::optional<int64_t> &sum = sums[size_t(target[size_t(i)])];
    int64_t value = x.integer(i);
    if (!sum) {
      sum = value;
    } else if (node.op() == "ReduceProd") {
      sum = int64_t(uint64_t(*sum) * uint64_t(value));
    } else if (node.op() == "ReduceSum") {
      sum = int64_t(uint64_t(*sum) + uint64_t(value));
    } else {
      sum = node.op() == "ReduceMax" ? std::max(*sum, value)
                                     : std::min(*sum, value);
    }
  }
  std::vector<int64_t> values;
  for (const std::optional<int64_t> &sum : sums) {
    values.push_back(*sum);
  }
  return node.set(
      0, HostTensor::ofIntegers(x.element, reduced->shape, std::move(values)));
}
