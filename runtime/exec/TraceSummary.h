//===- TraceSummary.h - where the time of a step goes ---------------------===//

#ifndef VDNN_RUNTIME_EXEC_TRACESUMMARY_H
#define VDNN_RUNTIME_EXEC_TRACESUMMARY_H

#include "runtime/exec/Activity.h"
#include "runtime/exec/Overlap.h"
#include "runtime/schedule/Schedule.h"

#include <span>

namespace vdnn::rt {

/// Bytes of a copy beside which the link's latency is nothing.
inline constexpr uint64_t kLargeCopy = uint64_t{16} << 20;

/// Whether a command copies at least as much.
bool isLargeCopy(const schedule::ScheduleT &schedule,
                 const schedule::CommandT &command);

/// An activity of a step.
struct Slice {
  uint64_t step = 0; ///< from the beginning of the trace
  Activity activity;
};

/// All commands of one kernel kind and algorithm in a step, or all copies of
/// one direction.
struct Cost {
  std::string kind; ///< empty: what belongs to no command
  std::string algorithm;
  uint64_t count = 0; ///< commands
  int64_t measuredNs = 0;
  int64_t predictedNs = 0;
  std::string slowest; ///< location of the command that takes longest
  int64_t slowestNs = 0;
};

/// Means over steps.
struct TraceSummary {
  uint64_t steps = 0;
  bool replayed = false; ///< captured steps
  CopyTime toHost;
  CopyTime toDevice;
  /// Bytes per second of the copies of at least `kLargeCopy`, as they would be
  /// if the other direction were idle (by the plan's duplex factor); 0: there
  /// are none.
  double toHostRate = 0;
  double toDeviceRate = 0;
  std::vector<Cost> costs; ///< the largest first
};

/// Whether a command takes time: not an event's.
bool isTimed(const schedule::CommandT &command);

/// What a timed command does.
Activity::Kind kindOf(const schedule::ScheduleT &schedule,
                      const schedule::CommandT &command);

/// A step of which the times of each command are known.
std::vector<Slice> slicesOf(const schedule::ScheduleT &schedule,
                            std::span<const int64_t> startNs,
                            std::span<const int64_t> endNs);

/// Of the captured steps where there are any, else of all but the first, which
/// loads code and warms caches up, where there are more.
TraceSummary summarize(const schedule::ScheduleT &schedule,
                       std::span<const Slice> slices);

/// Gives activities of a step the commands of another step of the same plan
/// whose activities have some. Kernels, and copies of either direction, run one
/// after the other in the order of submission: the same place is the same
/// command. Where the number differs, none gets one; nor does one whose name
/// differs.
void assignCommands(std::span<const Activity> known,
                    std::vector<Activity> &activities);

} // namespace vdnn::rt

#endif
