//===- Timeline.h - when each command starts and ends, by the cost model --===//
//
// The one model of overlap in the project: planners judge candidates by it and
// the simulator runs it. A pure function.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_SIM_TIMELINE_H
#define VDNN_RUNTIME_SIM_TIMELINE_H

#include <cstdint>
#include <span>
#include <vector>

namespace vdnn::rt {

struct TimedCommand {
  enum class Kind { Work, Record, Wait };
  Kind kind = Kind::Work;
  uint32_t stream = 0;
  /// Record, Wait.
  uint32_t event = 0;
  /// Work: its duration alone, ns.
  int64_t durationNs = 0;
  /// Work that is a copy slows down while a copy of the other direction runs: 0
  /// none, 1 to the host, 2 to the device.
  uint8_t direction = 0;
};

struct Timeline {
  /// Per command, ns from the beginning of the step.
  std::vector<int64_t> startNs;
  std::vector<int64_t> endNs;
  /// End of the last command.
  int64_t totalNs = 0;
  /// Time during which the stream 0 (compute) waited although it had work left,
  /// ns.
  int64_t stallNs = 0;
};

/// Runs the commands in submission order on their streams. `duplexFactor` in
/// (0, 1] is the rate of each copy direction while both run, as a share of its
/// rate alone. A wait for an event that no earlier command records is satisfied
/// at once (the checker refuses such plans).
Timeline simulate(std::span<const TimedCommand> commands, uint32_t streamCount,
                  double duplexFactor);

} // namespace vdnn::rt

#endif
