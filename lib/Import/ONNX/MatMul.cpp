//===- MatMul.cpp - matrix products ---------------------------------------===//

#include "Pointwise.h"
#include "Table.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

namespace {
/// A factor: where its last two dimensions were swapped by an op of the graph,
/// what was swapped.
struct Factor {
  Value value;
  bool transposed = false;

  int64_t rank() const { return int64_t(shapeOf(value).size()); }
  int64_t rows() const { return shapeOf(value)[rank() - (transposed ? 1 : 2)]; }
  int64_t columns() const {
    return shapeOf(value)[rank() - (transposed ? 2 : 1)];
  }
  ArrayRef<int64_t> batch() const { return shapeOf(value).drop_back(2); }
};
} // namespace

static Factor throughTranspose(Value value, bool transposed) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose) {
    return {value, transposed};
  }
  SmallVector<int64_t> swapped(transpose.getPermutation());
  size_t rank = swapped.size();
  if (rank < 2) {
    return {value, transposed};
  }
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  for (size_t i = 0; i < rank; ++i) {
    if (swapped[i] != int64_t(i)) {
      return {value, transposed};
    }
  }
  return {transpose.getX(), !transposed};
}

static Value product(const Node &node, const Factor &a, const Factor &b,
                     Value bias) {
  Shape shape(a.batch());
  shape.push_back(a.rows());
  shape.push_back(b.columns());
  return node.builder().create<MatMulOp>(
      node.loc(), RankedTensorType::get(shape, elementOf(a.value)), a.value,
      b.value, bias, a.transposed, b.transposed);
}

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

/// Operand C as a vector that is added to every row, where it is one.
static FailureOr<Value> readBias(const Node &node, int64_t columns) {
  const Shape &shape = node.in(2).shape;
  std::optional<int64_t> count = countElements(shape);
  bool isRow = !shape.empty() && shape.back() == columns && count == columns;
  if (!isRow || node.number("beta", 1) != 1) {
    return Value();
  }
  FailureOr<Value> c = node.parameter(2, Start::zeros());
  return failed(c) ? c : FailureOr<Value>(node.reshape(*c, {columns}));
}

/// alpha * product + beta * C
static FailureOr<Value> scale(const Node &node, Value y, bool addC) {
  double alpha = node.number("alpha", 1);
  double beta = node.number("beta", 1);
  SmallVector<Operand, 2> operands = {toOperand(y)};
  if (addC) {
    FailureOr<Value> c = node.parameter(2, Start::zeros());
    if (failed(c)) {
      return failure();
    }
    operands.push_back(toOperand(*c));
  }
  FailureOr<Value> result =
      pointwise(node, operands, [&](const Scalar &s, ArrayRef<Value> v) {
        auto times = [&](double factor, Value x) {
          return factor == 1 ? x
                             : s.make<arith::MulFOp>(
                                   x, s.constant(x.getType(), factor));
        };
        Value scaled = times(alpha, v[0]);
        return addC ? s.make<arith::AddFOp>(scaled, times(beta, v[1])) : scaled;
      });
  if (succeeded(result) && shapeOf(*result) != shapeOf(y)) {
    return node.error() << "operand C does not broadcast to the product";
  }
  return result;
}

static LogicalResult buildGemm(const Node &node) {
  if (failed(node.checkInputs(2, 3)) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  for (size_t i = 1; i < node.inputs(); ++i) {
    if (node.in(i).element != node.in(0).element) {
      return node.error() << "has operands of different element types";
    }
  }
  if (node.rank(0) != 2 || node.rank(1) != 2) {
    return node.error() << "its factors have rank " << node.rank(0) << " and "
                        << node.rank(1) << "; 2 is expected";
  }
  bool transposeB = node.integer("transB", 0) != 0;
  FailureOr<Value> x = node.value(0);
  FailureOr<Value> w = node.parameter(
      1, Start::he(double(node.in(1).shape[transposeB ? 1 : 0])));
  if (failed(x) || failed(w)) {
    return failure();
  }
  Factor a = throughTranspose(*x, node.integer("transA", 0) != 0);
  Factor b = throughTranspose(*w, transposeB);
  node.getImporter().refineStart(b.value, Start::he(double(b.rows())));
  if (a.columns() != b.rows()) {
    return node.error() << "its factors do not fit: " << a.columns()
                        << " columns and " << b.rows() << " rows";
  }
  bool scaled = node.number("alpha", 1) != 1;
  FailureOr<Value> bias = Value();
  if (node.has(2) && !scaled) {
    bias = readBias(node, b.columns());
    if (failed(bias)) {
      return failure();
    }
  }
  Value y = product(node, a, b, *bias);
  bool addC = node.has(2) && !*bias && node.number("beta", 1) != 0;
  if (!scaled && !addC) {
    return node.set(0, y);
  }
  FailureOr<Value> result = scale(node, y, addC);
  return failed(result) ? failure() : node.set(0, *result);
}

//===----------------------------------------------------------------------===//
// MatMul
//===----------------------------------------------------------------------===//

/// `value` repeated along its leading dimensions.
static FailureOr<Value> broadcastBatch(const Node &node, Value value,
                                       ArrayRef<int64_t> batch) {
  Shape shape(batch);
  llvm::append_range(shape, shapeOf(value).take_back(2));
  if (shapeOf(value) == ArrayRef<int64_t>(shape)) {
    return value;
  }
  return pointwise(
      node, toOperand(value),
      [](const Scalar &, ArrayRef<Value> v) { return v[0]; }, shape);
}

static LogicalResult buildMatMul(const Node &node) {
  if (failed(node.checkInputs(2, 2)) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  if (node.in(0).element != node.in(1).element || node.rank(0) == 0 ||
      node.rank(1) == 0) {
    return node.error() << "two operands of one element type and at least rank "
                           "1 are expected";
  }
  FailureOr<Value> x = node.value(0);
  FailureOr<Value> w = node.value(1);
  if (failed(x) || failed(w)) {
    return failure();
  }
  // A vector is a row on the left and a column on the right.
  bool rowVector = node.rank(0) == 1;
  bool columnVector = node.rank(1) == 1;
  Value left = rowVector ? node.reshape(*x, {1, shapeOf(*x)[0]}) : *x;
  Value right = columnVector ? node.reshape(*w, {shapeOf(*w)[0], 1}) : *w;
  Factor a = throughTranspose(left, false);
  Factor b = throughTranspose(right, false);
  node.getImporter().refineStart(b.value, Start::he(double(b.rows())));
  if (a.columns() != b.rows()) {
    return node.error() << "its factors do not fit: " << a.columns()
                        << " columns and " << b.rows() << " rows";
  }
  std::optional<Shape> batch = broadcastShapes(a.batch(), b.batch());
  if (!batch) {
    return node.error() << "its leading dimensions do not broadcast";
  }
  Shape shape = *batch;
  if (!rowVector) {
    shape.push_back(a.rows());
  }
  if (!columnVector) {
    shape.push_back(b.columns());
  }
  if (!countElements(shape)) {
    return node.error() << "its result has too many elements";
  }
  if (b.rank() == 2 && a.rank() > 2) {
    // One matrix for all: the leading dimensions are rows as well.
    Shape flat = {*countElements(shapeOf(left).drop_back()), a.columns()};
    a = {node.reshape(left, flat), false};
  } else {
    FailureOr<Value> wideA = broadcastBatch(node, a.value, *batch);
    FailureOr<Value> wideB = broadcastBatch(node, b.value, *batch);
    if (failed(wideA) || failed(wideB)) {
      return failure();
    }
    a.value = *wideA;
    b.value = *wideB;
  }
  Value y = product(node, a, b, Value());
  return node.set(0, node.reshape(y, shape));
}

ArrayRef<Entry> vdnn::onnx::matMulEntries() {
  static constexpr Entry entries[] = {{"Gemm", 6, 23, buildGemm},
                                      {"MatMul", 1, 23, buildMatMul}};
  return entries;
}
