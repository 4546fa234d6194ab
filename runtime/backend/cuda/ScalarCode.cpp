//===- ScalarCode.cpp -----------------------------------------------------===//

#include "runtime/backend/cuda/ScalarCode.h"

#include "runtime/backend/common/Checks.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <set>

namespace vdnn::rt::cuda {

using schedule::ElementType;

const char *const kScalarFunctions = R"(
// A value that rounds to 16 bits as the given one would: what is cut off leaves
// its trace in the lowest bit.
static __device__ __forceinline__ float sticky(float cut, bool exact) {
  return exact ? cut : __uint_as_float(__float_as_uint(cut) | 1u);
}
static __device__ __forceinline__ float sticky(double value) {
  float cut = __double2float_rz(value);
  return sticky(cut, (double)cut == value);
}
static __device__ __forceinline__ float sticky(long long value) {
  float cut = __ll2float_rz(value);
  return sticky(cut, (long long)cut == value);
}
static __device__ __forceinline__ float sticky(unsigned long long value) {
  float cut = __ull2float_rz(value);
  return sticky(cut, (unsigned long long)cut == value);
}

static __device__ __forceinline__ float fromF16(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
static __device__ __forceinline__ unsigned short toF16(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
static __device__ __forceinline__ float fromBF16(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}
static __device__ __forceinline__ unsigned short toBF16(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
static __device__ __forceinline__ float roundF16(float value) {
  return fromF16(toF16(value));
}
static __device__ __forceinline__ float roundBF16(float value) {
  return fromBF16(toBF16(value));
}

// Wraps. A negative power is that of a quotient, rounded towards zero.
template <typename T, typename U>
static __device__ __forceinline__ T power(T base, T exponent) {
  if (exponent < 0) {
    return base == 1 ? (T)1 : base == (T)-1 ? (T)(exponent & 1 ? -1 : 1) : (T)0;
  }
  unsigned long long result = 1, factor = (U)base;
  for (U rest = (U)exponent; rest != 0; rest >>= 1) {
    result *= rest & 1 ? factor : 1;
    factor *= factor;
  }
  return (T)result;
}
)";

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static bool isFloat(ElementType element) {
  return element == ElementType::F32 || element == ElementType::F64 ||
         element == ElementType::F16 || element == ElementType::BF16;
}

static bool isHalf(ElementType element) {
  return element == ElementType::F16 || element == ElementType::BF16;
}

const char *valueType(ElementType element) {
  switch (element) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
    return "float";
  case ElementType::F64:
    return "double";
  case ElementType::I64:
    return "long long";
  case ElementType::I32:
    return "int";
  case ElementType::I16:
    return "short";
  case ElementType::I8:
    return "signed char";
  case ElementType::Bool:
    return "unsigned char";
  default:
    return nullptr;
  }
}

const char *memoryType(ElementType element) {
  return isHalf(element) ? "unsigned short"
                         : valueType(backend::scalarElement(element));
}

/// Of an integer's bits.
static std::string unsignedType(ElementType element) {
  switch (element) {
  case ElementType::I64:
    return "unsigned long long";
  case ElementType::I32:
    return "unsigned int";
  case ElementType::I16:
    return "unsigned short";
  default:
    return "unsigned char";
  }
}

/// A call of one of the functions whose names end in the 16-bit type.
static std::string callFor(const char *function, ElementType element,
                           const std::string &argument) {
  return std::string(function) + schedule::EnumNameElementType(element) + "(" +
         argument + ")";
}

std::string fromMemory(ElementType element, const std::string &memory) {
  return isHalf(element) ? callFor("from", element, memory) : memory;
}

std::string toMemory(ElementType element, const std::string &value) {
  return isHalf(element) ? callFor("to", element, value) : value;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// $a, $b, $c: the operands. $T: their type, $U: that without sign. $f: what
/// the names of functions on their type end in.
struct NamedCode {
  const char *name;
  const char *code;
};

} // namespace

static constexpr NamedCode kFloatUnary[] = {
    {"negf", "-$a"},
    {"absf", "fabs$f($a)"},
    {"acos", "acos$f($a)"},
    {"acosh", "acosh$f($a)"},
    {"asin", "asin$f($a)"},
    {"asinh", "asinh$f($a)"},
    {"atan", "atan$f($a)"},
    {"atanh", "atanh$f($a)"},
    {"cbrt", "cbrt$f($a)"},
    {"ceil", "ceil$f($a)"},
    {"cos", "cos$f($a)"},
    {"cosh", "cosh$f($a)"},
    {"erf", "erf$f($a)"},
    {"exp", "exp$f($a)"},
    {"exp2", "exp2$f($a)"},
    {"expm1", "expm1$f($a)"},
    {"floor", "floor$f($a)"},
    {"log", "log$f($a)"},
    {"log10", "log10$f($a)"},
    {"log1p", "log1p$f($a)"},
    {"log2", "log2$f($a)"},
    {"round", "round$f($a)"},
    {"roundeven", "rint$f($a)"},
    {"rsqrt", "($T)1 / sqrt$f($a)"},
    {"sin", "sin$f($a)"},
    {"sinh", "sinh$f($a)"},
    {"sqrt", "sqrt$f($a)"},
    {"tan", "tan$f($a)"},
    {"tanh", "tanh$f($a)"},
    {"trunc", "trunc$f($a)"},
};

static constexpr NamedCode kFloatBinary[] = {
    {"addf", "$a + $b"},
    {"subf", "$a - $b"},
    {"mulf", "$a * $b"},
    {"divf", "$a / $b"},
    {"remf", "fmod$f($a, $b)"},
    {"powf", "pow$f($a, $b)"},
    {"copysign", "copysign$f($a, $b)"},
    {"atan2", "atan2$f($a, $b)"},
    // maximumf and minimumf give NaN if one operand is; maxnumf and minnumf
    // give the other.
    {"maximumf", "$a > $b || $a != $a ? $a : $b"},
    {"minimumf", "$a < $b || $a != $a ? $a : $b"},
    {"maxnumf", "$a > $b || $b != $b ? $a : $b"},
    {"minnumf", "$a < $b || $b != $b ? $a : $b"},
};

static constexpr NamedCode kFloatCompare[] = {
    {"oeq", "$a == $b"},
    {"ogt", "$a > $b"},
    {"oge", "$a >= $b"},
    {"olt", "$a < $b"},
    {"ole", "$a <= $b"},
    {"one", "$a < $b || $a > $b"},
    {"ord", "$a == $a && $b == $b"},
    {"ueq", "!($a < $b || $a > $b)"},
    {"ugt", "!($a <= $b)"},
    {"uge", "!($a < $b)"},
    {"ult", "!($a >= $b)"},
    {"ule", "!($a > $b)"},
    {"une", "!($a == $b)"},
    {"uno", "$a != $a || $b != $b"},
};

static constexpr NamedCode kIntBinary[] = {
    {"addi", "($T)(($U)$a + ($U)$b)"},
    {"subi", "($T)(($U)$a - ($U)$b)"},
    {"muli", "($T)((unsigned long long)$a * (unsigned long long)$b)"},
    {"andi", "($T)($a & $b)"},
    {"ori", "($T)($a | $b)"},
    {"xori", "($T)($a ^ $b)"},
    {"maxsi", "$a > $b ? $a : $b"},
    {"minsi", "$a < $b ? $a : $b"},
    {"maxui", "($U)$a > ($U)$b ? $a : $b"},
    {"minui", "($U)$a < ($U)$b ? $a : $b"},
    // A division by zero gives 0. The least number has no opposite.
    {"divsi", "$b == 0 ? ($T)0 : $b == ($T)-1 ? ($T)(($U)0 - ($U)$a)"
              " : ($T)($a / $b)"},
    {"remsi", "$b == 0 || $b == ($T)-1 ? ($T)0 : ($T)($a % $b)"},
    {"divui", "$b == 0 ? ($T)0 : ($T)(($U)$a / ($U)$b)"},
    {"remui", "$b == 0 ? ($T)0 : ($T)(($U)$a % ($U)$b)"},
    {"ipowi", "power<$T, $U>($a, $b)"},
};

static constexpr NamedCode kIntCompare[] = {
    {"eq", "$a == $b"},         {"ne", "$a != $b"},
    {"slt", "$a < $b"},         {"sle", "$a <= $b"},
    {"sgt", "$a > $b"},         {"sge", "$a >= $b"},
    {"ult", "($U)$a < ($U)$b"}, {"ule", "($U)$a <= ($U)$b"},
    {"ugt", "($U)$a > ($U)$b"}, {"uge", "($U)$a >= ($U)$b"},
};

static const char *find(std::span<const NamedCode> table,
                        const std::string &name) {
  for (const NamedCode &entry : table) {
    if (name == entry.name) {
      return entry.code;
    }
  }
  return nullptr;
}

/// The code with its variables replaced.
static std::string substitute(const char *code, ElementType element,
                              std::span<const std::string> names) {
  std::string text;
  for (; *code; ++code) {
    if (*code != '$') {
      text += *code;
      continue;
    }
    switch (*++code) {
    case 'T':
      text += valueType(element);
      break;
    case 'U':
      text += unsignedType(element);
      break;
    case 'f':
      text += element == ElementType::F64 ? "" : "f";
      break;
    default:
      text += names[static_cast<size_t>(*code - 'a')];
      break;
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

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

static std::string cast(const std::string &type, const std::string &value) {
  return "(" + type + ")" + value;
}

static std::string conversionCode(const std::string &code, ElementType from,
                                  ElementType to, const std::string &name) {
  if (!isFloat(from) && to == ElementType::Bool) {
    return "(unsigned char)(" + name + " & 1)";
  }
  bool isUnsigned = code == "uitofp" || code == "extui";
  std::string value = isUnsigned ? cast(unsignedType(from), name) : name;
  if (isHalf(to)) {
    // Rounded once: a float holds every 16-bit number and no more is lost.
    bool isFloatValue = from == ElementType::F32 || isHalf(from);
    if (!isFloatValue) {
      std::string wide = isFloat(from) ? ""
                         : isUnsigned  ? "(unsigned long long)"
                                       : "(long long)";
      value = "sticky(" + wide + value + ")";
    }
    return callFor("round", to, value);
  }
  if (code == "fptoui") {
    value = cast(unsignedType(to), value);
  }
  return cast(valueType(to), value);
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

/// The table's code of an instruction that is no conversion; null where there
/// is none.
static const char *findCode(const schedule::ScalarOpT &op,
                            std::span<const ElementType> operands) {
  auto same = [&](size_t first) {
    for (ElementType operand : operands.subspan(first)) {
      if (operand != operands.back()) {
        return false;
      }
    }
    return true;
  };
  if (op.code == "select") {
    bool fits =
        operands.size() == 3 && operands[0] == ElementType::Bool && same(1);
    return fits ? "$a ? $b : $c" : nullptr;
  }
  if (operands.empty() || !same(0)) {
    return nullptr;
  }
  if (op.code == "fma") {
    bool fits =
        operands.size() == 3 && isFloat(operands[0]) && !isHalf(operands[0]);
    return fits ? "fma$f($a, $b, $c)" : nullptr;
  }
  if (operands.size() == 1) {
    return isFloat(operands[0]) ? find(kFloatUnary, op.code) : nullptr;
  }
  if (operands.size() != 2) {
    return nullptr;
  }
  if (isFloat(operands[0])) {
    return op.code == "cmpf" ? find(kFloatCompare, op.predicate)
                             : find(kFloatBinary, op.code);
  }
  return op.code == "cmpi" ? find(kIntCompare, op.predicate)
                           : find(kIntBinary, op.code);
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

Result<ScalarCode> scalarCode(const schedule::ScalarOpT &op,
                              std::span<const ElementType> operands,
                              std::span<const std::string> names) {
  bool known = !isRefusedOnTruth(op, operands);
  for (ElementType operand : operands) {
    known &= valueType(operand) != nullptr;
  }
  bool converts = operands.size() == 1 && valueType(op.element) &&
                  isConversion(op.code, operands[0], op.element);
  const char *code = known && !converts ? findCode(op, operands) : nullptr;
  if (!known || (!converts && !code)) {
    return Error{describe(op, operands) + " is not known to this backend"};
  }
  bool compares = op.code == "cmpf" || op.code == "cmpi";
  ElementType result = compares   ? ElementType::Bool
                       : converts ? op.element
                                  : operands.back();
  if (result != op.element) {
    return Error{describe(op, operands) + " gives '" +
                 schedule::EnumNameElementType(result) +
                 "', but is declared '" +
                 schedule::EnumNameElementType(op.element) + "'"};
  }
  if (converts) {
    return ScalarCode{
        conversionCode(op.code, operands[0], op.element, names[0]), result,
        false};
  }
  // The last operand has the type that the instruction computes in; the first
  // of a `select` only chooses.
  std::string expression = substitute(code, operands.back(), names);
  if (compares) {
    expression = "(unsigned char)(" + expression + ")";
  } else if (isHalf(result) && op.code != "select") {
    expression = callFor("round", result, expression);
  }
  bool callsLibrary = std::string(code).find("$f(") != std::string::npos;
  return ScalarCode{expression, result, callsLibrary};
}

static std::string hexadecimal(uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, bits);
  return text;
}

Result<std::string> constantCode(ElementType element, double value) {
  if (!valueType(element)) {
    return Error{std::string("constants of element type '") +
                 schedule::EnumNameElementType(element) +
                 "' are not supported"};
  }
  if (element == ElementType::F32) {
    return "__uint_as_float(" +
           hexadecimal(std::bit_cast<uint32_t>(static_cast<float>(value))) +
           "u)";
  }
  if (isFloat(element)) {
    std::string exact = "__longlong_as_double((long long)" +
                        hexadecimal(std::bit_cast<uint64_t>(value)) + "ull)";
    return isHalf(element) ? callFor("round", element, "sticky(" + exact + ")")
                           : exact;
  }
  return cast(valueType(element),
              hexadecimal(static_cast<uint64_t>(static_cast<int64_t>(value))) +
                  "ull");
}

} // namespace vdnn::rt::cuda
