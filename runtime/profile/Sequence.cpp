//===- Sequence.cpp -------------------------------------------------------===//

#include "runtime/profile/Sequence.h"

#include <algorithm>
#include <atomic>

namespace vdnn::rt {

static constexpr uint32_t kCompute = 0;

Result<double> measureSlowdown(Device &device,
                               const std::vector<const ComputeLoad *> &step) {
  constexpr double kWarmUpNs = 1e9, kMeasuredNs = 0.5e9;
  constexpr int64_t kAhead = 16; // launches by which the host leads at the end
  double alone = 0;
  for (const ComputeLoad *load : step) {
    alone += double(load->launchNs);
  }
  auto launches = static_cast<int64_t>(step.size());
  if (step.empty() || alone < double(launches * kShortestLoadNs)) {
    return 0.0;
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
  auto stepsIn = [&](double ns) {
    return static_cast<int64_t>(ns / alone) + 1;
  };
  int64_t steps = stepsIn(kMeasuredNs);
  Result<int64_t> time = run(stepsIn(kWarmUpNs));
  time = time ? run(steps) : time;
  if (!time) {
    // What is queued calls back into `nearlyDone`.
    static_cast<void>(device.synchronize());
    return time.error();
  }
  return isHostAhead ? std::max(1.0, double(*time) / (alone * double(steps)))
                     : 0.0;
}

} // namespace vdnn::rt
