//===- FoldScalar.cpp - arithmetic on constants ---------------------------===//

#include "Fold.h"

#include <cmath>

using namespace mlir;
using namespace vdnn::onnx;

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

/// Integers are held with 64 bits and a sign.
static LogicalResult checkSize(const Node &node, const HostTensor &tensor) {
  bool fits = !tensor.element.isUnsignedInteger(64) ||
              llvm::all_of(tensor.integers, [](int64_t n) { return n >= 0; });
  return fits ? success()
              : node.unsupported("a constant of 2^63 or more",
                                 "smaller unsigned integers");
}

/// All operands under the shape of the result.
static FailureOr<std::vector<HostTensor>>
readOperands(const Node &node, size_t least, size_t most) {
  if (failed(node.checkInputs(least, most))) {
    return failure();
  }
  Shape shape;
  for (size_t i = 0; i < node.inputs(); ++i) {
    if (!node.has(i)) {
      return node.error() << "input " << i << " is left out, but is required";
    }
    std::optional<Shape> joined = broadcastShapes(shape, node.in(i).shape);
    if (!joined) {
      return node.error() << "has operands whose shapes do not broadcast";
    }
    shape = *joined;
  }
  bool allSplat = true;
  for (size_t i = 0; i < node.inputs(); ++i) {
    if (failed(checkSize(node, *node.in(i).constant))) {
      return failure();
    }
    allSplat &= node.in(i).constant->splat;
  }
  std::optional<int64_t> count = countElements(shape);
  if (!count || (!allSplat && *count > maxFoldedElements)) {
    return node.error() << "its result has too many elements to compute from "
                           "constants; at most "
                        << maxFoldedElements << " are accepted";
  }
  std::vector<HostTensor> operands;
  for (size_t i = 0; i < node.inputs(); ++i) {
    operands.push_back(*node.in(i).constant->broadcast(shape));
  }
  return operands;
}

/// Applies one of two functions to the elements, by the type of operand
/// `typed`. The result's type is `element`.
template <typename OfNumbers, typename OfIntegers>
static LogicalResult
apply(const Node &node, const std::vector<HostTensor> &operands, size_t typed,
      Type element, OfNumbers ofNumbers, OfIntegers ofIntegers) {
  HostTensor result;
  result.element = element;
  result.shape = operands[0].shape;
  result.splat = llvm::all_of(
      operands, [](const HostTensor &operand) { return operand.splat; });
  bool toFloat = result.isFloat();
  int64_t held = result.splat ? 1 : result.size();
  for (int64_t i = 0; i < held; ++i) {
    if (operands[typed].isFloat()) {
      double value = ofNumbers(i);
      if (toFloat) {
        result.numbers.push_back(roundTo(element, value));
      } else {
        result.integers.push_back(int64_t(value));
      }
    } else {
      std::optional<int64_t> value = ofIntegers(i);
      if (!value) {
        return node.error() << "divides by zero";
      }
      result.integers.push_back(*value);
    }
  }
  if (!toFloat) {
    result = result.cast(element); // wraps to the width
  }
  return node.set(0, std::move(result));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static double combine(StringRef op, double a, double b) {
  if (op == "Add" || op == "Sum") {
    return a + b;
  }
  if (op == "Sub") {
    return a - b;
  }
  if (op == "Mul") {
    return a * b;
  }
  if (op == "Div") {
    return a / b;
  }
  if (op == "Pow") {
    return std::pow(a, b);
  }
  if (op == "Mod" || op == "Remainder") {
    return std::fmod(a, b);
  }
  return op == "Min" ? std::min(a, b) : std::max(a, b);
}

/// Wraps around as two's complement does.
static std::optional<int64_t> combine(StringRef op, int64_t a, int64_t b) {
  if (op == "Add" || op == "Sum") {
    return int64_t(uint64_t(a) + uint64_t(b));
  }
  if (op == "Sub") {
    return int64_t(uint64_t(a) - uint64_t(b));
  }
  if (op == "Mul") {
    return int64_t(uint64_t(a) * uint64_t(b));
  }
  if (op == "Div" || op == "Mod" || op == "Remainder") {
    if (b == 0) {
      return std::nullopt;
    }
    if (b == -1) {
      return op == "Div" ? int64_t(0 - uint64_t(a)) : 0;
    }
    // The modulus has the sign of the divisor, unlike C++'s remainder.
    return op == "Div"                          ? a / b
           : op == "Remainder"                  ? a % b
           : (a % b != 0 && (a < 0) != (b < 0)) ? a % b + b
                                                : a % b;
  }
  if (op == "Pow") {
    double power = std::pow(double(a), double(b));
    return std::abs(power) < 0x1p63 ? int64_t(power) : 0;
  }
  return op == "Min" ? std::min(a, b) : std::max(a, b);
}

/// The integer part; 0 where it is none of 64 bits.
static int64_t truncate(double value) {
  return std::abs(value) < 0x1p63 ? int64_t(value) : 0;
}

LogicalResult vdnn::onnx::foldArithmetic(const Node &node) {
  FailureOr<std::vector<HostTensor>> operands =
      ::readOperands(node, 1, 1 << 20);
  if (failed(operands)) {
    return failure();
  }
  bool keepsSign = node.op() == "Mod" && node.integer("fmod", 0) != 0;
  StringRef op = keepsSign ? "Remainder" : node.op();
  return apply(
      node, *operands, 0, node.in(0).element,
      [&](int64_t i) {
        double result = (*operands)[0].number(i);
        for (size_t k = 1; k < operands->size(); ++k) {
          result = combine(op, result, (*operands)[k].number(i));
        }
        return result;
      },
      [&](int64_t i) {
        std::optional<int64_t> result = (*operands)[0].integer(i);
        for (size_t k = 1; k < operands->size() && result; ++k) {
          const HostTensor &next = (*operands)[k];
          result = combine(op, *result,
                           next.isFloat() ? truncate(next.number(i))
                                          : next.integer(i));
        }
        return result;
      });
}

LogicalResult vdnn::onnx::foldUnary(const Node &node) {
  FailureOr<std::vector<HostTensor>> operands = ::readOperands(node, 1, 1);
  if (failed(operands)) {
    return failure();
  }
  const HostTensor &x = operands->front();
  StringRef op = node.op();
  return apply(
      node, *operands, 0, x.element,
      [&](int64_t i) {
        double value = x.number(i);
        return op == "Neg"          ? -value
               : op == "Abs"        ? std::abs(value)
               : op == "Sqrt"       ? std::sqrt(value)
               : op == "Floor"      ? std::floor(value)
               : op == "Reciprocal" ? 1 / value
                                    : std::ceil(value);
      },
      [&](int64_t i) -> std::optional<int64_t> {
        int64_t value = x.integer(i);
        bool flip = op == "Neg" || (op == "Abs" && value < 0);
        return flip ? int64_t(0 - uint64_t(value)) : value;
      });
}

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//

template <typename T>
static bool compare(StringRef op, T a, T b) {
  return op == "Equal"            ? a == b
         : op == "Greater"        ? a > b
         : op == "GreaterOrEqual" ? a >= b
         : op == "Less"           ? a < b
                                  : a <= b;
}

LogicalResult vdnn::onnx::foldComparison(const Node &node) {
  FailureOr<std::vector<HostTensor>> operands = ::readOperands(node, 2, 2);
  if (failed(operands)) {
    return failure();
  }
  const HostTensor &a = operands->front();
  const HostTensor &b = operands->back();
  if (a.element != b.element) {
    return node.error() << "has operands of different element types";
  }
  return apply(
      node, *operands, 0, node.builder().getI1Type(),
      [&](int64_t i) {
        return double(compare(node.op(), a.number(i), b.number(i)));
      },
      [&](int64_t i) -> std::optional<int64_t> {
        return compare(node.op(), a.integer(i), b.integer(i));
      });
}

LogicalResult vdnn::onnx::foldLogic(const Node &node) {
  size_t count = node.op() == "Not" ? 1 : 2;
  FailureOr<std::vector<HostTensor>> operands =
      ::readOperands(node, count, count);
  if (failed(operands)) {
    return failure();
  }
  const HostTensor &a = operands->front();
  const HostTensor &b = operands->back();
  if (!a.element.isInteger(1) || !b.element.isInteger(1)) {
    return node.error() << "its operands must be booleans";
  }
  return apply(
      node, *operands, 0, a.element, [](int64_t) { return 0.0; },
      [&](int64_t i) -> std::optional<int64_t> {
        int64_t x = a.integer(i);
        int64_t y = b.integer(i);
        return node.op() == "Not"   ? !x
               : node.op() == "And" ? x & y
               : node.op() == "Or"  ? x | y
                                    : x ^ y;
      });
}

LogicalResult vdnn::onnx::foldWhere(const Node &node) {
  FailureOr<std::vector<HostTensor>> operands = ::readOperands(node, 3, 3);
  if (failed(operands)) {
    return failure();
  }
  const HostTensor &condition = (*operands)[0];
  const HostTensor &a = (*operands)[1];
  const HostTensor &b = (*operands)[2];
  if (!condition.element.isInteger(1) || a.element != b.element) {
    return node.error() << "a boolean and two operands of one element type are "
                           "expected";
  }
  return apply(
      node, *operands, 1, a.element,
      [&](int64_t i) {
        return condition.integer(i) ? a.number(i) : b.number(i);
      },
      [&](int64_t i) -> std::optional<int64_t> {
        return condition.integer(i) ? a.integer(i) : b.integer(i);
      });
}

//===----------------------------------------------------------------------===//
// Types and sequences
//===----------------------------------------------------------------------===//

FailureOr<Type> vdnn::onnx::castTarget(const Node &node) {
  if (node.op() == "CastLike") {
    if (failed(node.checkInputs(2, 2))) {
      return failure();
    }
    return node.in(1).element;
  }
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  int32_t target = int32_t(node.integer("to", 0));
  Type element = elementType(node.builder().getContext(), target);
  if (!element) {
    return node.unsupported("the type " + dataTypeName(target),
                            "FLOAT, DOUBLE, FLOAT16, BFLOAT16, INT64, INT32, "
                            "INT16, INT8, UINT64, UINT32, UINT16, UINT8, "
                            "BOOL");
  }
  return element;
}

LogicalResult vdnn::onnx::foldCast(const Node &node) {
  FailureOr<Type> target = castTarget(node);
  if (failed(target) || failed(checkSize(node, *node.in(0).constant))) {
    return failure();
  }
  return node.set(0, node.in(0).constant->cast(*target));
}

LogicalResult vdnn::onnx::foldRange(const Node &node) {
  if (failed(node.checkInputs(3, 3))) {
    return failure();
  }
  const HostTensor &start = *node.in(0).constant;
  if (node.in(1).element != start.element ||
      node.in(2).element != start.element) {
    return node.error() << "has operands of different element types";
  }
  double step = node.in(2).constant->number(0);
  double count =
      std::ceil((node.in(1).constant->number(0) - start.number(0)) / step);
  if (!(count >= 1 && count <= double(maxFoldedElements))) {
    return node.error() << "its result must have 1 to " << maxFoldedElements
                        << " elements";
  }
  HostTensor result;
  result.element = start.element;
  result.shape = {int64_t(count)};
  result.splat = count == 1;
  for (int64_t i = 0; i < int64_t(count); ++i) {
    if (result.isFloat()) {
      result.numbers.push_back(
          roundTo(result.element, start.number(0) + double(i) * step));
    } else {
      result.integers.push_back(
          int64_t(uint64_t(start.integer(0)) +
                  uint64_t(i) * uint64_t(node.in(2).constant->integer(0))));
    }
  }
  return node.set(0, std::move(result));
}
