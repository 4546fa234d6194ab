//===- StreamCopy.cpp -----------------------------------------------------===//

#include "runtime/support/StreamCopy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace vdnn::rt {

#if defined(__SSE2__)

/// memcpy streams only what is larger than a share of the last cache, and how
/// large that share is differs between versions of the library: parts of a copy
/// that several threads make would seldom be.
void streamCopy(std::byte *destination, const std::byte *source, size_t bytes) {
  constexpr size_t kLine = 64;
  size_t head = -reinterpret_cast<uintptr_t>(destination) % kLine;
  if (bytes < 2 * kLine) {
    head = bytes;
  }
  std::copy_n(source, head, destination);
  size_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    __m128i line[4];
    std::memcpy(line, source + at, kLine);
    for (size_t i = 0; i < 4; ++i) {
      _mm_stream_si128(reinterpret_cast<__m128i *>(destination + at) + i,
                       line[i]);
    }
  }
  std::copy_n(source + at, bytes - at, destination + at);
  _mm_sfence(); // whoever learns that this is done sees the bytes
}

#else

void streamCopy(std::byte *destination, const std::byte *source, size_t bytes) {
  std::copy_n(source, bytes, destination);
}

#endif

} // namespace vdnn::rt
