//===- Slicing.cpp - parts of tensors and their joining -------------------===//

#include "Slicing.h"
#include "Fold.h"
#include "Table.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

/// `size` elements of an axis from `offset`.
static Value slice(const Node &node, Value x, int64_t axis, int64_t offset,
                   int64_t size) {
  Shape shape(shapeOf(x));
  if (shape[axis] == size) {
    return x;
  }
  shape[axis] = size;
  return node.builder().create<SliceOp>(
      node.loc(), RankedTensorType::get(shape, elementOf(x)), x, uint64_t(axis),
      uint64_t(offset));
}

static Value concat(const Node &node, ArrayRef<Value> values, int64_t axis) {
  if (values.size() == 1) {
    return values[0];
  }
  Shape shape(shapeOf(values[0]));
  for (Value value : values.drop_front()) {
    shape[axis] += shapeOf(value)[axis];
  }
  return node.builder().create<ConcatOp>(
      node.loc(), RankedTensorType::get(shape, elementOf(values[0])), values,
      uint64_t(axis));
}

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

FailureOr<std::pair<int64_t, Shape>> vdnn::onnx::readConcat(const Node &node) {
  if (failed(node.checkInputs(1, 1 << 20))) {
    return failure();
  }
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.integer("axis", 1), node.rank(0));
  if (failed(axis)) {
    return failure();
  }
  Shape shape = node.in(0).shape;
  for (size_t i = 1; i < node.inputs(); ++i) {
    if (!node.has(i)) {
      return node.error() << "input " << i << " is left out, but is required";
    }
    Shape next = node.in(i).shape;
    bool fits =
        next.size() == shape.size() && node.in(i).element == node.in(0).element;
    for (size_t d = 0; fits && d < next.size(); ++d) {
      fits = int64_t(d) == *axis || next[d] == shape[d];
    }
    if (!fits) {
      return node.error() << "'" << node.inputName(i)
                          << "' differs from its first input in another "
                             "dimension than "
                          << *axis << ", or in type";
    }
    shape[*axis] += next[*axis];
  }
  if (!countElements(shape)) {
    return node.error() << "its result has too many elements";
  }
  return std::pair(*axis, shape);
}

static LogicalResult buildConcat(const Node &node) {
  FailureOr<std::pair<int64_t, Shape>> target = readConcat(node);
  if (failed(target)) {
    return failure();
  }
  SmallVector<Value> values;
  for (size_t i = 0; i < node.inputs(); ++i) {
    FailureOr<Value> value = node.value(i);
    if (failed(value)) {
      return failure();
    }
    values.push_back(*value);
  }
  return node.set(0, concat(node, values, target->first));
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

/// Sizes of the parts.
static FailureOr<Shape> readParts(const Node &node, int64_t extent) {
  if (node.opset() >= 13 && node.has(1)) {
    return node.integers(1, "split");
  }
  if (std::optional<Shape> parts = node.list("split")) {
    return *parts;
  }
  int64_t count = int64_t(node.outputs());
  if (node.attribute("num_outputs") &&
      node.integer("num_outputs", 0) != count) {
    return node.error() << "'num_outputs' differs from its " << count
                        << " outputs";
  }
  int64_t size = (extent + count - 1) / count;
  if (extent % count != 0 && !node.attribute("num_outputs")) {
    return node.error() << "its " << count << " outputs do not divide "
                        << extent << " elements";
  }
  Shape parts(count, size);
  parts.back() = extent - size * (count - 1);
  return parts;
}

static LogicalResult buildSplit(const Node &node) {
  if (failed(node.checkInputs(1, 2))) {
    return failure();
  }
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.integer("axis", 0), node.rank(0));
  if (failed(axis)) {
    return failure();
  }
  int64_t extent = node.in(0).shape[*axis];
  FailureOr<Shape> parts = readParts(node, extent);
  FailureOr<Value> x = node.value(0);
  if (failed(parts) || failed(x)) {
    return failure();
  }
  int64_t rest = extent;
  bool valid = parts->size() == node.outputs();
  for (int64_t part : *parts) {
    valid &= part >= 1 && part <= rest;
    rest -= valid ? part : 0;
  }
  if (!valid || rest != 0) {
    return node.error() << "its parts (at least 1 element each) must add up to "
                        << extent << ", one for each of " << node.outputs()
                        << " outputs";
  }
  int64_t offset = 0;
  for (auto [i, part] : llvm::enumerate(*parts)) {
    if (failed(node.set(i, slice(node, *x, *axis, offset, part)))) {
      return failure();
    }
    offset += part;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Range>> vdnn::onnx::readSlice(const Node &node) {
  if (failed(node.checkInputs(1, 5))) {
    return failure();
  }
  Shape starts = node.list("starts").value_or(Shape());
  Shape ends = node.list("ends").value_or(Shape());
  std::optional<Shape> axes = node.list("axes");
  Shape steps;
  if (node.opset() >= 10) {
    SmallVector<Shape, 4> lists(5);
    static constexpr StringLiteral names[] = {"", "starts", "ends", "axes",
                                              "steps"};
    for (size_t i = 1; i < 5; ++i) {
      if (node.has(i)) {
        FailureOr<Shape> list = node.integers(i, names[i]);
        if (failed(list)) {
          return failure();
        }
        lists[i] = *list;
      }
    }
    starts = lists[1];
    ends = lists[2];
    axes = node.has(3) ? std::optional(lists[3]) : std::nullopt;
    steps = lists[4];
  }
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts.size(); ++i) {
      axes->push_back(int64_t(i));
    }
  }
  if (steps.empty()) {
    steps.assign(starts.size(), 1);
  }
  if (starts.size() != ends.size() || starts.size() != axes->size() ||
      starts.size() != steps.size()) {
    return node.error() << "'starts', 'ends', 'axes' and 'steps' must have the "
                           "same length";
  }
  if (failed(node.normalizeAxes(*axes, node.rank(0)))) { // no axis twice
    return failure();
  }
  SmallVector<Range> ranges;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = *node.normalizeAxis((*axes)[i], node.rank(0));
    int64_t extent = node.in(0).shape[axis];
    int64_t step = steps[i];
    if (step == 0 || std::abs(double(step)) > 0x1p40) {
      return node.error() << "a step of " << step << " is not allowed";
    }
    // Bounds count from the end where negative, and are clamped: a walk
    // backwards may end before element 0.
    auto clamp = [&](int64_t bound) {
      if (bound < 0) {
        bound = bound < -extent ? -1 - extent : bound;
        bound += extent;
      }
      return step > 0 ? std::clamp<int64_t>(bound, 0, extent)
                      : std::clamp<int64_t>(bound, -1, extent - 1);
    };
    int64_t start = clamp(starts[i]);
    int64_t end = clamp(ends[i]);
    if (step < 0) {
      start = std::max<int64_t>(start, 0);
    }
    int64_t span = step > 0 ? end - start : start - end;
    int64_t stride = step > 0 ? step : -step;
    if (span <= 0) {
      return node.unsupported("an empty result", "at least one element");
    }
    ranges.push_back({axis, start, (span + stride - 1) / stride, step});
  }
  return ranges;
}

/// Elements in another order than theirs are taken out one by one.
constexpr int64_t mostSingle = 64;

/// The elements of an axis that `range` names, in its order.
static FailureOr<Value> pick(const Node &node, Value x, const Range &range) {
  if (range.step == 1 || range.size == 1) {
    return slice(node, x, range.axis, range.offset, range.size);
  }
  if (range.step < 0) {
    if (range.size > mostSingle) {
      return FailureOr<Value>(node.unsupported(
          "walking backwards over " + Twine(range.size) + " elements",
          "at most " + Twine(mostSingle)));
    }
    SmallVector<Value> parts;
    for (int64_t i = 0; i < range.size; ++i) {
      parts.push_back(
          slice(node, x, range.axis, range.offset + i * range.step, 1));
    }
    return concat(node, parts, range.axis);
  }
  // Rows of as many elements as a step, of which the first counts; the last one
  // alone, as the row after it need not be whole.
  int64_t rows = range.size - 1;
  int64_t length = rows * range.step;
  Value body = slice(node, x, range.axis, range.offset, length);
  Value last = slice(node, x, range.axis, range.offset + length, 1);
  Shape shape(shapeOf(body));
  shape[range.axis] = rows;
  Shape split = shape;
  split.insert(split.begin() + range.axis + 1, range.step);
  Value first = slice(node, node.reshape(body, split), range.axis + 1, 0, 1);
  return concat(node, {node.reshape(first, shape), last}, range.axis);
}

static LogicalResult buildSlice(const Node &node) {
  FailureOr<SmallVector<Range>> ranges = readSlice(node);
  FailureOr<Value> x = failed(ranges) ? FailureOr<Value>() : node.value(0);
  if (failed(x)) {
    return failure();
  }
  Value result = *x;
  for (const Range &range : *ranges) {
    FailureOr<Value> part = pick(node, result, range);
    if (failed(part)) {
      return failure();
    }
    result = *part;
  }
  return result == *x ? node.forward(0, 0) : node.set(0, result);
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

FailureOr<GatherTarget> vdnn::onnx::readGather(const Node &node) {
  if (failed(node.checkInputs(2, 2))) {
    return failure();
  }
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.integer("axis", 0), node.rank(0));
  FailureOr<Shape> indices =
      failed(axis) ? FailureOr<Shape>() : node.integers(1, "indices");
  if (failed(indices)) {
    return failure();
  }
  ArrayRef<int64_t> from = node.in(0).shape;
  for (int64_t &index : *indices) {
    FailureOr<int64_t> normal = node.normalizeAxis(index, from[*axis]);
    if (failed(normal)) {
      return failure();
    }
    index = *normal;
  }
  Shape shape(from.take_front(*axis));
  shape.append(node.in(1).shape);
  llvm::append_range(shape, from.drop_front(*axis + 1));
  return GatherTarget{*axis, *indices, shape};
}

static LogicalResult buildGather(const Node &node) {
  FailureOr<GatherTarget> target = readGather(node);
  if (failed(target)) {
    return failure();
  }
  if (target->indices.size() > size_t(mostSingle)) {
    return node.unsupported(Twine(target->indices.size()) + " indices",
                            "at most " + Twine(mostSingle));
  }
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  SmallVector<Value> parts;
  for (int64_t index : target->indices) {
    parts.push_back(slice(node, *x, target->axis, index, 1));
  }
  Value joined = concat(node, parts, target->axis);
  Value result = node.reshape(joined, target->shape);
  return result == *x ? node.forward(0, 0) : node.set(0, result);
}

ArrayRef<Entry> vdnn::onnx::slicingEntries() {
  static constexpr Entry entries[] = {
      {"Concat", 4, 23, buildConcat, foldConcat},
      {"Split", 2, 23, buildSplit},
      {"Slice", 1, 23, buildSlice, foldSlice},
      {"Gather", 1, 23, buildGather, foldGather}};
  return entries;
}
