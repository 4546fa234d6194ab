//===- StreamThread.cpp - one stream: a thread and its queue --------------===//

#include "runtime/backend/cpu/StreamThread.h"

namespace vdnn::rt::cpu {

void ErrorState::set(Error error) {
  std::lock_guard lock(mutex_);
  if (first_.ok()) {
    first_ = Status(std::move(error));
    failed_.store(true, std::memory_order_release);
  }
}

Status ErrorState::get() const {
  std::lock_guard lock(mutex_);
  return first_;
}

void Event::complete(uint64_t number) {
  {
    std::lock_guard lock(mutex_);
    completed_ = number;
  }
  changed_.notify_all();
}

void Event::waitFor(uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return completed_ >= number; });
}

StreamThread::StreamThread(std::function<void()> start)
    : thread_([this, start = std::move(start)] { run(start); }) {}

StreamThread::~StreamThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StreamThread::submit(Task task) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void StreamThread::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
}

void StreamThread::run(const std::function<void()> &start) {
  start();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !queue_.empty() || stopping_; });
    if (queue_.empty()) {
      return;
    }
    Task task = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    busy_ = false;
    if (queue_.empty()) {
      changed_.notify_all();
    }
  }
}

} // namespace vdnn::rt::cpu
