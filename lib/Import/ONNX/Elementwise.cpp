//===- Elementwise.cpp - arithmetic and activations, one table ------------===//

#include "Fold.h"
#include "Pointwise.h"
#include "Table.h"

#include <numbers>

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

using Values = ArrayRef<Value>;

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

static Value number(const Scalar &s, Value like, double value) {
  return s.constant(like.getType(), value);
}

/// 1 / (1 + exp(-x))
static Value sigmoid(const Scalar &s, Value x) {
  Value one = number(s, x, 1);
  Value power = s.make<math::ExpOp>(s.make<arith::NegFOp>(x));
  return s.make<arith::DivFOp>(one, s.make<arith::AddFOp>(one, power));
}

/// `x` where it is positive, else `other`.
static Value ifPositive(const Scalar &s, Value x, Value other) {
  return s.select(s.compare(arith::CmpFPredicate::OGT, x, number(s, x, 0)), x,
                  other);
}

static Value clamp(const Scalar &s, Value x, double low, double high) {
  return s.make<arith::MinimumFOp>(
      s.make<arith::MaximumFOp>(x, number(s, x, low)), number(s, x, high));
}

/// exp(x) - 1 of a non-positive x.
static Value expMinusOne(const Scalar &s, Value x) {
  return s.make<arith::SubFOp>(s.make<math::ExpOp>(x), number(s, x, 1));
}

static Value elu(const Scalar &s, Value x, double alpha) {
  // The exponential of a large x would be infinite, and its gradient no number.
  Value low = s.make<arith::MinimumFOp>(x, number(s, x, 0));
  return ifPositive(
      s, x, s.make<arith::MulFOp>(number(s, x, alpha), expMinusOne(s, low)));
}

static Value hardSigmoid(const Scalar &s, Value x, double alpha, double beta) {
  Value line = s.make<arith::AddFOp>(
      s.make<arith::MulFOp>(x, number(s, x, alpha)), number(s, x, beta));
  return clamp(s, line, 0, 1);
}

/// log(1 + exp(x)), without overflow.
static Value softplus(const Scalar &s, Value x) {
  Value small =
      s.make<math::ExpOp>(s.make<arith::NegFOp>(s.make<math::AbsFOp>(x)));
  Value log =
      s.make<math::LogOp>(s.make<arith::AddFOp>(small, number(s, x, 1)));
  return s.make<arith::AddFOp>(s.make<arith::MaximumFOp>(x, number(s, x, 0)),
                               log);
}

static Value gelu(const Scalar &s, Value x) {
  Value half = s.make<arith::MulFOp>(x, number(s, x, 0.5));
  Value one = number(s, x, 1);
  if (s.node.text("approximate", "none") == "tanh") {
    Value cube = s.make<arith::MulFOp>(x, s.make<arith::MulFOp>(x, x));
    Value sum = s.make<arith::AddFOp>(
        x, s.make<arith::MulFOp>(cube, number(s, x, 0.044715)));
    Value inner = s.make<arith::MulFOp>(
        sum, number(s, x, std::sqrt(2 * std::numbers::inv_pi)));
    return s.make<arith::MulFOp>(
        half, s.make<arith::AddFOp>(one, s.make<math::TanhOp>(inner)));
  }
  Value erf = s.make<math::ErfOp>(
      s.make<arith::MulFOp>(x, number(s, x, 1 / std::numbers::sqrt2)));
  return s.make<arith::MulFOp>(half, s.make<arith::AddFOp>(one, erf));
}

struct Unary {
  StringLiteral op;
  int64_t first; ///< opset
  Value (*apply)(const Scalar &, Value);
};

static constexpr Unary unaries[] = {
    {"Relu", 6,
     [](const Scalar &s, Value x) {
       return s.make<arith::MaximumFOp>(x, number(s, x, 0));
     }},
    {"Sigmoid", 6, sigmoid},
    {"Tanh", 6,
     [](const Scalar &s, Value x) { return s.make<math::TanhOp>(x); }},
    {"Exp", 6, [](const Scalar &s, Value x) { return s.make<math::ExpOp>(x); }},
    {"Log", 6, [](const Scalar &s, Value x) { return s.make<math::LogOp>(x); }},
    {"Sqrt", 6,
     [](const Scalar &s, Value x) { return s.make<math::SqrtOp>(x); }},
    {"Erf", 9, [](const Scalar &s, Value x) { return s.make<math::ErfOp>(x); }},
    {"Floor", 6,
     [](const Scalar &s, Value x) { return s.make<math::FloorOp>(x); }},
    {"Ceil", 6,
     [](const Scalar &s, Value x) { return s.make<math::CeilOp>(x); }},
    {"Neg", 6,
     [](const Scalar &s, Value x) { return s.make<arith::NegFOp>(x); }},
    {"Abs", 6,
     [](const Scalar &s, Value x) { return s.make<math::AbsFOp>(x); }},
    {"Reciprocal", 6,
     [](const Scalar &s, Value x) {
       return s.make<arith::DivFOp>(number(s, x, 1), x);
     }},
    {"Softplus", 1, softplus},
    {"Softsign", 1,
     [](const Scalar &s, Value x) {
       Value scale =
           s.make<arith::AddFOp>(s.make<math::AbsFOp>(x), number(s, x, 1));
       return s.make<arith::DivFOp>(x, scale);
     }},
    {"LeakyRelu", 6,
     [](const Scalar &s, Value x) {
       double slope = s.node.number("alpha", 0.01);
       return ifPositive(s, x, s.make<arith::MulFOp>(x, number(s, x, slope)));
     }},
    {"Elu", 6,
     [](const Scalar &s, Value x) {
       return elu(s, x, s.node.number("alpha", 1));
     }},
    {"Selu", 6,
     [](const Scalar &s, Value x) {
       double alpha = s.node.number("alpha", 1.67326319217681884765625);
       double gamma = s.node.number("gamma", 1.05070102214813232421875);
       return s.make<arith::MulFOp>(elu(s, x, alpha), number(s, x, gamma));
     }},
    {"ThresholdedRelu", 10,
     [](const Scalar &s, Value x) {
       Value limit = number(s, x, s.node.number("alpha", 1));
       return s.select(s.compare(arith::CmpFPredicate::OGT, x, limit), x,
                       number(s, x, 0));
     }},
    {"HardSigmoid", 6,
     [](const Scalar &s, Value x) {
       return hardSigmoid(s, x, s.node.number("alpha", 0.2),
                          s.node.number("beta", 0.5));
     }},
    {"HardSwish", 14,
     [](const Scalar &s, Value x) {
       return s.make<arith::MulFOp>(x, hardSigmoid(s, x, 1. / 6, 0.5));
     }},
    {"Gelu", 20, gelu}};

static LogicalResult buildUnary(const Node &node) {
  if (failed(node.checkInputs(1, 1)) ||
      failed(checkArithmetic(node, node.in(0).element, true))) {
    return failure();
  }
  const auto *entry = llvm::find_if(
      unaries, [&](const Unary &unary) { return unary.op == node.op(); });
  FailureOr<Operand> x = readOperand(node, 0);
  if (failed(x)) {
    return failure();
  }
  FailureOr<Value> y = pointwise(node, *x, [&](const Scalar &s, Values v) {
    return entry->apply(s, v[0]);
  });
  return failed(y) ? failure() : node.set(0, *y);
}

//===----------------------------------------------------------------------===//
// Functions of several numbers
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
static Value either(const Scalar &s, Value a, Value b) {
  if (isa<FloatType>(a.getType())) {
    return s.make<FloatOp>(a, b);
  }
  return s.node.in(0).element.isUnsignedInteger() ? s.make<UnsignedOp>(a, b)
                                                  : s.make<SignedOp>(a, b);
}

static Value smaller(const Scalar &s, Value a, Value b) {
  return either<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(s, a, b);
}

static Value larger(const Scalar &s, Value a, Value b) {
  return either<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(s, a, b);
}

/// The remainder of a division, with the sign of the dividend.
static Value remainder(const Scalar &s, Value a, Value b) {
  return either<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(s, a, b);
}

static Value modulo(const Scalar &s, Value a, Value b) {
  Value rest = remainder(s, a, b);
  if (s.node.integer("fmod", 0) != 0 ||
      s.node.in(0).element.isUnsignedInteger()) {
    return rest;
  }
  // With the sign of the divisor.
  Value zero = number(s, rest, 0);
  Value isWrong =
      s.make<arith::AndIOp>(s.compare(arith::CmpIPredicate::ne, rest, zero),
                            s.compare(arith::CmpIPredicate::slt,
                                      s.make<arith::XOrIOp>(rest, b), zero));
  return s.select(isWrong, s.make<arith::AddIOp>(rest, b), rest);
}

static Value combine(const Scalar &s, Value a, Value b) {
  StringRef op = s.node.op();
  if (op == "Add" || op == "Sum" || op == "Mean") {
    return either<arith::AddFOp, arith::AddIOp>(s, a, b);
  }
  if (op == "Sub") {
    return either<arith::SubFOp, arith::SubIOp>(s, a, b);
  }
  if (op == "Mul") {
    return either<arith::MulFOp, arith::MulIOp>(s, a, b);
  }
  if (op == "Div") {
    return either<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(s, a, b);
  }
  if (op == "Mod") {
    return modulo(s, a, b);
  }
  return op == "Min" ? smaller(s, a, b) : larger(s, a, b);
}

/// Before opset 7 the second operand was aligned by an attribute `axis`.
static void alignOldBroadcast(const Node &node,
                              MutableArrayRef<Operand> operands) {
  if (node.opset() >= 7 || operands.size() != 2 || !node.attribute("axis")) {
    return;
  }
  int64_t axis = node.integer("axis", 0);
  int64_t rank = node.rank(0);
  Operand &b = operands[1];
  int64_t trailing = rank - axis - int64_t(b.shape.size());
  if (axis < 0 || trailing <= 0 || trailing > rank) {
    return;
  }
  b.shape.append(trailing, 1);
  if (b.value) {
    b.value = node.reshape(b.value, b.shape);
  }
}

static LogicalResult buildVariadic(const Node &node) {
  if (failed(node.checkInputs(1, 1 << 20)) ||
      failed(checkArithmetic(node, node.in(0).element, node.op() == "Mean"))) {
    return failure();
  }
  FailureOr<SmallVector<Operand>> operands = readOperands(node);
  if (failed(operands)) {
    return failure();
  }
  alignOldBroadcast(node, *operands);
  FailureOr<Value> y = pointwise(
      node, *operands,
      [&](const Scalar &s, Values v) {
        Value result = v[0];
        for (Value next : v.drop_front()) {
          result = combine(s, result, next);
        }
        if (node.op() == "Mean") {
          result = s.make<arith::DivFOp>(result,
                                         number(s, result, double(v.size())));
        }
        return result;
      },
      {}, node.in(0).element);
  return failed(y) ? failure() : node.set(0, *y);
}

static LogicalResult buildBinary(const Node &node) {
  return failed(node.checkInputs(2, 2)) ? failure() : buildVariadic(node);
}

static LogicalResult buildMod(const Node &node) {
  if (failed(node.checkInputs(2, 2))) {
    return failure();
  }
  if (node.in(0).isFloat() && node.integer("fmod", 0) == 0) {
    return node.unsupported("fmod=0 on floating-point numbers", "fmod=1");
  }
  return buildVariadic(node);
}

/// A power with a small constant exponent is exact, and so is its gradient.
static Value power(const Scalar &s, Value x, Value exponent) {
  auto constant = exponent.getDefiningOp<arith::ConstantOp>();
  auto value = constant ? dyn_cast<FloatAttr>(constant.getValue()) : nullptr;
  if (value && value.getValueAsDouble() == 2) {
    return s.make<arith::MulFOp>(x, x);
  }
  if (value && value.getValueAsDouble() == 3) {
    return s.make<arith::MulFOp>(x, s.make<arith::MulFOp>(x, x));
  }
  if (value && value.getValueAsDouble() == 0.5) {
    return s.make<math::SqrtOp>(x);
  }
  return s.make<math::PowFOp>(x, exponent);
}

/// A power of operands of the types `base` and `exponent`, as a `base`.
static Value mixedPower(const Scalar &s, Value x, Type base, Value y,
                        Type exponent) {
  if (base == exponent && isa<FloatType>(base)) {
    return power(s, x, y);
  }
  Type inner = base;
  if (!isa<FloatType>(base)) {
    // Between integers powers are exact, and wrap; those of a fraction are
    // computed in double precision.
    inner = isa<FloatType>(exponent) ? Type(s.builder.getF64Type())
                                     : s.builder.getI64Type();
  } else if (isa<FloatType>(exponent) &&
             exponent.getIntOrFloatBitWidth() > base.getIntOrFloatBitWidth()) {
    inner = exponent;
  }
  Value a = s.convert(x, base, inner);
  Value b = s.convert(y, exponent, inner);
  Value result =
      isa<FloatType>(inner) ? power(s, a, b) : s.make<math::IPowIOp>(a, b);
  return s.convert(result, inner, base);
}

static LogicalResult buildPow(const Node &node) {
  if (failed(node.checkInputs(2, 2)) ||
      failed(checkArithmetic(node, node.in(0).element, false)) ||
      failed(checkArithmetic(node, node.in(1).element, false))) {
    return failure();
  }
  SmallVector<Operand, 2> operands;
  for (size_t i = 0; i < 2; ++i) {
    FailureOr<Operand> operand = readOperand(node, i);
    if (failed(operand)) {
      return failure();
    }
    operands.push_back(*operand);
  }
  alignOldBroadcast(node, operands);
  Type base = operands[0].element;
  Operand &exponent = operands[1];
  if (isa<FloatType>(base) && !exponent.value) {
    exponent.number =
        FloatAttr::get(toScalarType(base), node.constant(1)->number(0));
    exponent.element = base;
  }
  FailureOr<Value> y = pointwise(
      node, operands,
      [&](const Scalar &s, Values v) {
        return mixedPower(s, v[0], base, v[1], exponent.element);
      },
      {}, base);
  return failed(y) ? failure() : node.set(0, *y);
}

static LogicalResult buildClip(const Node &node) {
  if (failed(node.checkInputs(1, 3)) ||
      failed(checkArithmetic(node, node.in(0).element, false))) {
    return failure();
  }
  SmallVector<Operand, 3> operands;
  for (size_t i = 0; i < node.inputs(); ++i) {
    if (node.has(i)) {
      FailureOr<Operand> operand = readOperand(node, i);
      if (failed(operand)) {
        return failure();
      }
      if (operand->element != node.in(0).element ||
          (i > 0 && *countElements(operand->shape) != 1)) {
        return node.error() << "its limits must be scalars of its input's type";
      }
      operands.push_back(*operand);
    }
  }
  bool attributes = node.opset() < 11;
  FailureOr<Value> y = pointwise(
      node, operands,
      [&](const Scalar &s, Values v) {
        Value x = v[0];
        size_t next = 1;
        if (attributes && node.attribute("min")) {
          x = s.make<arith::MaximumFOp>(x, number(s, x, node.number("min", 0)));
        } else if (node.has(1)) {
          x = larger(s, x, v[next++]);
        }
        if (attributes && node.attribute("max")) {
          x = s.make<arith::MinimumFOp>(x, number(s, x, node.number("max", 0)));
        } else if (node.has(2)) {
          x = smaller(s, x, v[next]);
        }
        return x;
      },
      {}, node.in(0).element);
  return failed(y) ? failure() : node.set(0, *y);
}

/// Functions that also work on integers: negation and absolute value.
static LogicalResult buildSigned(const Node &node) {
  if (failed(node.checkInputs(1, 1))) {
    return failure();
  }
  if (node.in(0).isFloat()) {
    return buildUnary(node);
  }
  if (node.in(0).element.isUnsignedInteger() && node.op() == "Abs") {
    return node.forward(0, 0);
  }
  FailureOr<Operand> x = readOperand(node, 0);
  if (failed(x) || failed(checkArithmetic(node, x->element, false))) {
    return failure();
  }
  FailureOr<Value> y = pointwise(node, *x, [&](const Scalar &s, Values v) {
    Value minus = s.make<arith::SubIOp>(number(s, v[0], 0), v[0]);
    return node.op() == "Neg" ? minus : s.make<arith::MaxSIOp>(v[0], minus);
  });
  return failed(y) ? failure() : node.set(0, *y);
}

ArrayRef<Entry> vdnn::onnx::elementwiseEntries() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> result = {{"Add", 6, 23, buildBinary, foldArithmetic},
                                 {"Sub", 6, 23, buildBinary, foldArithmetic},
                                 {"Mul", 6, 23, buildBinary, foldArithmetic},
                                 {"Div", 6, 23, buildBinary, foldArithmetic},
                                 {"Min", 6, 23, buildVariadic, foldArithmetic},
                                 {"Max", 6, 23, buildVariadic, foldArithmetic},
                                 {"Sum", 6, 23, buildVariadic, foldArithmetic},
                                 {"Mean", 6, 23, buildVariadic},
                                 {"Mod", 10, 23, buildMod, foldArithmetic},
                                 {"Pow", 1, 23, buildPow, foldArithmetic},
                                 {"Clip", 6, 23, buildClip}};
    for (const Unary &unary : unaries) {
      if (unary.op == "Neg" || unary.op == "Abs") {
        result.push_back({unary.op, unary.first, 23, buildSigned, foldUnary});
      } else if (unary.op == "Sqrt" || unary.op == "Floor" ||
                 unary.op == "Ceil" || unary.op == "Reciprocal") {
        result.push_back({unary.op, unary.first, 23, buildUnary, foldUnary});
      } else {
        result.push_back({unary.op, unary.first, 23, buildUnary});
      }
    }
    return result;
  }();
  return entries;
}
