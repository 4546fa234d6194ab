//===- Arena.cpp - page-aligned memory of exact size ----------------------===//

#include "runtime/backend/cpu/Arena.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

namespace vdnn::rt::cpu {

Arena::~Arena() {
  if (data_) {
    munmap(data_, bytes_);
  }
}

Status Arena::allocate(uint64_t bytes, const char *name) {
  if (bytes == 0) {
    return {};
  }
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{std::string("cannot take ") + std::to_string(bytes) +
                 " bytes for the " + name + " arena: " + std::strerror(errno) +
                 "; plan with a smaller budget"};
  }
  // Large pages make the first touch and the walks over activations cheaper; a
  // system without them ignores this.
  madvise(memory, bytes, MADV_HUGEPAGE);
  data_ = static_cast<std::byte *>(memory);
  bytes_ = bytes;
  return {};
}

} // namespace vdnn::rt::cpu
