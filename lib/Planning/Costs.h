//===- Costs.h - durations by the problem's cost model --------------------===//

#ifndef VDNN_LIB_PLANNING_COSTS_H
#define VDNN_LIB_PLANNING_COSTS_H

#include "vdnn/Planning/Solution.h"

#include <algorithm>
#include <cmath>

namespace vdnn::planning {

/// Of one copy alone on its link. A link without a rate costs only its latency.
inline int64_t copyTime(uint64_t bytes, double bytesPerSecond,
                        int64_t latencyNs) {
  if (bytesPerSecond <= 0) {
    return latencyNs;
  }
  double ns = std::ceil(double(bytes) / bytesPerSecond * 1e9);
  // Bounded, so that sums of such times stay in range.
  return latencyNs + int64_t(std::min(ns, 3e15));
}

inline int64_t offloadTime(const Problem &problem, uint64_t bytes) {
  return copyTime(bytes, problem.link.deviceToHostBytesPerSecond,
                  problem.link.latencyNs);
}

inline int64_t prefetchTime(const Problem &problem, uint64_t bytes) {
  return copyTime(bytes, problem.link.hostToDeviceBytesPerSecond,
                  problem.link.latencyNs);
}

inline uint64_t alignUp(uint64_t bytes, uint64_t alignment) {
  return bytes == 0 ? 0 : ((bytes - 1) / alignment + 1) * alignment;
}

/// Start of every op if the compute stream never waited; one entry more for the
/// end.
inline std::vector<int64_t> opStarts(const Problem &problem,
                                     const std::vector<uint32_t> &choice) {
  std::vector<int64_t> starts{0};
  for (OpId op = 0; op < problem.ops.size(); ++op) {
    starts.push_back(starts.back() +
                     problem.ops[op].choices[choice[op]].timeNs);
  }
  return starts;
}

} // namespace vdnn::planning

#endif
