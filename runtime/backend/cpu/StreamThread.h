//===- StreamThread.h - one stream: a thread and its queue ----------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_STREAMTHREAD_H
#define VDNN_RUNTIME_BACKEND_CPU_STREAMTHREAD_H

#include "runtime/support/Error.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace vdnn::rt::cpu {

/// The first error of any stream. After it, streams skip all work but events.
/// Thread-safe.
class ErrorState {
public:
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void set(Error error);
  Status get() const;

private:
  std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;
  Status first_;
};

/// An event as a counter: a record submitted as number n completes it up to n.
/// Numbers are given at submission, so a wait knows which record it refers to,
/// however far the streams have run. Thread-safe.
class Event {
public:
  /// Submission side (one thread): the number of a new record, and of the
  /// latest one (0: none yet).
  uint64_t nextRecord() { return ++submitted_; }
  uint64_t latestRecord() const { return submitted_; }

  /// Stream side.
  void complete(uint64_t number);
  void waitFor(uint64_t number);

private:
  uint64_t submitted_ = 0;
  uint64_t completed_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// A queue and the thread that empties it, first in, first out. `submit` and
/// `drain` are called from one thread.
class StreamThread {
public:
  /// A task always runs; whether it does its work after an error is its own
  /// decision.
  using Task = std::function<void()>;

  /// `start` runs first on the new thread.
  explicit StreamThread(std::function<void()> start);

  /// Finishes what is queued.
  ~StreamThread();

  void submit(Task task);

  /// Returns when everything submitted has finished.
  void drain();

private:
  void run(const std::function<void()> &start);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace vdnn::rt::cpu

#endif
