//===- Parallel.h - static parallel loops and vector code -----------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_PARALLEL_H
#define VDNN_RUNTIME_BACKEND_CPU_PARALLEL_H

#include <algorithm>
#include <cstdint>

#include <omp.h>

/// Compiles a leaf function once per instruction set and picks at load time.
/// ThreadSanitizer cannot run the picking; Clang has no such templates: both
/// get the baseline. The bits are the same, since this library is built without
/// contraction.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define VDNN_MULTIVERSION                                                      \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VDNN_MULTIVERSION
#endif

namespace vdnn::rt::cpu {

/// Calls `body(thread, begin, end)` for contiguous shares of [0, items), one
/// share per thread. A share's bounds depend only on `items` and `threads`. One
/// thread means no OpenMP at all, so sanitizers see plain code.
template <typename Body>
void parallelRanges(unsigned threads, int64_t items, const Body &body) {
  int64_t used = std::min<int64_t>(threads, items);
  if (used <= 1) {
    if (items > 0) {
      body(0u, int64_t{0}, items);
    }
    return;
  }
#pragma omp parallel num_threads(static_cast<int>(used))
  {
    // The runtime may give fewer threads than asked for; shares then go round.
    for (int64_t share = omp_get_thread_num(); share < used;
         share += omp_get_num_threads()) {
      body(static_cast<unsigned>(share), items * share / used,
           items * (share + 1) / used);
    }
  }
}

/// Calls `body(item)` for every item of [0, items).
template <typename Body>
void parallelFor(unsigned threads, int64_t items, const Body &body) {
  parallelRanges(threads, items, [&](unsigned, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      body(i);
    }
  });
}

/// Sets the calling thread's OpenMP thread count for a scope: oneDNN sizes
/// scratch and generates code by it.
class ThreadScope {
public:
  explicit ThreadScope(unsigned threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(static_cast<int>(threads));
  }
  ~ThreadScope() { omp_set_num_threads(before_); }
  ThreadScope(const ThreadScope &) = delete;
  ThreadScope &operator=(const ThreadScope &) = delete;

private:
  int before_;
};

} // namespace vdnn::rt::cpu

#endif
