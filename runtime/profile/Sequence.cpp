//===- Sequence.cpp -------------------------------------------------------===//

#include "runtime/profile/Sequence.h"

#include <algorithm>
#include <atomic>

namespace vdnn::rt {

static constexpr uint32_t kCompute = 0;

Result<double> measureSlowdown(Device &device,
                               const std::vector<const ComputeLoad *> &step) {
  constexpr int64_t kWarmUpNs = 1'000'000'000, kMeasuredNs = 500'000'000;
  constexpr int64_t kAhead = 16; // launches by which the host leads at the end
  int64_t alone = 0;
  for (const ComputeLoad *load : step) {
    alone += load->launchNs;
  }
  auto launches = static_cast<int64_t>(step.size());
  if (step.empty() || alone < launches * kShortestLoadNs) {
    return 1.0;
  }
  std::atomic<bool> nearlyDone = false;
  bool isHostAhead = false;
  auto run = [&](int64_t steps) {
    return device.measure(kCompute, [&]() -> Status {
      nearlyDone = false;
      Status status;
      for (int64_t left = steps * launches; status && left > 0; --left) {
        if (left == kAhead) {
          status = device.callback(kCompute, [&] { nearlyDone = true; });
        }
        int64_t next = (steps * launches - left) % launches;
        status = status ? step[static_cast<size_t>(next)]->launch() : status;
      }
      isHostAhead = !nearlyDone;
      return status;
    });
  };
  int64_t steps = kMeasuredNs / alone + 1;
  Result<int64_t> time = run(kWarmUpNs / alone + 1);
  time = time ? run(steps) : time;
  if (!time) {
    // What is queued calls back into `nearlyDone`.
    static_cast<void>(device.synchronize());
    return time.error();
  }
  return isHostAhead ? std::max(1.0, double(*time) / double(alone * steps))
                     : 1.0;
}

} // namespace vdnn::rt
