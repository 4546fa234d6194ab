//===- Link.cpp -----------------------------------------------------------===//

#include "runtime/profile/Link.h"

#include <algorithm>

namespace vdnn::rt {

static constexpr uint32_t kToHost = 1, kToDevice = 2;
static constexpr uint64_t kHalf = kLinkBytes / 2;

/// The fastest of some runs: others may use the link too.
static Result<int64_t> fastest(Device &device, uint32_t stream,
                               const std::function<Status()> &submit) {
  int64_t best = INT64_MAX;
  for (int run = 0; run < 5; ++run) {
    Result<int64_t> time = device.measure(stream, submit);
    if (!time) {
      return time;
    }
    best = std::min(best, *time);
  }
  return std::max<int64_t>(best, 1);
}

Result<MeasuredLink> measureLink(Device &device) {
  // Halves of both arenas, so that the directions never meet.
  auto toHost = [&](uint64_t bytes) {
    return device.copyToHost(kToHost, 0, 0, bytes);
  };
  auto toDevice = [&](uint64_t bytes) {
    return device.copyToDevice(kToDevice, kHalf, kHalf, bytes);
  };
  Result<int64_t> small =
      fastest(device, kToHost, [&] { return toHost(4096); });
  Result<int64_t> out = fastest(device, kToHost, [&] { return toHost(kHalf); });
  Result<int64_t> in =
      fastest(device, kToDevice, [&] { return toDevice(kHalf); });
  // The copy in begins once some are queued the other way, and ends before
  // they do.
  Result<int64_t> both = fastest(device, kToDevice, [&]() -> Status {
    for (int i = 0; i < 3; ++i) {
      if (Status status = toHost(kHalf); !status) {
        return status;
      }
    }
    return toDevice(kHalf);
  });
  for (const Result<int64_t> *result : {&small, &out, &in, &both}) {
    if (!*result) {
      return result->error();
    }
  }
  MeasuredLink link;
  link.latencyNs = *small;
  auto rate = [&](int64_t ns) {
    return double(kHalf) / (double(std::max<int64_t>(ns - *small, 1)) * 1e-9);
  };
  link.toHost = rate(*out);
  link.toDevice = rate(*in);
  link.duplexFactor = std::clamp(double(*in) / double(*both), 0.001, 1.0);
  return link;
}

} // namespace vdnn::rt
