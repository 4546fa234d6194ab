//===- ScalarOps.cpp - scalar instructions over blocks of elements --------===//

#include "runtime/backend/cpu/ScalarOps.h"

#include "runtime/backend/cpu/HalfTypes.h"
#include "runtime/backend/cpu/Kernel.h"
#include "runtime/backend/cpu/Parallel.h"

#include <cmath>
#include <set>
#include <type_traits>

namespace vdnn::rt::cpu {

using schedule::ElementType;

namespace {

/// A truth value in memory.
using Truth = uint8_t;

struct NamedFunction {
  const char *name;
  BlockFunction function;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <typename R, typename A, typename F>
VDNN_MULTIVERSION static void
unaryLoop(std::byte *result, const std::byte *const *operands, int64_t count) {
  R *r = reinterpret_cast<R *>(result);
  const A *a = reinterpret_cast<const A *>(operands[0]);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    r[i] = static_cast<R>(F{}(a[i]));
  }
}

template <typename R, typename A, typename F>
VDNN_MULTIVERSION static void
binaryLoop(std::byte *result, const std::byte *const *operands, int64_t count) {
  R *r = reinterpret_cast<R *>(result);
  const A *a = reinterpret_cast<const A *>(operands[0]);
  const A *b = reinterpret_cast<const A *>(operands[1]);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    r[i] = static_cast<R>(F{}(a[i], b[i]));
  }
}

template <typename T>
VDNN_MULTIVERSION static void
fmaLoop(std::byte *result, const std::byte *const *operands, int64_t count) {
  T *r = reinterpret_cast<T *>(result);
  const T *a = reinterpret_cast<const T *>(operands[0]);
  const T *b = reinterpret_cast<const T *>(operands[1]);
  const T *c = reinterpret_cast<const T *>(operands[2]);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    r[i] = std::fma(a[i], b[i], c[i]);
  }
}

template <typename T>
VDNN_MULTIVERSION static void
selectLoop(std::byte *result, const std::byte *const *operands, int64_t count) {
  T *r = reinterpret_cast<T *>(result);
  const Truth *condition = reinterpret_cast<const Truth *>(operands[0]);
  const T *a = reinterpret_cast<const T *>(operands[1]);
  const T *b = reinterpret_cast<const T *>(operands[2]);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    T yes = a[i], no = b[i];
    r[i] = condition[i] ? yes : no;
  }
}

template <typename T, typename F>
static constexpr BlockFunction unary(F) {
  return unaryLoop<T, T, F>;
}
template <typename T, typename F>
static constexpr BlockFunction binary(F) {
  return binaryLoop<T, T, F>;
}
template <typename T, typename F>
static constexpr BlockFunction compare(F) {
  return binaryLoop<Truth, T, F>;
}

static BlockFunction find(std::span<const NamedFunction> table,
                          const std::string &name) {
  for (const NamedFunction &entry : table) {
    if (name == entry.name) {
      return entry.function;
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// E is how the elements lie in memory, T what is computed in.
template <typename E, typename T = Compute<E>>
static BlockFunction findFloatUnary(const std::string &name) {
  static const NamedFunction table[] = {
      {"negf", unary<E>([](T a) { return -a; })},
      {"absf", unary<E>([](T a) { return std::fabs(a); })},
      {"acos", unary<E>([](T a) { return std::acos(a); })},
      {"acosh", unary<E>([](T a) { return std::acosh(a); })},
      {"asin", unary<E>([](T a) { return std::asin(a); })},
      {"asinh", unary<E>([](T a) { return std::asinh(a); })},
      {"atan", unary<E>([](T a) { return std::atan(a); })},
      {"atanh", unary<E>([](T a) { return std::atanh(a); })},
      {"cbrt", unary<E>([](T a) { return std::cbrt(a); })},
      {"ceil", unary<E>([](T a) { return std::ceil(a); })},
      {"cos", unary<E>([](T a) { return std::cos(a); })},
      {"cosh", unary<E>([](T a) { return std::cosh(a); })},
      {"erf", unary<E>([](T a) { return std::erf(a); })},
      {"exp", unary<E>([](T a) { return std::exp(a); })},
      {"exp2", unary<E>([](T a) { return std::exp2(a); })},
      {"expm1", unary<E>([](T a) { return std::expm1(a); })},
      {"floor", unary<E>([](T a) { return std::floor(a); })},
      {"log", unary<E>([](T a) { return std::log(a); })},
      {"log10", unary<E>([](T a) { return std::log10(a); })},
      {"log1p", unary<E>([](T a) { return std::log1p(a); })},
      {"log2", unary<E>([](T a) { return std::log2(a); })},
      {"round", unary<E>([](T a) { return std::round(a); })},
      {"roundeven", unary<E>([](T a) { return std::nearbyint(a); })},
      {"rsqrt", unary<E>([](T a) { return T(1) / std::sqrt(a); })},
      {"sin", unary<E>([](T a) { return std::sin(a); })},
      {"sinh", unary<E>([](T a) { return std::sinh(a); })},
      {"sqrt", unary<E>([](T a) { return std::sqrt(a); })},
      {"tan", unary<E>([](T a) { return std::tan(a); })},
      {"tanh", unary<E>([](T a) { return std::tanh(a); })},
      {"trunc", unary<E>([](T a) { return std::trunc(a); })},
  };
  return find(table, name);
}

template <typename E, typename T = Compute<E>>
static BlockFunction findFloatBinary(const std::string &name) {
  static const NamedFunction table[] = {
      {"addf", binary<E>([](T a, T b) { return a + b; })},
      {"subf", binary<E>([](T a, T b) { return a - b; })},
      {"mulf", binary<E>([](T a, T b) { return a * b; })},
      {"divf", binary<E>([](T a, T b) { return a / b; })},
      {"remf", binary<E>([](T a, T b) { return std::fmod(a, b); })},
      {"powf", binary<E>([](T a, T b) { return std::pow(a, b); })},
      {"copysign", binary<E>([](T a, T b) { return std::copysign(a, b); })},
      {"atan2", binary<E>([](T a, T b) { return std::atan2(a, b); })},
      // maximumf and minimumf give NaN if one operand is; maxnumf and minnumf
      // give the other.
      {"maximumf",
       binary<E>([](T a, T b) { return a > b || std::isnan(a) ? a : b; })},
      {"minimumf",
       binary<E>([](T a, T b) { return a < b || std::isnan(a) ? a : b; })},
      {"maxnumf",
       binary<E>([](T a, T b) { return a > b || std::isnan(b) ? a : b; })},
      {"minnumf",
       binary<E>([](T a, T b) { return a < b || std::isnan(b) ? a : b; })},
  };
  return find(table, name);
}

template <typename E, typename T = Compute<E>>
static BlockFunction findFloatCompare(const std::string &predicate) {
  static const NamedFunction table[] = {
      {"oeq", compare<E>([](T a, T b) { return a == b; })},
      {"ogt", compare<E>([](T a, T b) { return a > b; })},
      {"oge", compare<E>([](T a, T b) { return a >= b; })},
      {"olt", compare<E>([](T a, T b) { return a < b; })},
      {"ole", compare<E>([](T a, T b) { return a <= b; })},
      {"one", compare<E>([](T a, T b) { return a < b || a > b; })},
      {"ord", compare<E>([](T a, T b) { return !std::isunordered(a, b); })},
      {"ueq", compare<E>([](T a, T b) { return !(a < b || a > b); })},
      {"ugt", compare<E>([](T a, T b) { return !(a <= b); })},
      {"uge", compare<E>([](T a, T b) { return !(a < b); })},
      {"ult", compare<E>([](T a, T b) { return !(a >= b); })},
      {"ule", compare<E>([](T a, T b) { return !(a > b); })},
      {"une", compare<E>([](T a, T b) { return !(a == b); })},
      {"uno", compare<E>([](T a, T b) { return std::isunordered(a, b); })},
  };
  return find(table, predicate);
}

/// Wraps. A negative power is that of a quotient, rounded towards zero.
template <typename T>
static T power(T base, T exponent) {
  using U = std::make_unsigned_t<T>;
  if (exponent < 0) {
    bool odd = exponent & 1;
    return base == 1 ? T(1) : base == T(-1) ? T(odd ? -1 : 1) : T(0);
  }
  uint64_t result = 1, factor = static_cast<U>(base);
  for (U rest = static_cast<U>(exponent); rest != 0; rest >>= 1) {
    result *= rest & 1 ? factor : 1;
    factor *= factor;
  }
  return static_cast<T>(result);
}

template <typename T>
static BlockFunction findIntBinary(const std::string &name) {
  // Sums and products wrap; the unsigned type makes that defined.
  using U = std::make_unsigned_t<T>;
  static const NamedFunction table[] = {
      {"addi", binary<T>([](T a, T b) {
         return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
       })},
      {"subi", binary<T>([](T a, T b) {
         return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
       })},
      {"muli", binary<T>([](T a, T b) {
         return static_cast<T>(static_cast<uint64_t>(a) *
                               static_cast<uint64_t>(b));
       })},
      {"andi", binary<T>([](T a, T b) { return static_cast<T>(a & b); })},
      {"ori", binary<T>([](T a, T b) { return static_cast<T>(a | b); })},
      {"xori", binary<T>([](T a, T b) { return static_cast<T>(a ^ b); })},
      {"maxsi", binary<T>([](T a, T b) { return a > b ? a : b; })},
      {"minsi", binary<T>([](T a, T b) { return a < b ? a : b; })},
      {"maxui", binary<U>([](U a, U b) { return a > b ? a : b; })},
      {"minui", binary<U>([](U a, U b) { return a < b ? a : b; })},
      // A division by zero has no value; it must not end the process.
      {"divsi", binary<T>([](T a, T b) {
         return b == 0       ? T(0)
                : b == T(-1) ? static_cast<T>(U(0) - static_cast<U>(a))
                             : static_cast<T>(a / b);
       })},
      {"remsi", binary<T>([](T a, T b) {
         return b == 0 || b == T(-1) ? T(0) : static_cast<T>(a % b);
       })},
      {"divui", binary<U>([](U a, U b) { return b == 0 ? U(0) : U(a / b); })},
      {"remui", binary<U>([](U a, U b) { return b == 0 ? U(0) : U(a % b); })},
      {"ipowi", binary<T>([](T a, T b) { return power(a, b); })},
  };
  return find(table, name);
}

template <typename T>
static BlockFunction findIntCompare(const std::string &predicate) {
  using U = std::make_unsigned_t<T>;
  static const NamedFunction table[] = {
      {"eq", compare<T>([](T a, T b) { return a == b; })},
      {"ne", compare<T>([](T a, T b) { return a != b; })},
      {"slt", compare<T>([](T a, T b) { return a < b; })},
      {"sle", compare<T>([](T a, T b) { return a <= b; })},
      {"sgt", compare<T>([](T a, T b) { return a > b; })},
      {"sge", compare<T>([](T a, T b) { return a >= b; })},
      {"ult", compare<T>([](T a, T b) {
         return static_cast<U>(a) < static_cast<U>(b);
       })},
      {"ule", compare<T>([](T a, T b) {
         return static_cast<U>(a) <= static_cast<U>(b);
       })},
      {"ugt", compare<T>([](T a, T b) {
         return static_cast<U>(a) > static_cast<U>(b);
       })},
      {"uge", compare<T>([](T a, T b) {
         return static_cast<U>(a) >= static_cast<U>(b);
       })},
  };
  return find(table, predicate);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// Calls `visit` with a value of the C++ type; false where there is none. Bool
/// is an integer of one byte here.
template <typename Visit>
static bool visitElement(ElementType element, const Visit &visit) {
  switch (element) {
  case ElementType::F32:
    visit(float{});
    return true;
  case ElementType::F64:
    visit(double{});
    return true;
  case ElementType::F16:
    visit(Half{});
    return true;
  case ElementType::BF16:
    visit(Bfloat{});
    return true;
  case ElementType::I64:
    visit(int64_t{});
    return true;
  case ElementType::I32:
    visit(int32_t{});
    return true;
  case ElementType::I16:
    visit(int16_t{});
    return true;
  case ElementType::I8:
    visit(int8_t{});
    return true;
  case ElementType::Bool:
    visit(uint8_t{});
    return true;
  default:
    return false;
  }
}

static bool isFloat(ElementType element) {
  return element == ElementType::F32 || element == ElementType::F64 ||
         element == ElementType::F16 || element == ElementType::BF16;
}

static BlockFunction findConversion(const std::string &code, ElementType from,
                                    ElementType to) {
  bool isUnsigned = code == "uitofp" || code == "extui";
  BlockFunction function = nullptr;
  auto convert = [&](auto a, auto r) {
    using A = decltype(a);
    using R = decltype(r);
    constexpr auto cast = [](A value) { return static_cast<R>(value); };
    function = unaryLoop<R, A, std::remove_const_t<decltype(cast)>>;
  };
  visitElement(from, [&](auto a) {
    using A = decltype(a);
    if constexpr (std::is_integral_v<A>) {
      if (to == ElementType::Bool) {
        constexpr auto lowest = [](A value) { return value & 1; };
        function = unaryLoop<Truth, A, std::remove_const_t<decltype(lowest)>>;
        return;
      }
    }
    visitElement(to, [&](auto r) {
      if constexpr (std::is_integral_v<A>) {
        isUnsigned ? convert(std::make_unsigned_t<A>{}, r) : convert(a, r);
      } else if constexpr (std::is_integral_v<decltype(r)>) {
        code == "fptoui" ? convert(a, std::make_unsigned_t<decltype(r)>{})
                         : convert(a, r);
      } else {
        convert(a, r);
      }
    });
  });
  return function;
}

/// Whether the conversion `code` goes from one type to the other.
static bool isConversion(const std::string &code, ElementType from,
                         ElementType to) {
  if (code == "sitofp" || code == "uitofp") {
    return !isFloat(from) && isFloat(to);
  }
  if (code == "fptosi" || code == "fptoui") {
    return isFloat(from) && !isFloat(to) && to != ElementType::Bool;
  }
  if (code == "extf" || code == "truncf") {
    return isFloat(from) && isFloat(to);
  }
  return (code == "extsi" || code == "extui" || code == "trunci" ||
          code == "index_cast") &&
         !isFloat(from) && !isFloat(to);
}

static std::string describe(const schedule::ScalarOpT &op,
                            std::span<const ElementType> operands) {
  std::string text = "instruction '" + op.code +
                     (op.predicate.empty() ? "" : " " + op.predicate) +
                     "' on (";
  for (size_t i = 0; i < operands.size(); ++i) {
    text += (i ? ", " : "") +
            std::string(schedule::EnumNameElementType(operands[i]));
  }
  return text + ")";
}

static BlockFunction findFunction(const schedule::ScalarOpT &op,
                                  std::span<const ElementType> operands) {
  BlockFunction function = nullptr;
  if (op.code == "select") {
    bool fits = operands.size() == 3 && operands[0] == ElementType::Bool &&
                operands[1] == operands[2];
    if (fits) {
      visitElement(operands[1],
                   [&](auto value) { function = selectLoop<decltype(value)>; });
    }
    return function;
  }
  if (op.code == "fma") {
    bool fits = operands.size() == 3 && operands[0] == operands[1] &&
                operands[1] == operands[2];
    if (fits && operands[0] == ElementType::F32) {
      function = fmaLoop<float>;
    } else if (fits && operands[0] == ElementType::F64) {
      function = fmaLoop<double>;
    }
    return function;
  }
  if (operands.size() == 1 && isConversion(op.code, operands[0], op.element)) {
    return findConversion(op.code, operands[0], op.element);
  }
  bool pair = operands.size() == 2 && operands[0] == operands[1];
  if (operands.empty() || operands.size() > 2 ||
      (operands.size() == 2 && !pair)) {
    return nullptr;
  }
  visitElement(operands[0], [&](auto value) {
    using T = decltype(value);
    if constexpr (std::is_floating_point_v<Compute<T>>) {
      function = !pair               ? findFloatUnary<T>(op.code)
                 : op.code == "cmpf" ? findFloatCompare<T>(op.predicate)
                                     : findFloatBinary<T>(op.code);
    } else if (pair) {
      function = op.code == "cmpi" ? findIntCompare<T>(op.predicate)
                                   : findIntBinary<T>(op.code);
    }
  });
  return function;
}

/// A true i1 is -1 to signed instructions and wraps in sums; nobody means that.
static bool isRefusedOnTruth(const schedule::ScalarOpT &op,
                             std::span<const ElementType> operands) {
  static const std::set<std::string> known = {
      "andi", "ori", "xori", "cmpi", "select", "extui", "uitofp"};
  bool isSigned = op.code == "cmpi" && op.predicate.starts_with("s");
  return !operands.empty() && operands.back() == ElementType::Bool &&
         (isSigned || !known.contains(op.code));
}

Result<ScalarOp> lookUpScalarOp(const schedule::ScalarOpT &op,
                                std::span<const ElementType> operands) {
  BlockFunction function =
      isRefusedOnTruth(op, operands) ? nullptr : findFunction(op, operands);
  if (!function) {
    return Error{describe(op, operands) + " is not known to this backend"};
  }
  bool compares = op.code == "cmpf" || op.code == "cmpi";
  bool converts =
      operands.size() == 1 && isConversion(op.code, operands[0], op.element);
  ElementType result = compares   ? ElementType::Bool
                       : converts ? op.element
                                  : operands.back();
  if (result != op.element) {
    return Error{describe(op, operands) + " gives '" +
                 schedule::EnumNameElementType(result) +
                 "', but is declared '" +
                 schedule::EnumNameElementType(op.element) + "'"};
  }
  return ScalarOp{function, result};
}

Status fillConstant(std::byte *result, ElementType element, double value,
                    int64_t count) {
  bool known = visitElement(element, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(reinterpret_cast<T *>(result), count, static_cast<T>(value));
  });
  if (!known) {
    return Error{std::string("constants of element type '") +
                 schedule::EnumNameElementType(element) +
                 "' are not supported"};
  }
  return {};
}

} // namespace vdnn::rt::cpu
