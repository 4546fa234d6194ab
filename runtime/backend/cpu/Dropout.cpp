//===- Dropout.cpp - random zeros from a counter --------------------------===//
//
// docs/kernels.md fixes every bit of this, so that all backends drop the same
// elements.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/DropoutShape.h"
#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

namespace vdnn::rt::cpu {

namespace {

/// Counters worked on together, so that the rounds become vector code. Each
/// gives four words.
constexpr int64_t kCounters = 64;

struct DropoutShape {
  int64_t elements;
  uint32_t id;
  uint32_t threshold; ///< kept if the upper 24 bits of the word reach this
  float scale;
};

} // namespace

/// Philox4x32-10 for counters (first + i, id, step low, step high) under key
/// `seed`.
VDNN_MULTIVERSION
static void philox(uint32_t words[4][kCounters], uint32_t first, uint32_t id,
                   uint64_t step, uint64_t seed) {
  uint32_t *w0 = words[0], *w1 = words[1], *w2 = words[2], *w3 = words[3];
  for (int64_t i = 0; i < kCounters; ++i) {
    w0[i] = first + static_cast<uint32_t>(i);
    w1[i] = id;
    w2[i] = static_cast<uint32_t>(step);
    w3[i] = static_cast<uint32_t>(step >> 32);
  }
  auto key0 = static_cast<uint32_t>(seed);
  auto key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int64_t i = 0; i < kCounters; ++i) {
      uint64_t product0 = uint64_t{0xD2511F53} * w0[i],
               product1 = uint64_t{0xCD9E8D57} * w2[i];
      uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ w1[i] ^ key0;
      uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ w3[i] ^ key1;
      w0[i] = next0;
      w1[i] = static_cast<uint32_t>(product1);
      w2[i] = next2;
      w3[i] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

VDNN_MULTIVERSION
static void dropRow(float *y, const float *x,
                    const uint32_t words[4][kCounters], const DropoutShape &s,
                    int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = words[i % 4][i / 4] >> 8 >= s.threshold ? x[i] * s.scale : 0.0f;
  }
}

Result<Kernel> createDropout(const Request &request) {
  Result<DropoutNumbers> numbers =
      DropoutNumbers::parse(request.kernel, request.types);
  VDNN_TRY(numbers.status());
  DropoutShape shape{numbers->elements, numbers->id, numbers->threshold,
                     numbers->scale};
  Kernel kernel;
  kernel.inPlace = {{0, 0}};
  kernel.run = [s = shape,
                threads = request.threads](const Operands &operands) {
    const float *x = operands.read<float>(0);
    float *y = operands.write<float>(0);
    auto seed = static_cast<uint64_t>(*operands.read<int64_t>(1));
    auto step = static_cast<uint64_t>(*operands.read<int64_t>(2));
    constexpr int64_t kBlock = 4 * kCounters;
    parallelFor(threads, (s.elements + kBlock - 1) / kBlock,
                [&](int64_t block) {
                  uint32_t words[4][kCounters];
                  philox(words, static_cast<uint32_t>(block * kCounters), s.id,
                         step, seed);
                  dropRow(y + block * kBlock, x + block * kBlock, words, s,
                          std::min(kBlock, s.elements - block * kBlock));
                });
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
