//===- Link.cpp -----------------------------------------------------------===//

#include "runtime/profile/Link.h"

#include <algorithm>
#include <atomic>

namespace vdnn::rt {

static constexpr uint32_t kCompute = 0, kToHost = 1, kToDevice = 2;
static constexpr uint64_t kHalf = kLinkBytes / 2;

static double rate(uint64_t bytes, int64_t ns, int64_t latencyNs) {
  return double(bytes) / (double(std::max<int64_t>(ns - latencyNs, 1)) * 1e-9);
}

Status LinkMeasurement::copy(uint32_t stream) {
  return stream == kToHost
             ? device.copyToHost(stream, 0, offset, kHalf)
             : device.copyToDevice(stream, offset + kHalf, kHalf, kHalf);
}

Result<int64_t>
LinkMeasurement::fastest(uint32_t stream,
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

Result<MeasuredLink> LinkMeasurement::alone() {
  Result<int64_t> small = fastest(
      kToHost, [&] { return device.copyToHost(kToHost, 0, offset, 4096); });
  Result<int64_t> out = fastest(kToHost, [&] { return copy(kToHost); });
  Result<int64_t> in = fastest(kToDevice, [&] { return copy(kToDevice); });
  // The copy in begins once some are queued the other way, and ends before
  // they do.
  Result<int64_t> both = fastest(kToDevice, [&]() -> Status {
    for (int i = 0; i < 3; ++i) {
      if (Status status = copy(kToHost); !status) {
        return status;
      }
    }
    return copy(kToDevice);
  });
  for (const Result<int64_t> *result : {&small, &out, &in, &both}) {
    if (!*result) {
      return result->error();
    }
  }
  MeasuredLink link;
  link.latencyNs = *small;
  link.toHost = rate(kHalf, *out, *small);
  link.toDevice = rate(kHalf, *in, *small);
  link.duplexFactor = std::clamp(double(*in) / double(*both), 0.001, 1.0);
  return link;
}

namespace {

/// What became of one run, as the streams themselves tell while they go on.
struct RunState {
  std::atomic<bool> computed = false; ///< All launches have ended.
  std::atomic<bool> copied = false;   ///< All copies have ended.
  std::atomic<bool> covered = false;  ///< They did while launches still ran.
};

} // namespace

/// Queues copies, and at once launches for longer than they take: copies that
/// are queued after the launches would be timed from before those, since a
/// measurement begins when its stream is idle. The first launch follows the
/// first copy by microseconds, and the copies take milliseconds.
static Status submitBoth(Device &device, uint32_t stream, int64_t launches,
                         const std::function<Status()> &copies,
                         const ComputeLoad &load, RunState &state) {
  // The other direction's idle stream watches this one's end: a function of the
  // host on this stream would be timed with the copies.
  uint32_t watcher = stream == kToHost ? kToDevice : kToHost;
  Status status = copies();
  status = status ? device.record(stream, 0) : status;
  status = status ? device.wait(watcher, 0) : status;
  status = status ? device.callback(watcher,
                                    [&] {
                                      state.covered = !state.computed;
                                      state.copied = true;
                                    })
                  : status;
  for (int64_t i = 0; status && i < launches; ++i) {
    status = load.launch();
  }
  return status ? device.callback(kCompute, [&] { state.computed = true; })
                : status;
}

Result<double> LinkMeasurement::rateUnderCompute(uint32_t stream,
                                                 double rateAlone,
                                                 int64_t latencyNs,
                                                 const ComputeLoad &load) {
  constexpr unsigned kCopies = 4, kRuns = 5, kFailures = 5;
  constexpr uint64_t kBytes = kCopies * kHalf;
  auto copies = [&] {
    Status status;
    for (unsigned i = 0; status && i < kCopies; ++i) {
      status = copy(stream);
    }
    return status;
  };
  double expectedNs = double(kBytes) / rateAlone * 1e9;
  auto launches =
      static_cast<int64_t>(1.5 * expectedNs / double(load.launchNs)) + 2;
  std::vector<int64_t> times;
  for (unsigned failures = 0; times.size() < kRuns;) {
    RunState state;
    bool queuedInTime = false;
    Result<int64_t> time = device.measure(stream, [&] {
      Status status = submitBoth(device, stream, launches, copies, load, state);
      queuedInTime = !state.copied;
      return status;
    });
    if (!time) {
      // What is queued calls back into `state`.
      static_cast<void>(device.synchronize());
      return time.error();
    }
    // The end of a measurement is queued after the launches: where that is
    // later than the last copy, it tells nothing of the copies.
    if (queuedInTime && state.covered) {
      times.push_back(*time);
    } else if (++failures > kFailures) {
      return 0.0;
    } else if (queuedInTime) {
      launches *= 2;
    }
  }
  std::sort(times.begin(), times.end());
  return rate(kBytes, times[kRuns / 2], latencyNs);
}

Status LinkMeasurement::underCompute(const ComputeLoad &load,
                                     MeasuredLink &link) {
  Result<double> toHost =
      rateUnderCompute(kToHost, link.toHost, link.latencyNs, load);
  if (!toHost) {
    return toHost.status();
  }
  Result<double> toDevice =
      rateUnderCompute(kToDevice, link.toDevice, link.latencyNs, load);
  if (!toDevice) {
    return toDevice.status();
  }
  link.toHostUnderCompute = *toHost;
  link.toDeviceUnderCompute = *toDevice;
  return {};
}

} // namespace vdnn::rt
