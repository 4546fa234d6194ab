//===- Shape.cpp - shapes, constants and views ----------------------------===//

#include "Fold.h"
#include "Pointwise.h"
#include "Slicing.h"
#include "Table.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The tensor of an attribute.
static FailureOr<HostTensor> readTensor(const Node &node,
                                        const vdnn_onnx::TensorProto &proto) {
  Type element = elementType(node.builder().getContext(), proto.data_type());
  Shape shape(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> count = countElements(shape);
  if (!element || proto.data_location() == vdnn_onnx::TensorProto::EXTERNAL) {
    return node.unsupported(
        element ? "external data in an attribute"
                : "a constant of type " + dataTypeName(proto.data_type()),
        "FLOAT, DOUBLE, FLOAT16, BFLOAT16, INT64, INT32, INT16, INT8, UINT8, "
        "BOOL within the model");
  }
  if (!count || inlineSize(proto, element) != *count * elementBytes(element)) {
    return node.error() << "the bytes of its tensor do not fit its shape, or "
                           "there are none";
  }
  return decode(element, shape, inlineBytes(proto, element));
}

static LogicalResult foldConstant(const Node &node) {
  Builder b(node.builder().getContext());
  if (failed(node.checkInputs(0, 0))) {
    return failure();
  }
  if (const auto *value = node.attribute("value"); value && value->has_t()) {
    FailureOr<HostTensor> tensor = readTensor(node, value->t());
    return failed(tensor) ? failure() : node.setConstant(std::move(*tensor));
  }
  if (const auto *value = node.attribute("value_float")) {
    return node.setConstant(
        HostTensor::ofNumbers(b.getF32Type(), {}, {value->f()}));
  }
  if (const auto *value = node.attribute("value_int")) {
    return node.setConstant(
        HostTensor::ofIntegers(b.getI64Type(), {}, {value->i()}));
  }
  if (const auto *value = node.attribute("value_floats");
      value && value->floats_size() > 0) {
    return node.setConstant(HostTensor::ofNumbers(
        b.getF32Type(), {value->floats_size()},
        {value->floats().begin(), value->floats().end()}));
  }
  if (const auto *value = node.attribute("value_ints");
      value && value->ints_size() > 0) {
    return node.setConstant(
        HostTensor::ofIntegers(b.getI64Type(), {value->ints_size()},
                               {value->ints().begin(), value->ints().end()}));
  }
  return node.unsupported("this constant",
                          "value, value_float, value_floats, value_int, "
                          "value_ints with at least one element");
}

static LogicalResult foldConstantOfShape(const Node &node) {
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  FailureOr<Shape> shape = node.integers(0, "shape");
  FailureOr<HostTensor> value =
      HostTensor::ofNumbers(node.builder().getF32Type(), {}, {0});
  if (const auto *given = node.attribute("value"); given && given->has_t()) {
    value = readTensor(node, given->t());
  }
  if (failed(shape) || failed(value)) {
    return failure();
  }
  if (!value->splat || !countElements(*shape)) {
    return node.error() << "a shape of at least one element, filled with one "
                           "value, is expected";
  }
  return node.setConstant(value->reshaped(*shape));
}

/// Shape and Size: known whatever their operand is.
static LogicalResult readShape(const Node &node) {
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  ArrayRef<int64_t> shape = node.in(0).shape;
  int64_t rank = node.rank(0);
  Type i64 = node.builder().getI64Type();
  if (node.op() == "Size") {
    return node.set(0,
                    HostTensor::ofIntegers(i64, {}, {*countElements(shape)}));
  }
  auto clamp = [&](int64_t bound) {
    return std::clamp<int64_t>(
        bound < 0 && bound >= -rank ? bound + rank : bound, 0, rank);
  };
  int64_t start = clamp(node.integer("start", 0));
  int64_t end = clamp(node.integer("end", rank));
  if (start >= end) {
    return node.unsupported("an empty result", "at least one dimension");
  }
  return node.set(
      0, HostTensor::ofIntegers(i64, {end - start},
                                {shape.begin() + start, shape.begin() + end}));
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Sets the result to operand 0 under another shape.
static LogicalResult setReshaped(const Node &node, const Shape &shape) {
  if (node.in(0).shape == shape) {
    return node.forward(0, 0);
  }
  if (!countElements(shape) ||
      *countElements(shape) != *countElements(node.in(0).shape)) {
    auto diagnostic = node.error() << "cannot view the shape (";
    llvm::interleaveComma(node.in(0).shape, diagnostic);
    diagnostic << ") as (";
    llvm::interleaveComma(shape, diagnostic);
    return diagnostic << "): the numbers of elements differ";
  }
  if (node.in(0).constant) {
    HostTensor reshaped = node.in(0).constant->reshaped(shape);
    // What may be trained may be trained under another shape.
    return node.in(0).weight ? node.setConstant(std::move(reshaped))
                             : node.set(0, std::move(reshaped));
  }
  FailureOr<Value> x = node.value(0);
  return failed(x) ? failure() : node.set(0, node.reshape(*x, shape));
}

static LogicalResult buildReshape(const Node &node) {
  if (failed(node.checkInputs(2, 2))) {
    return failure();
  }
  FailureOr<Shape> shape = node.integers(1, "shape");
  if (failed(shape)) {
    return failure();
  }
  const Shape &from = node.in(0).shape;
  double known = 1;
  int64_t *open = nullptr;
  for (auto [i, size] : llvm::enumerate(*shape)) {
    if (size == 0 && node.integer("allowzero", 0) == 0) {
      if (i >= from.size()) {
        return node.error() << "size 0 at position " << i
                            << " copies a dimension that its input lacks";
      }
      size = from[i];
    }
    if (size == -1 && !open) {
      open = &size;
    } else if (size < 1) {
      return node.error() << "its shape has the size " << size
                          << " at position " << i
                          << "; sizes of at least 1, and one -1, are expected";
    } else {
      known *= double(size);
    }
  }
  if (open) {
    int64_t count = *countElements(from);
    if (known > double(count) || count % int64_t(known) != 0) {
      return node.error() << count << " elements cannot be shared out over "
                          << int64_t(std::min(known, 0x1p62))
                          << " known positions";
    }
    *open = count / int64_t(known);
  }
  return setReshaped(node, *shape);
}

static LogicalResult buildFlatten(const Node &node) {
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  int64_t axis = node.integer("axis", 1);
  int64_t rank = node.rank(0);
  if (axis < -rank || axis > rank) {
    return node.error() << "axis " << axis
                        << " lies outside of a tensor of rank " << rank;
  }
  axis += axis < 0 ? rank : 0;
  ArrayRef<int64_t> from = node.in(0).shape;
  return setReshaped(node, {*countElements(from.take_front(axis)),
                            *countElements(from.drop_front(axis))});
}

/// Axes of Squeeze and Unsqueeze: an operand from opset 13 on.
static FailureOr<std::optional<Shape>> readAxes(const Node &node) {
  if (node.opset() < 13) {
    return node.list("axes");
  }
  if (!node.has(1)) {
    return std::optional<Shape>();
  }
  FailureOr<Shape> axes = node.integers(1, "axes");
  return failed(axes) ? FailureOr<std::optional<Shape>>(failure())
                      : std::optional(*axes);
}

static LogicalResult buildSqueeze(const Node &node) {
  if (failed(node.checkInputs(1, 2))) {
    return failure();
  }
  FailureOr<std::optional<Shape>> given = readAxes(node);
  if (failed(given)) {
    return failure();
  }
  ArrayRef<int64_t> from = node.in(0).shape;
  FailureOr<Shape> axes = Shape();
  if (*given) {
    axes = node.normalizeAxes(**given, node.rank(0));
  } else {
    for (auto [i, size] : llvm::enumerate(from)) {
      if (size == 1) {
        axes->push_back(int64_t(i));
      }
    }
  }
  if (failed(axes)) {
    return failure();
  }
  Shape shape;
  for (auto [i, size] : llvm::enumerate(from)) {
    if (!llvm::is_contained(*axes, int64_t(i))) {
      shape.push_back(size);
    } else if (size != 1) {
      return node.error() << "dimension " << i << " has size " << size
                          << " and cannot be dropped; 1 is expected";
    }
  }
  return setReshaped(node, shape);
}

static LogicalResult buildUnsqueeze(const Node &node) {
  if (failed(node.checkInputs(1, 2))) {
    return failure();
  }
  FailureOr<std::optional<Shape>> given = readAxes(node);
  if (failed(given)) {
    return failure();
  }
  if (!*given) {
    return node.error() << "has no 'axes'";
  }
  int64_t rank = node.rank(0) + int64_t((*given)->size());
  if (rank > 64) {
    return node.error() << "its result has " << rank
                        << " dimensions; at most 64 are accepted";
  }
  FailureOr<Shape> axes = node.normalizeAxes(**given, rank);
  if (failed(axes)) {
    return failure();
  }
  Shape shape;
  const auto *next = node.in(0).shape.begin();
  for (int64_t i = 0; i < rank; ++i) {
    shape.push_back(llvm::is_contained(*axes, i) ? 1 : *next++);
  }
  return setReshaped(node, shape);
}

static LogicalResult buildIdentity(const Node &node) {
  return failed(node.checkInputs(1, 1)) ? failure() : node.forward(0, 0);
}

//===----------------------------------------------------------------------===//
// Transpose and Expand
//===----------------------------------------------------------------------===//

FailureOr<Shape> vdnn::onnx::readPermutation(const Node &node) {
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  int64_t rank = node.rank(0);
  Shape permutation;
  for (int64_t i = rank; i-- > 0;) {
    permutation.push_back(i);
  }
  if (std::optional<Shape> given = node.list("perm")) {
    permutation = *given;
  }
  FailureOr<Shape> sorted = node.normalizeAxes(permutation, rank);
  if (failed(sorted)) {
    return failure();
  }
  if (int64_t(permutation.size()) != rank) {
    return node.error() << "'perm' must name each of " << rank
                        << " dimensions once";
  }
  for (int64_t &axis : permutation) {
    axis += axis < 0 ? rank : 0;
  }
  return permutation;
}

static LogicalResult buildTranspose(const Node &node) {
  FailureOr<Shape> permutation = readPermutation(node);
  FailureOr<Value> x = failed(permutation) ? FailureOr<Value>() : node.value(0);
  if (failed(x)) {
    return failure();
  }
  if (llvm::is_sorted(*permutation)) {
    return node.forward(0, 0);
  }
  Shape shape;
  for (int64_t axis : *permutation) {
    shape.push_back(node.in(0).shape[axis]);
  }
  return node.set(0,
                  Value(node.builder().create<TransposeOp>(
                      node.loc(), RankedTensorType::get(shape, elementOf(*x)),
                      *x, *permutation)));
}

FailureOr<Shape> vdnn::onnx::readExpandShape(const Node &node) {
  if (failed(node.checkInputs(2, 2))) {
    return failure();
  }
  FailureOr<Shape> shape = node.integers(1, "shape");
  if (failed(shape)) {
    return failure();
  }
  std::optional<Shape> joined = broadcastShapes(node.in(0).shape, *shape);
  if (!joined || !countElements(*joined)) {
    return node.error() << "its input does not broadcast to the shape";
  }
  return *joined;
}

static LogicalResult buildExpand(const Node &node) {
  FailureOr<Shape> shape = readExpandShape(node);
  if (failed(shape)) {
    return failure();
  }
  if (*shape == node.in(0).shape) {
    return node.forward(0, 0);
  }
  if (*countElements(*shape) == *countElements(node.in(0).shape)) {
    return setReshaped(node, *shape);
  }
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  FailureOr<Value> y = pointwise(
      node, toOperand(*x),
      [](const Scalar &, ArrayRef<Value> v) { return v[0]; }, *shape);
  return failed(y) ? failure() : node.set(0, *y);
}

ArrayRef<Entry> vdnn::onnx::shapeEntries() {
  static constexpr Entry entries[] = {
      {"Constant", 1, 23, foldConstant},
      {"ConstantOfShape", 9, 23, foldConstantOfShape},
      {"Range", 11, 23, nullptr, foldRange},
      {"Shape", 1, 23, readShape},
      {"Size", 1, 23, readShape},
      {"Identity", 1, 23, buildIdentity},
      {"Reshape", 5, 23, buildReshape},
      {"Flatten", 1, 23, buildFlatten},
      {"Squeeze", 1, 23, buildSqueeze},
      {"Unsqueeze", 1, 23, buildUnsqueeze},
      {"Transpose", 1, 23, buildTranspose, foldTranspose},
      {"Expand", 8, 23, buildExpand, foldExpand}};
  return entries;
}
