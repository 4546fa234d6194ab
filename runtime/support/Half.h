//===- Half.h - conversions of 16-bit floating-point numbers --------------===//

#ifndef VDNN_RUNTIME_SUPPORT_HALF_H
#define VDNN_RUNTIME_SUPPORT_HALF_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace vdnn::rt {

inline float halfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31;
  uint32_t mantissa = bits & 1023;
  if (exponent == 0) {
    float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

/// Rounds to nearest, ties to even.
inline uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) {
    return sign | 0x7e00;
  }
  if (bits >= 0x477ff000) { // 65520: rounds to infinity
    return sign | 0x7c00;
  }
  if (bits < 0x38800000) { // below 2^-14: subnormal, in units of 2^-24
    return sign | static_cast<uint16_t>(std::nearbyint(
                      std::ldexp(std::bit_cast<float>(bits), 24)));
  }
  uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded - (112u << 23)) >> 13);
}

inline float bfloatToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Rounds to nearest, ties to even.
inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  }
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace vdnn::rt

#endif
