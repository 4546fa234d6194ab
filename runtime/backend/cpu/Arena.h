//===- Arena.h - page-aligned memory of exact size ------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_ARENA_H
#define VDNN_RUNTIME_BACKEND_CPU_ARENA_H

#include "runtime/support/Error.h"

#include <cstddef>
#include <cstdint>

namespace vdnn::rt::cpu {

/// Owns one anonymous mapping: zeroed, aligned to 4096 bytes. Pages are taken
/// from the system when first touched.
class Arena {
public:
  Arena() = default;
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// `name` is for the error message.
  Status allocate(uint64_t bytes, const char *name);

  std::byte *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

  /// Whether [offset, offset + bytes) lies inside.
  bool holds(uint64_t offset, uint64_t bytes) const {
    return offset <= bytes_ && bytes <= bytes_ - offset;
  }

private:
  std::byte *data_ = nullptr;
  uint64_t bytes_ = 0;
};

} // namespace vdnn::rt::cpu

#endif
