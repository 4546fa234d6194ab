//===- Philox.h - counter-based random numbers ----------------------------===//
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011): four 32-bit numbers from a 128-bit counter and a
// 64-bit key. No state: the same counter gives the same numbers on every
// machine.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_SUPPORT_PHILOX_H
#define VDNN_RUNTIME_SUPPORT_PHILOX_H

#include <array>
#include <cstdint>
#include <string_view>

namespace vdnn::rt {

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53} * counter[0];
    uint64_t p1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// Numbers `4*index` to `4*index + 3` of the sequence that (seed, stream)
/// names.
inline std::array<uint32_t, 4> philox(uint64_t seed, uint64_t stream,
                                      uint64_t index) {
  return philox(
      {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
       static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

/// FNV-1a: the stream of random numbers that belongs to a name.
inline uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name) {
    hash = (hash ^ c) * 0x100000001b3;
  }
  return hash;
}

} // namespace vdnn::rt

#endif
