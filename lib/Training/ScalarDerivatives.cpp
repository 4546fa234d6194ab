//===- ScalarDerivatives.cpp - one derivative per scalar op ---------------===//
//
// Where a derivative can be said by the op's result as well as by its operand,
// it is said by the result: the result of a whole pointwise op is mostly kept
// anyway, as somebody's input, and the op may then work in place.
//
//===----------------------------------------------------------------------===//

#include "ScalarProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <numbers>
#include <optional>

using namespace mlir;
using namespace vdnn;

namespace {

/// Scalar arithmetic on values, so that derivatives read like formulas.
struct Scalar {
  Value value;
  ScalarProgram *program;

  Scalar number(double constant) const {
    return {program->constant(value.getType(), constant), program};
  }
  template <typename OpT, typename... Values>
  Scalar emit(Values... operands) const {
    return {program->builder.create<OpT>(program->loc, operands...), program};
  }
  Scalar select(Value condition, Scalar otherwise) const {
    return emit<arith::SelectOp>(condition, value, otherwise.value);
  }
  Value compare(arith::CmpFPredicate predicate, Scalar other) const {
    return program->builder.create<arith::CmpFOp>(program->loc, predicate,
                                                  value, other.value);
  }
};

Scalar operator+(Scalar a, Scalar b) {
  return a.emit<arith::AddFOp>(a.value, b.value);
}
Scalar operator-(Scalar a, Scalar b) {
  return a.emit<arith::SubFOp>(a.value, b.value);
}
Scalar operator*(Scalar a, Scalar b) {
  return a.emit<arith::MulFOp>(a.value, b.value);
}
Scalar operator/(Scalar a, Scalar b) {
  return a.emit<arith::DivFOp>(a.value, b.value);
}
Scalar operator-(Scalar a) { return a.emit<arith::NegFOp>(a.value); }
Scalar operator*(double a, Scalar b) { return b.number(a) * b; }
Scalar operator+(double a, Scalar b) { return b.number(a) + b; }
Scalar operator-(double a, Scalar b) { return b.number(a) - b; }

/// What a derivative sees: the op, the gradient of its result, and forward
/// values by request, so that only what is used is read.
struct Site {
  Operation *op;
  Scalar gradient;

  Scalar operand(unsigned number) const {
    return {gradient.program->forwardValue(op->getOperand(number)),
            gradient.program};
  }
  Scalar result() const {
    return {gradient.program->forwardValue(op->getResult(0)), gradient.program};
  }
  bool wants(unsigned number) const {
    return gradient.program->isWanted(op->getOperand(number));
  }
  void add(unsigned number, Scalar contribution) const {
    gradient.program->add(op->getOperand(number), contribution.value);
  }
};

using Derivative = void (*)(const Site &);

std::optional<double> getConstant(Value scalar) {
  FloatAttr attribute;
  if (matchPattern(scalar, m_Constant(&attribute))) {
    return attribute.getValueAsDouble();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ops of several operands
//===----------------------------------------------------------------------===//

void divide(const Site &at) {
  if (at.wants(0)) {
    at.add(0, at.gradient / at.operand(1));
  }
  if (at.wants(1)) {
    at.add(1, -(at.gradient * at.result() / at.operand(1)));
  }
}

void multiply(const Site &at) {
  for (unsigned number : {0u, 1u}) {
    if (at.wants(number)) {
      at.add(number, at.gradient * at.operand(1 - number));
    }
  }
}

/// Maximum (`predicate` OGT) and minimum (OLT). Against a constant, the result
/// tells which one won, and at a tie the constant takes the gradient, as
/// PyTorch's ReLU has it. Between two values the first one takes it at a tie.
void extremum(const Site &at, arith::CmpFPredicate strict,
              arith::CmpFPredicate loose) {
  Scalar zero = at.gradient.number(0);
  for (unsigned number : {0u, 1u}) {
    if (at.wants(number) && getConstant(at.op->getOperand(1 - number))) {
      Value won = at.result().compare(strict, at.operand(1 - number));
      at.add(number, at.gradient.select(won, zero));
      return;
    }
  }
  Value first = at.operand(0).compare(loose, at.operand(1));
  if (at.wants(0)) {
    at.add(0, at.gradient.select(first, zero));
  }
  if (at.wants(1)) {
    at.add(1, zero.select(first, at.gradient));
  }
}

void maximum(const Site &at) {
  extremum(at, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE);
}

void minimum(const Site &at) {
  extremum(at, arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE);
}

void select(const Site &at) {
  Scalar zero = at.gradient.number(0);
  Value condition = at.operand(0).value;
  if (at.wants(1)) {
    at.add(1, at.gradient.select(condition, zero));
  }
  if (at.wants(2)) {
    at.add(2, zero.select(condition, at.gradient));
  }
}

void power(const Site &at) {
  if (at.wants(0)) {
    std::optional<double> exponent = getConstant(at.op->getOperand(1));
    if (exponent == 2.0) {
      at.add(0, at.gradient * (2.0 * at.operand(0)));
    } else {
      Scalar x = at.operand(0);
      Scalar n = at.operand(1);
      Scalar lower = x.emit<math::PowFOp>(x.value, (n - n.number(1)).value);
      at.add(0, at.gradient * n * lower);
    }
  }
  if (at.wants(1)) {
    Scalar x = at.operand(0);
    at.add(1, at.gradient * at.result() * x.emit<math::LogOp>(x.value));
  }
}

void multiplyAdd(const Site &at) {
  multiply(at);
  at.add(2, at.gradient);
}

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

void absolute(const Site &at) {
  Scalar x = at.operand(0);
  Scalar zero = x.number(0);
  Scalar negative =
      (-at.gradient).select(x.compare(arith::CmpFPredicate::OLT, zero), zero);
  at.add(0, at.gradient.select(x.compare(arith::CmpFPredicate::OGT, zero),
                               negative));
}

void errorFunction(const Site &at) {
  Scalar x = at.operand(0);
  Scalar square = -(x * x);
  at.add(0, at.gradient * (2 * std::numbers::inv_sqrtpi *
                           x.emit<math::ExpOp>(square.value)));
}

/// Adds the gradient divided by the square root of `square`.
void overRoot(const Site &at, Scalar square, double sign) {
  at.add(0, sign * at.gradient / square.emit<math::SqrtOp>(square.value));
}

/// A change of precision.
void cast(const Site &at) {
  Type from = at.op->getOperand(0).getType();
  Scalar gradient = at.gradient;
  bool wider = from.getIntOrFloatBitWidth() >
               gradient.value.getType().getIntOrFloatBitWidth();
  at.add(0, wider ? gradient.emit<arith::ExtFOp>(from, gradient.value)
                  : gradient.emit<arith::TruncFOp>(from, gradient.value));
}

/// Steps and signs: the derivative is zero where there is one.
void zero(const Site &) {}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Table = llvm::StringMap<Derivative>;

void addArithmetic(Table &table) {
  table["arith.addf"] = [](const Site &at) {
    at.add(0, at.gradient);
    at.add(1, at.gradient);
  };
  table["arith.subf"] = [](const Site &at) {
    at.add(0, at.gradient);
    if (at.wants(1)) {
      at.add(1, -at.gradient);
    }
  };
  table["arith.negf"] = [](const Site &at) { at.add(0, -at.gradient); };
  table["arith.mulf"] = multiply;
  table["arith.divf"] = divide;
  table["arith.maximumf"] = maximum;
  table["arith.maxnumf"] = maximum;
  table["arith.minimumf"] = minimum;
  table["arith.minnumf"] = minimum;
  table["arith.select"] = select;
  table["arith.extf"] = cast;
  table["arith.truncf"] = cast;
  table["math.powf"] = power;
  table["math.fma"] = multiplyAdd;
  table["math.absf"] = absolute;
  for (const char *step : {"ceil", "floor", "round", "roundeven", "trunc"}) {
    table[std::string("math.") + step] = zero;
  }
}

void addExponentials(Table &table) {
  table["math.exp"] = [](const Site &at) {
    at.add(0, at.gradient * at.result());
  };
  table["math.exp2"] = [](const Site &at) {
    at.add(0, at.gradient * (std::numbers::ln2 * at.result()));
  };
  table["math.expm1"] = [](const Site &at) {
    at.add(0, at.gradient * (1 + at.result()));
  };
  table["math.log"] = [](const Site &at) {
    at.add(0, at.gradient / at.operand(0));
  };
  table["math.log2"] = [](const Site &at) {
    at.add(0, at.gradient / (std::numbers::ln2 * at.operand(0)));
  };
  table["math.log10"] = [](const Site &at) {
    at.add(0, at.gradient / (std::numbers::ln10 * at.operand(0)));
  };
  table["math.log1p"] = [](const Site &at) {
    at.add(0, at.gradient / (1 + at.operand(0)));
  };
  table["math.sqrt"] = [](const Site &at) {
    at.add(0, 0.5 * at.gradient / at.result());
  };
  table["math.rsqrt"] = [](const Site &at) {
    Scalar y = at.result();
    at.add(0, -0.5 * at.gradient * (y * y * y));
  };
  table["math.erf"] = errorFunction;
}

void addTrigonometry(Table &table) {
  table["math.sin"] = [](const Site &at) {
    Scalar x = at.operand(0);
    at.add(0, at.gradient * x.emit<math::CosOp>(x.value));
  };
  table["math.cos"] = [](const Site &at) {
    Scalar x = at.operand(0);
    at.add(0, -(at.gradient * x.emit<math::SinOp>(x.value)));
  };
  table["math.tan"] = [](const Site &at) {
    Scalar y = at.result();
    at.add(0, at.gradient * (1 + y * y));
  };
  table["math.asin"] = [](const Site &at) {
    Scalar x = at.operand(0);
    overRoot(at, 1 - x * x, 1);
  };
  table["math.acos"] = [](const Site &at) {
    Scalar x = at.operand(0);
    overRoot(at, 1 - x * x, -1);
  };
  table["math.atan"] = [](const Site &at) {
    Scalar x = at.operand(0);
    at.add(0, at.gradient / (1 + x * x));
  };
}

void addHyperbolics(Table &table) {
  table["math.tanh"] = [](const Site &at) {
    Scalar y = at.result();
    at.add(0, at.gradient * (1 - y * y));
  };
  table["math.sinh"] = [](const Site &at) {
    Scalar x = at.operand(0);
    at.add(0, at.gradient * x.emit<math::CoshOp>(x.value));
  };
  table["math.cosh"] = [](const Site &at) {
    Scalar x = at.operand(0);
    at.add(0, at.gradient * x.emit<math::SinhOp>(x.value));
  };
  table["math.asinh"] = [](const Site &at) {
    Scalar x = at.operand(0);
    overRoot(at, 1 + x * x, 1);
  };
  table["math.acosh"] = [](const Site &at) {
    Scalar x = at.operand(0);
    overRoot(at, x * x - x.number(1), 1);
  };
  table["math.atanh"] = [](const Site &at) {
    Scalar x = at.operand(0);
    at.add(0, at.gradient / (1 - x * x));
  };
}

const Table &getTable() {
  static const Table table = [] {
    Table result;
    addArithmetic(result);
    addExponentials(result);
    addTrigonometry(result);
    addHyperbolics(result);
    return result;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Small programs whose derivative their result tells, though no single op of
// them does
//===----------------------------------------------------------------------===//

/// x, where `op` is 1 / (1 + exp(-x)).
Value matchSigmoid(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if (!quotient || getConstant(quotient.getLhs()) != 1.0) {
    return {};
  }
  auto sum = quotient.getRhs().getDefiningOp<arith::AddFOp>();
  if (!sum) {
    return {};
  }
  Value power = getConstant(sum.getLhs()) == 1.0   ? sum.getRhs()
                : getConstant(sum.getRhs()) == 1.0 ? sum.getLhs()
                                                   : Value();
  auto exponential = power ? power.getDefiningOp<math::ExpOp>() : nullptr;
  auto negation = exponential
                      ? exponential.getOperand().getDefiningOp<arith::NegFOp>()
                      : nullptr;
  return negation ? negation.getOperand() : Value();
}

struct Clamp {
  Value x;
  Value low;
  Value high;
};

/// The operand of a `Outer` or `Inner` that is a constant, and the other one.
template <typename OpT>
std::optional<std::pair<Value, Value>> splitConstant(Value scalar) {
  auto op = scalar.getDefiningOp<OpT>();
  if (!op) {
    return std::nullopt;
  }
  if (getConstant(op.getRhs())) {
    return std::pair(op.getLhs(), op.getRhs());
  }
  if (getConstant(op.getLhs())) {
    return std::pair(op.getRhs(), op.getLhs());
  }
  return std::nullopt;
}

/// Whether `op` is min(max(x, low), high) or max(min(x, high), low) with
/// constants low < high.
std::optional<Clamp> matchClamp(Operation *op) {
  Value result = op->getResult(0);
  Clamp clamp;
  if (auto outer = splitConstant<arith::MinimumFOp>(result)) {
    auto inner = splitConstant<arith::MaximumFOp>(outer->first);
    if (!inner) {
      return std::nullopt;
    }
    clamp = {inner->first, inner->second, outer->second};
  } else if (auto outer = splitConstant<arith::MaximumFOp>(result)) {
    auto inner = splitConstant<arith::MinimumFOp>(outer->first);
    if (!inner) {
      return std::nullopt;
    }
    clamp = {inner->first, outer->second, inner->second};
  } else {
    return std::nullopt;
  }
  if (*getConstant(clamp.low) >= *getConstant(clamp.high)) {
    return std::nullopt;
  }
  return clamp;
}

bool addComposite(const Site &at) {
  ScalarProgram &program = *at.gradient.program;
  if (Value x = matchSigmoid(at.op)) {
    Scalar y = at.result();
    program.add(x, (at.gradient * (y * (1 - y))).value);
    return true;
  }
  if (std::optional<Clamp> clamp = matchClamp(at.op)) {
    Scalar y = at.result();
    Scalar zero = at.gradient.number(0);
    Scalar low{program.forwardValue(clamp->low), &program};
    Scalar high{program.forwardValue(clamp->high), &program};
    Scalar below =
        at.gradient.select(y.compare(arith::CmpFPredicate::OLT, high), zero);
    program.add(
        clamp->x,
        below.select(y.compare(arith::CmpFPredicate::OGT, low), zero).value);
    return true;
  }
  return false;
}

} // namespace

LogicalResult vdnn::addScalarDerivative(Operation *op, Value gradient,
                                        ScalarProgram &program) {
  Site site{op, {gradient, &program}};
  if (addComposite(site)) {
    return success();
  }
  auto found = getTable().find(op->getName().getStringRef());
  if (found == getTable().end()) {
    return op->emitError() << "no derivative for '" << op->getName()
                           << "' in a pointwise program; freeze the parameters "
                              "before it, or write it with ops that have one";
  }
  found->second(site);
  return success();
}
