//===- HostArena.cpp ------------------------------------------------------===//

#include "runtime/backend/cuda/HostArena.h"

#include "runtime/backend/common/Checks.h"
#include "runtime/backend/cuda/Check.h"
#include "runtime/support/Format.h"
#include "runtime/support/HostMemory.h"

#include <algorithm>
#include <optional>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace vdnn::rt::cuda {

static constexpr uint64_t kHugePage = 2 << 20;

/// Writes to one byte of every page, each thread to a share of its own.
static void touch(std::byte *data, uint64_t bytes) {
  uint64_t threads = std::clamp<uint64_t>(std::thread::hardware_concurrency(),
                                          1, bytes / kHugePage + 1);
  uint64_t share = (bytes / threads + kHugePage - 1) / kHugePage * kHugePage;
  std::vector<std::thread> workers;
  for (uint64_t begin = 0; begin < bytes; begin += share) {
    workers.emplace_back([=] {
      for (uint64_t at = begin; at < std::min(begin + share, bytes);
           at += 4096) {
        data[at] = std::byte{0};
      }
    });
  }
  for (std::thread &worker : workers) {
    worker.join();
  }
}

Status HostArena::allocate(uint64_t bytes) {
  if (bytes == 0) {
    return {};
  }
  uint64_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  // Linux promises more than it has, and kills who touches it.
  if (std::optional<uint64_t> available = availableHostBytes();
      available && rounded > *available) {
    return Error{"the host arena of " + formatBytes(bytes) +
                 " does not fit: this process may take " +
                 formatBytes(*available) +
                 " of host memory; free some, raise the limit of its control "
                 "group, or plan with a smaller --host-budget"};
  }
  void *memory = mmap(nullptr, rounded, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{
        "the host arena of " + formatBytes(bytes) +
        " cannot be reserved; free host memory or lower --host-budget"};
  }
  // Advice: without huge pages it only takes longer.
  static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
  touch(static_cast<std::byte *>(memory), rounded);
  cudaError_t code =
      cudaHostRegister(memory, rounded, cudaHostRegisterPortable);
  if (code != cudaSuccess) {
    munmap(memory, rounded);
    cudaGetLastError(); // Not sticky: the next call must not see it.
    return Error{"the host arena of " + formatBytes(bytes) +
                 " cannot be pinned: " + cudaGetErrorString(code) +
                 "; free host memory, raise 'ulimit -l', or lower "
                 "--host-budget"};
  }
  data_ = static_cast<std::byte *>(memory);
  bytes_ = bytes;
  mapped_ = rounded;
  return {};
}

HostArena::~HostArena() {
  if (data_) {
    cudaHostUnregister(data_);
    munmap(data_, mapped_);
  }
}

} // namespace vdnn::rt::cuda
