//===- HalfTypes.h - 16-bit floating-point numbers as C++ types -----------===//
//
// Each holds the bits of an element and computes as a float: arithmetic rounds
// once to float and once to 16 bits, which for sums, products, quotients and
// square roots is the same as rounding once.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_HALFTYPES_H
#define VDNN_RUNTIME_BACKEND_CPU_HALFTYPES_H

#include "runtime/support/Half.h"

#include <concepts>

namespace vdnn::rt::cpu {

/// `value` as a float that rounds to 16 bits as `value` itself would: what is
/// cut off leaves its trace in the lowest bit (rounding to odd).
inline float toStickyFloat(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(value)) {
    return nearest;
  }
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  bits -= std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>(bits | 1);
}

/// Integers beyond a double's 53 digits keep a trace of what is cut off, too.
template <std::integral T>
float toStickyFloat(T value) {
  bool negative = value < 0;
  uint64_t size = negative ? 0 - static_cast<uint64_t>(value)
                           : static_cast<uint64_t>(value);
  if (size >> 53 != 0) {
    uint64_t lost = size & 2047;
    size = (size & ~uint64_t{2047}) | (lost != 0 ? 2048 : 0);
  }
  float result = toStickyFloat(static_cast<double>(size));
  return negative ? -result : result;
}

struct Half {
  uint16_t bits;

  Half() = default;
  explicit Half(float value) : bits(floatToHalf(value)) {}
  template <typename T>
    requires std::integral<T> || std::same_as<T, double>
  explicit Half(T value) : Half(toStickyFloat(value)) {}
  operator float() const { return halfToFloat(bits); }
};

struct Bfloat {
  uint16_t bits;

  Bfloat() = default;
  explicit Bfloat(float value) : bits(floatToBfloat(value)) {}
  template <typename T>
    requires std::integral<T> || std::same_as<T, double>
  explicit Bfloat(T value) : Bfloat(toStickyFloat(value)) {}
  operator float() const { return bfloatToFloat(bits); }
};

/// What arithmetic on elements of a type is done in.
template <typename T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<Half> {
  using type = float;
};
template <>
struct ComputeType<Bfloat> {
  using type = float;
};
template <typename T>
using Compute = typename ComputeType<T>::type;

} // namespace vdnn::rt::cpu

#endif
