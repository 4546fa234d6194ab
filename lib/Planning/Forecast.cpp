//===- Forecast.cpp - when copies end, before there is a program ----------===//

#include "Forecast.h"

#include "Costs.h"

#include <algorithm>
#include <cstdio>

namespace vdnn::planning {
namespace {

int64_t offloadTimeOf(const Problem &problem, const Transfer &transfer) {
  const Tensor &tensor = problem.tensors[transfer.tensor];
  return tensor.kind == TensorKind::Input ? 0
                                          : offloadTime(problem, tensor.bytes);
}

/// Follows the three streams op by op.
class Walk {
public:
  Walk(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution),
        waits(solution.transfers.size(), 0),
        outEnd(solution.transfers.size(), 0),
        backEnd(solution.transfers.size(), 0) {}

  std::vector<int64_t> run() {
    size_t count = problem.ops.size();
    std::vector<std::vector<uint32_t>> out(count), free(count + 1), back(count),
        due(count);
    for (uint32_t t = 0; t < solution.transfers.size(); ++t) {
      const Transfer &transfer = solution.transfers[t];
      out[transfer.offloadAt].push_back(t);
      free[transfer.releaseAt].push_back(t);
      back[transfer.prefetchAt].push_back(t);
      due[transfer.neededAt].push_back(t);
    }
    size_t barrier = 0;
    std::vector<uint32_t> inFlight;
    for (OpId op = 0; op < count; ++op) {
      if (barrier < solution.barriers.size() &&
          solution.barriers[barrier] == op) {
        for (uint32_t t : inFlight) {
          waitUntil(t, std::max(outEnd[t], backEnd[t]));
        }
        inFlight.clear();
        ++barrier;
      }
      for (uint32_t t : free[op]) {
        waitUntil(t, outEnd[t]);
      }
      for (uint32_t t : out[op]) {
        const Transfer &transfer = solution.transfers[t];
        outFree = outEnd[t] =
            std::max(now, outFree) + offloadTimeOf(problem, transfer);
        inFlight.push_back(t);
      }
      for (uint32_t t : back[op]) {
        uint64_t bytes = problem.tensors[solution.transfers[t].tensor].bytes;
        backFree = backEnd[t] =
            std::max({now, backFree, outEnd[t]}) + prefetchTime(problem, bytes);
        inFlight.push_back(t);
      }
      for (uint32_t t : due[op]) {
        waitUntil(t, backEnd[t]);
      }
      now += problem.ops[op].choices[solution.choice[op]].timeNs;
    }
    return std::move(waits);
  }

private:
  void waitUntil(uint32_t transfer, int64_t time) {
    waits[transfer] += std::max<int64_t>(0, time - now);
    now = std::max(now, time);
  }

  const Problem &problem;
  const Solution &solution;
  std::vector<int64_t> waits;
  std::vector<int64_t> outEnd;
  std::vector<int64_t> backEnd;
  int64_t now = 0;
  int64_t outFree = 0;
  int64_t backFree = 0;
};

std::string format(double value, const char *unit) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f %s", value, unit);
  return text;
}

} // namespace

std::vector<int64_t> forecastOffloads(const Problem &problem,
                                      const Solution &solution) {
  std::vector<int64_t> starts = opStarts(problem, solution.choice);
  std::vector<int64_t> ends;
  int64_t free = 0;
  for (const Transfer &transfer : solution.transfers) {
    int64_t time = offloadTimeOf(problem, transfer);
    int64_t start = starts[transfer.offloadAt];
    ends.push_back(time == 0 ? start : free = std::max(free, start) + time);
  }
  return ends;
}

std::vector<int64_t> forecastWaits(const Problem &problem,
                                   const Solution &solution) {
  return Walk(problem, solution).run();
}

std::string formatTime(int64_t ns) {
  if (ns < 1000) {
    return std::to_string(ns) + " ns";
  }
  if (ns < 1000000) {
    return format(double(ns) / 1e3, "us");
  }
  return ns < 10000000000 ? format(double(ns) / 1e6, "ms")
                          : format(double(ns) / 1e9, "s");
}

std::string formatBytes(uint64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  if (bytes < (uint64_t(1) << 20)) {
    return format(double(bytes) / 1024, "KiB");
  }
  return bytes < (uint64_t(1) << 30)
             ? format(double(bytes) / double(1 << 20), "MiB")
             : format(double(bytes) / double(1 << 30), "GiB");
}

} // namespace vdnn::planning
