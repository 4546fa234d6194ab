//===- Task.h - the kernels of a plan that are measured -------------------===//

#ifndef VDNN_RUNTIME_PROFILE_TASK_H
#define VDNN_RUNTIME_PROFILE_TASK_H

#include "runtime/profile/Profile.h"

#include <vector>

namespace vdnn::rt {

/// A kernel of the plan that is measured once, however often it is launched.
struct Task {
  std::string signature;
  const schedule::KernelT *kernel;
  std::vector<const schedule::TypeT *> reads, writes;
  std::vector<KernelCandidate> candidates; ///< those not measured yet
  /// How many times as long its ways take in a step as alone, by what an
  /// earlier profile holds, of code that has changed since, too.
  double slowdown = 1;
  /// Each operand has bytes of its own, whatever the plan does in place.
  std::vector<uint64_t> readOffsets, writeOffsets;
  uint64_t workspaceOffset = 0;

  LaunchTypes types() const { return {reads, writes}; }
  LaunchArguments arguments(uint64_t workspaceBytes) const {
    return {readOffsets, writeOffsets, workspaceOffset, workspaceBytes};
  }
};

/// All tasks lie in the same bytes of the arena, one over the other: first the
/// floats that they read, then the integers, then what they write, then their
/// workspaces. So no kernel ever reads what another one left behind.
struct TaskList {
  std::vector<Task> tasks;
  uint64_t floatBytes = 0;   ///< from the beginning of the arena
  uint64_t integerBytes = 0; ///< behind them
  uint64_t bytes = 0;        ///< workspaces of all candidates included
};

/// f32, bf16 or f16.
bool isFloat(const schedule::TypeT &type);

/// Drops from `profile` the ways of the plan's kernels that are to be measured
/// anew and those that the backend no longer offers.
Result<TaskList> listTasks(const schedule::ScheduleT &plan, KernelQuery &query,
                           const ProfileOptions &options, Profile &profile);

} // namespace vdnn::rt

#endif
