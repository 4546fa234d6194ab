//===- HostArena.h - pinned host memory, taken once -----------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_HOSTARENA_H
#define VDNN_RUNTIME_BACKEND_CUDA_HOSTARENA_H

#include "runtime/support/Error.h"

#include <cstddef>
#include <cstdint>

namespace vdnn::rt::cuda {

/// Host memory that the GPU's copy engines reach. Pages are touched by many
/// threads before they are pinned: one thread brings in about 3 GB/s, and
/// `cudaHostAlloc` is one thread that holds the driver's lock.
class HostArena {
public:
  HostArena() = default;
  HostArena(const HostArena &) = delete;
  HostArena &operator=(const HostArena &) = delete;
  ~HostArena();

  /// Takes exactly these bytes, once.
  Status allocate(uint64_t bytes);

  std::byte *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  bool holds(uint64_t offset, uint64_t bytes) const {
    return offset <= bytes_ && bytes <= bytes_ - offset;
  }

private:
  std::byte *data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t mapped_ = 0;
};

} // namespace vdnn::rt::cuda

#endif
