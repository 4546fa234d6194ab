//===- Link.cpp -----------------------------------------------------------===//

#include "runtime/profile/Link.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace vdnn::rt {

static constexpr uint32_t kCompute = 0, kToHost = 1, kToDevice = 2;
static constexpr uint64_t kHalf = kLinkBytes / 2;

static double rate(uint64_t bytes, int64_t ns, int64_t latencyNs) {
  return double(bytes) / (double(std::max<int64_t>(ns - latencyNs, 1)) * 1e-9);
}

double MeasuredLink::largestError() const {
  double largest = 0;
  for (const MeasuredCopy &copy : copies) {
    for (auto [ns, rate] : {std::pair(copy.toHostNs, toHost),
                            std::pair(copy.toDeviceNs, toDevice)}) {
      double predicted = double(latencyNs) + double(copy.bytes) / rate * 1e9;
      largest = std::max(largest, std::fabs(predicted / double(ns) - 1));
    }
  }
  return largest;
}

Status LinkMeasurement::copy(uint32_t stream, uint64_t bytes) {
  constexpr uint64_t kPlaces = kLinkHostBytes / kLinkBytes;
  uint64_t place = turn++ % kPlaces * kHalf;
  return stream == kToHost
             ? device.copyToHost(stream, place, offset, bytes)
             : device.copyToDevice(stream, offset + kHalf,
                                   kLinkHostBytes / 2 + place, bytes);
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
  MeasuredLink link;
  for (uint64_t bytes : {uint64_t{4} << 10, uint64_t{64} << 10,
                         uint64_t{1} << 20, uint64_t{16} << 20, kHalf}) {
    Result<int64_t> out =
        fastest(kToHost, [&] { return copy(kToHost, bytes); });
    Result<int64_t> in =
        out ? fastest(kToDevice, [&] { return copy(kToDevice, bytes); }) : out;
    if (!in) {
      return in.error();
    }
    link.copies.push_back({bytes, *out, *in});
  }
  // The copy in begins once some are queued the other way, and ends before
  // they do.
  Result<int64_t> both = fastest(kToDevice, [&]() -> Status {
    for (int i = 0; i < 3; ++i) {
      if (Status status = copy(kToHost, kHalf); !status) {
        return status;
      }
    }
    return copy(kToDevice, kHalf);
  });
  if (!both) {
    return both.error();
  }
  const MeasuredCopy &small = link.copies.front(), &large = link.copies.back();
  link.latencyNs = small.toHostNs;
  link.toHost = rate(kHalf, large.toHostNs, link.latencyNs);
  link.toDevice = rate(kHalf, large.toDeviceNs, link.latencyNs);
  link.duplexFactor =
      std::clamp(double(large.toDeviceNs) / double(*both), 0.001, 1.0);
  return link;
}

Status LinkMeasurement::queueRound(uint32_t stream, const ComputeLoad &load,
                                   double rateAlone) {
  // Copies a bit longer than the launches, so that their stream never idles.
  constexpr double kLonger = 1.5;
  double copyNs = double(kHalf) / rateAlone * 1e9,
         launchNs = double(load.launchNs);
  auto launches = static_cast<int64_t>(copyNs / kLonger / launchNs);
  auto copies = static_cast<int64_t>(std::ceil(launchNs * kLonger / copyNs));
  Status status;
  for (int64_t i = 0; status && i < std::max<int64_t>(launches, 1); ++i) {
    status = load.launch();
  }
  for (int64_t i = 0; status && i < copies; ++i) {
    status = copy(stream, kHalf);
  }
  // Both streams wait for the other's part of the round.
  status = status ? device.record(kCompute, 0) : status;
  status = status ? device.record(stream, 1) : status;
  status = status ? device.wait(kCompute, 1) : status;
  return status ? device.wait(stream, 0) : status;
}

Result<double>
LinkMeasurement::rateUnderCompute(uint32_t stream, double rateAlone,
                                  int64_t latencyNs,
                                  const std::vector<ComputeLoad> &loads) {
  constexpr unsigned kRounds = 24, kRuns = 5, kFailures = 5;
  // The other direction's idle stream watches: a function of the host on this
  // stream would be timed with the copies.
  uint32_t watcher = stream == kToHost ? kToDevice : kToHost;
  std::vector<double> rates;
  for (unsigned failures = 0; rates.size() < kRuns;) {
    std::atomic<bool> nearlyDone = false;
    bool isHostAhead = false;
    uint64_t before = turn;
    Result<int64_t> time = device.measure(stream, [&] {
      Status status;
      for (unsigned round = 0; status && round < kRounds; ++round) {
        if (round == kRounds * 3 / 4) {
          status = device.wait(watcher, 1);
          status = status ? device.callback(watcher, [&] { nearlyDone = true; })
                          : status;
        }
        status =
            status ? queueRound(stream, loads[round % loads.size()], rateAlone)
                   : status;
      }
      isHostAhead = !nearlyDone;
      return status;
    });
    if (!time) {
      // What is queued calls back into `nearlyDone`.
      static_cast<void>(device.synchronize());
      return time.error();
    }
    if (isHostAhead) {
      rates.push_back(rate((turn - before) * kHalf, *time, latencyNs));
    } else if (++failures > kFailures) {
      return 0.0;
    }
  }
  std::sort(rates.begin(), rates.end());
  return rates[kRuns / 2];
}

Status LinkMeasurement::underCompute(const std::vector<ComputeLoad> &loads,
                                     MeasuredLink &link) {
  Result<double> toHost =
      rateUnderCompute(kToHost, link.toHost, link.latencyNs, loads);
  if (!toHost) {
    return toHost.status();
  }
  Result<double> toDevice =
      rateUnderCompute(kToDevice, link.toDevice, link.latencyNs, loads);
  if (!toDevice) {
    return toDevice.status();
  }
  link.toHostUnderCompute = *toHost;
  link.toDeviceUnderCompute = *toDevice;
  return {};
}

} // namespace vdnn::rt
