//===- Workers.cpp --------------------------------------------------------===//

#include "runtime/support/Workers.h"

#include <algorithm>
#include <sched.h>

namespace vdnn::rt {

unsigned usableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) {
    return static_cast<unsigned>(std::max(CPU_COUNT(&cores), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1u);
}

Workers::Workers(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i) {
    threads_.emplace_back([this] { serve(); });
  }
}

Workers::~Workers() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begins_.notify_all();
  for (std::thread &thread : threads_) {
    thread.join();
  }
}

void Workers::run(uint64_t count, const std::function<void(uint64_t)> &work) {
  {
    std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    busy_ = threads_.size();
    ++loop_;
  }
  begins_.notify_all();
  takeItems();
  std::unique_lock lock(mutex_);
  ends_.wait(lock, [this] { return busy_ == 0; });
}

void Workers::serve() {
  uint64_t served = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begins_.wait(lock, [&] { return stop_ || loop_ != served; });
    if (stop_) {
      return;
    }
    served = loop_;
    lock.unlock();
    takeItems();
    lock.lock();
    if (--busy_ == 0) {
      ends_.notify_one();
    }
  }
}

void Workers::takeItems() {
  for (uint64_t i = next_++; i < count_; i = next_++) {
    (*work_)(i);
  }
}

} // namespace vdnn::rt
