//===- Statistics.h - what a program costs, by the cost model -------------===//

#ifndef VDNN_PLANNING_STATISTICS_H
#define VDNN_PLANNING_STATISTICS_H

#include "runtime/sim/Timeline.h"
#include "vdnn/Planning/Program.h"

namespace vdnn::planning {

/// When each command of one step starts and ends; indices as in
/// `program.commands`.
rt::Timeline predict(const Problem &problem, const Program &program);

/// A buffer that is live where most bytes are.
struct PeakMaker {
  std::string name;
  uint64_t bytes = 0;
};

struct Statistics {
  int64_t stepNs = 0;
  /// Sum of all kernels: the step if no copy were ever waited for.
  int64_t computeNs = 0;
  int64_t stallNs = 0;
  /// Sum of all copies, alone on their links.
  int64_t copyNs = 0;
  /// Share of the copies' time that does not make the step longer, in [0, 1]; 1
  /// without copies.
  double hiddenShare = 1;
  /// Live device bytes, averaged over the predicted time of the step.
  uint64_t averageDeviceBytes = 0;
  /// The largest sum of live device bytes, the op before which it begins, and
  /// who makes it (large first; buffers that share a range count once, under
  /// the name of the later one).
  uint64_t peakLiveBytes = 0;
  OpId peakOp = 0;
  std::vector<PeakMaker> peakMakers;
  /// Of all transfers to the host and back; inputs and outputs are not counted,
  /// except that an input comes back once more.
  uint64_t offloadedBytes = 0;
  uint64_t prefetchedBytes = 0;
  /// All copies of a step, inputs and outputs included.
  uint64_t copiedToHostBytes = 0;
  uint64_t copiedToDeviceBytes = 0;
};

Statistics measure(const Problem &problem, const Program &program);

/// The smallest device arena that the program runs in: the smallest feasible
/// budget of the policy that made it.
inline uint64_t smallestBudget(const Program &program) {
  return program.devicePeak;
}

} // namespace vdnn::planning

#endif
