//===- Workers.h - threads that share the items of a loop -----------------===//

#ifndef VDNN_RUNTIME_SUPPORT_WORKERS_H
#define VDNN_RUNTIME_SUPPORT_WORKERS_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace vdnn::rt {

/// Cores that this process may use, at least one.
unsigned usableCores();

/// Threads that live as long as this and sleep between loops. Called by one
/// thread at a time.
class Workers {
public:
  /// `threads` that work, the caller of `run` included.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// Calls `work` once for each number below `count`, beside each other, and
  /// returns when all calls have.
  void run(uint64_t count, const std::function<void(uint64_t)> &work);

private:
  void serve();
  void takeItems();

  std::mutex mutex_;
  std::condition_variable begins_;
  std::condition_variable ends_;
  uint64_t loop_ = 0; ///< number of loops begun
  size_t busy_ = 0;   ///< threads that have not left this one
  bool stop_ = false;
  const std::function<void(uint64_t)> *work_ = nullptr;
  uint64_t count_ = 0;
  std::atomic<uint64_t> next_ = 0;
  std::vector<std::thread> threads_;
};

} // namespace vdnn::rt

#endif
