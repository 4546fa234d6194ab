//===- HostMark.h - a point of a stream that the host can wait for --------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_HOSTMARK_H
#define VDNN_RUNTIME_BACKEND_CUDA_HOSTMARK_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace vdnn::rt::cuda {

/// Counts how often a stream has passed it. A function that the stream calls,
/// and no event: in a graph it is a node that runs once a launch, so the host
/// can tell this launch from the one before. Marks are queued by one thread.
class HostMark {
public:
  /// Of the stream: the signature that CUDA calls.
  static void reach(void *mark) {
    HostMark &self = *static_cast<HostMark *>(mark);
    {
      std::lock_guard lock(self.mutex_);
      ++self.reached_;
    }
    self.changed_.notify_all();
  }

  /// Of the host: the stream will pass once more; in a capture, once more in
  /// each replay.
  void queue(bool capturing) { ++(capturing ? captured_ : queued_); }
  void beginCapture() { captured_ = 0; }
  void replay() { queued_ += captured_; }

  /// Whether the stream has passed as often as it will.
  bool waitFor(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [&] { return reached_ >= queued_; });
  }

private:
  uint64_t queued_ = 0;
  uint64_t captured_ = 0;
  uint64_t reached_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

} // namespace vdnn::rt::cuda

#endif
