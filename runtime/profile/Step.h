//===- Step.h - what whole steps tell a profile ---------------------------===//
//
// Kernels and copies that are timed alone do not tell all of what they take in
// a step: a GPU that draws all the power it may lowers its clock, by how much
// depends on the values; and copies are slower while a step's kernels are
// queued.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_PROFILE_STEP_H
#define VDNN_RUNTIME_PROFILE_STEP_H

#include "runtime/exec/Observers.h"
#include "runtime/exec/TraceSummary.h"
#include "runtime/profile/Profile.h"

#include <span>
#include <string>
#include <vector>

namespace vdnn::rt {

/// What a run needs to tell how long its kernels take: no tracer slows down the
/// last half of its steps.
inline constexpr uint64_t kStepsForKernels = 2 * TraceRecorder::kTracedSteps;

/// A launch of the plan, as a profile names its kernel and the way to run it.
struct StepLaunch {
  std::string signature;
  std::string algorithm;
};

/// Of a plan that ran. 0: not known.
struct MeasuredStep {
  /// Bytes per second of the large copies.
  double toHostRate = 0;
  double toDeviceRate = 0;
  /// Copies that no kernel hides.
  int64_t exposedNs = 0;
  /// All launches of a step, what lies between them too.
  int64_t kernelNs = 0;
  std::vector<StepLaunch> launches; ///< none where their time is not known

  bool tellsNothing() const {
    return toHostRate == 0 && toDeviceRate == 0 && kernelNs == 0;
  }
};

/// Of the steps of a run: the rates are those of its trace; the kernels take
/// the median of its last half, of at least `kStepsForKernels` steps, without
/// the copies that no kernel hides, where these are at most a twentieth of it.
MeasuredStep measuredStep(const schedule::ScheduleT &schedule,
                          const TraceSummary &trace,
                          std::span<const int64_t> stepNs);

/// How many times as long the launches of the step took as each alone; 0 where
/// their time is not known. An error where the profile lacks one of them.
Result<double> slowdownOf(const MeasuredStep &step, const Profile &profile);

/// A profile that was refined by a step.
struct RefinedProfile {
  std::string text;
  double slowdown = 0; ///< as `slowdownOf` says
};

/// What `toJson` wrote, with what a step took: rates beside kernels, and the
/// times in a step of all ways to run the plan's kernels. What is not known
/// stays. An error where the profile is not of the device of this fingerprint,
/// or lacks a kernel of a step whose kernels' time is known.
Result<RefinedProfile> withStep(const std::string &text,
                                const std::string &fingerprint,
                                const MeasuredStep &step);

} // namespace vdnn::rt

#endif
