//===- Reduce.cpp - reductions over axes ----------------------------------===//

#include "Fold.h"
#include "Pointwise.h"
#include "Slicing.h"
#include "Table.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

FailureOr<Reduced> vdnn::onnx::readReduce(const Node &node) {
  if (failed(node.checkInputs(1, 2))) {
    return failure();
  }
  // The axes became an operand in opset 13 (sum) and 18 (the others).
  int64_t since = node.op() == "ReduceSum" ? 13 : 18;
  std::optional<Shape> given = node.list("axes");
  if (node.opset() >= since && node.has(1)) {
    FailureOr<Shape> operand = node.integers(1, "axes");
    if (failed(operand)) {
      return failure();
    }
    given = *operand;
  }
  FailureOr<Shape> axes =
      node.normalizeAxes(given.value_or(Shape()), node.rank(0));
  if (failed(axes)) {
    return failure();
  }
  if (axes->empty() && node.integer("noop_with_empty_axes", 0) == 0) {
    for (int64_t i = 0; i < node.rank(0); ++i) {
      axes->push_back(i);
    }
  }
  Reduced reduced{*axes, {}};
  bool keep = node.integer("keepdims", 1) != 0;
  for (auto [i, size] : llvm::enumerate(node.in(0).shape)) {
    if (!llvm::is_contained(*axes, int64_t(i))) {
      reduced.shape.push_back(size);
    } else if (keep) {
      reduced.shape.push_back(1);
    }
  }
  return reduced;
}

static Value reduce(const Node &node, Value x, Reduction kind,
                    ArrayRef<int64_t> axes) {
  if (axes.empty()) {
    return x;
  }
  Shape shape(shapeOf(x));
  for (int64_t axis : axes) {
    shape[axis] = 1;
  }
  return node.builder().create<ReduceOp>(
      node.loc(), RankedTensorType::get(shape, elementOf(x)), x, kind, axes);
}

/// `body` of one operand that is known to broadcast.
static Value apply(const Node &node, Value x, Body body) {
  return *pointwise(node, toOperand(x), body);
}

static Reduction kindOf(StringRef op) {
  return llvm::StringSwitch<Reduction>(op)
      .Case("ReduceMean", Reduction::Mean)
      .Case("ReduceMax", Reduction::Max)
      .Case("ReduceMin", Reduction::Min)
      .Case("ReduceProd", Reduction::Prod)
      .Cases("ReduceSumSquare", "ReduceL2", Reduction::SumSquare)
      .Default(Reduction::Sum);
}

static LogicalResult buildReduce(const Node &node) {
  FailureOr<Reduced> reduced = readReduce(node);
  if (failed(reduced) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  if (reduced->axes.empty() && node.integer("noop_with_empty_axes", 0) != 0) {
    return node.forward(0, 0);
  }
  StringRef op = node.op();
  Value y = *x;
  if (op == "ReduceL1") {
    y = apply(node, y, [](const Scalar &s, ArrayRef<Value> v) {
      return s.make<math::AbsFOp>(v[0]);
    });
  }
  y = reduce(node, y, kindOf(op), reduced->axes);
  if (op == "ReduceL2") {
    y = apply(node, y, [](const Scalar &s, ArrayRef<Value> v) {
      return s.make<math::SqrtOp>(v[0]);
    });
  } else if (op == "ReduceLogSum") {
    y = apply(node, y, [](const Scalar &s, ArrayRef<Value> v) {
      return s.make<math::LogOp>(v[0]);
    });
  }
  Value result = node.reshape(y, reduced->shape);
  return result == *x ? node.forward(0, 0) : node.set(0, result);
}

/// log(sum(exp(x - max))) + max
static LogicalResult buildReduceLogSumExp(const Node &node) {
  FailureOr<Reduced> reduced = readReduce(node);
  if (failed(reduced) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  FailureOr<Value> x = node.value(0);
  if (failed(x)) {
    return failure();
  }
  Value largest = reduce(node, *x, Reduction::Max, reduced->axes);
  FailureOr<Value> powers =
      pointwise(node, {toOperand(*x), toOperand(largest)},
                [](const Scalar &s, ArrayRef<Value> v) {
                  return s.make<math::ExpOp>(s.make<arith::SubFOp>(v[0], v[1]));
                });
  Value sum = reduce(node, *powers, Reduction::Sum, reduced->axes);
  FailureOr<Value> y =
      pointwise(node, {toOperand(sum), toOperand(largest)},
                [](const Scalar &s, ArrayRef<Value> v) {
                  return s.make<arith::AddFOp>(s.make<math::LogOp>(v[0]), v[1]);
                });
  return node.set(0, node.reshape(*y, reduced->shape));
}

ArrayRef<Entry> vdnn::onnx::reduceEntries() {
  static constexpr Entry entries[] = {
      {"ReduceMean", 1, 23, buildReduce},
      {"ReduceSum", 1, 23, buildReduce, foldReduce},
      {"ReduceMax", 1, 23, buildReduce, foldReduce},
      {"ReduceMin", 1, 23, buildReduce, foldReduce},
      {"ReduceProd", 1, 23, buildReduce, foldReduce},
      {"ReduceSumSquare", 1, 23, buildReduce},
      {"ReduceL1", 1, 23, buildReduce},
      {"ReduceL2", 1, 23, buildReduce},
      {"ReduceLogSum", 1, 23, buildReduce},
      {"ReduceLogSumExp", 1, 23, buildReduceLogSumExp}};
  return entries;
}
