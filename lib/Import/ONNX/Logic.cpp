//===- Logic.cpp - comparison, choice and conversion ----------------------===//

#include "Fold.h"
#include "Pointwise.h"
#include "Table.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

using Values = ArrayRef<Value>;

static LogicalResult buildComparison(const Node &node) {
  if (failed(node.checkInputs(2, 2))) {
    return failure();
  }
  StringRef op = node.op();
  // Booleans can only be compared for equality.
  if (!(op == "Equal" && node.in(0).element.isInteger(1)) &&
      failed(checkArithmetic(node, node.in(0).element, false))) {
    return failure();
  }
  FailureOr<SmallVector<Operand>> operands = readOperands(node);
  if (failed(operands)) {
    return failure();
  }
  FailureOr<Value> y =
      pointwise(node, *operands, [&](const Scalar &s, Values v) {
        using F = arith::CmpFPredicate;
        using I = arith::CmpIPredicate;
        if (isa<FloatType>(v[0].getType())) {
          F predicate = op == "Equal"            ? F::OEQ
                        : op == "Greater"        ? F::OGT
                        : op == "GreaterOrEqual" ? F::OGE
                        : op == "Less"           ? F::OLT
                                                 : F::OLE;
          return s.compare(predicate, v[0], v[1]);
        }
        if (node.in(0).element.isUnsignedInteger()) {
          I predicate = op == "Equal"            ? I::eq
                        : op == "Greater"        ? I::ugt
                        : op == "GreaterOrEqual" ? I::uge
                        : op == "Less"           ? I::ult
                                                 : I::ule;
          return s.compare(predicate, v[0], v[1]);
        }
        I predicate = op == "Equal"            ? I::eq
                      : op == "Greater"        ? I::sgt
                      : op == "GreaterOrEqual" ? I::sge
                      : op == "Less"           ? I::slt
                                               : I::sle;
        return s.compare(predicate, v[0], v[1]);
      });
  return failed(y) ? failure() : node.set(0, *y);
}

static LogicalResult buildLogic(const Node &node) {
  size_t count = node.op() == "Not" ? 1 : 2;
  if (failed(node.checkInputs(count, count))) {
    return failure();
  }
  if (!node.in(0).element.isInteger(1)) {
    return node.error() << "its operands must be booleans";
  }
  FailureOr<SmallVector<Operand>> operands = readOperands(node);
  if (failed(operands)) {
    return failure();
  }
  FailureOr<Value> y =
      pointwise(node, *operands, [&](const Scalar &s, Values v) -> Value {
        if (node.op() == "And") {
          return s.make<arith::AndIOp>(v[0], v[1]);
        }
        if (node.op() == "Or") {
          return s.make<arith::OrIOp>(v[0], v[1]);
        }
        return s.make<arith::XOrIOp>(
            v[0], count == 2 ? v[1] : s.constant(v[0].getType(), 1));
      });
  return failed(y) ? failure() : node.set(0, *y);
}

static LogicalResult buildWhere(const Node &node) {
  if (failed(node.checkInputs(3, 3))) {
    return failure();
  }
  if (!node.in(0).element.isInteger(1) ||
      node.in(1).element != node.in(2).element) {
    return node.error() << "a boolean and two operands of one element type are "
                           "expected";
  }
  SmallVector<Operand, 3> operands;
  for (size_t i = 0; i < 3; ++i) {
    FailureOr<Operand> operand = readOperand(node, i);
    if (failed(operand)) {
      return failure();
    }
    operands.push_back(*operand);
  }
  FailureOr<Value> y = pointwise(
      node, operands,
      [](const Scalar &s, Values v) { return s.select(v[0], v[1], v[2]); }, {},
      operands[1].element);
  return failed(y) ? failure() : node.set(0, *y);
}

static LogicalResult buildCast(const Node &node) {
  FailureOr<Type> target = castTarget(node);
  if (failed(target)) {
    return failure();
  }
  if (*target == node.in(0).element) {
    return node.forward(0, 0);
  }
  FailureOr<Operand> x = readOperand(node, 0);
  if (failed(x)) {
    return failure();
  }
  FailureOr<Value> y = pointwise(
      node, *x,
      [&](const Scalar &s, Values v) {
        return s.convert(v[0], node.in(0).element, *target);
      },
      {}, *target);
  return failed(y) ? failure() : node.set(0, *y);
}

ArrayRef<Entry> vdnn::onnx::logicEntries() {
  static constexpr Entry entries[] = {
      {"Equal", 7, 23, buildComparison, foldComparison},
      {"Greater", 7, 23, buildComparison, foldComparison},
      {"GreaterOrEqual", 12, 23, buildComparison, foldComparison},
      {"Less", 7, 23, buildComparison, foldComparison},
      {"LessOrEqual", 12, 23, buildComparison, foldComparison},
      {"And", 7, 23, buildLogic, foldLogic},
      {"Or", 7, 23, buildLogic, foldLogic},
      {"Xor", 7, 23, buildLogic, foldLogic},
      {"Not", 1, 23, buildLogic, foldLogic},
      {"Where", 9, 23, buildWhere, foldWhere},
      {"Cast", 6, 23, buildCast, foldCast},
      {"CastLike", 15, 23, buildCast, foldCast}};
  return entries;
}
