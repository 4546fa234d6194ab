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

/// What a run needs to tell how long its kernels take. The last half of the
/// steps counts: a GPU's own tracer sees none of them.
inline constexpr uint64_t kStepsForKernels = 2 * TraceRecorder::kTracedSteps;

/// The first half must take so long: within that a GPU settles at a clock.
inline constexpr int64_t kSettlingNs = 500'000'000;

/// A launch of the plan, as a profile names its kernel and the way to run it.
struct StepLaunch {
  std::string signature;
  std::string algorithm;
};

std::vector<StepLaunch> launchesOf(const schedule::ScheduleT &schedule);

/// Of a plan that ran.
struct MeasuredStep {
  /// Bytes per second of the large copies; 0: not known.
  double toHostRate = 0;
  double toDeviceRate = 0;
  std::vector<StepLaunch> launches;
  /// All launches, what lies between them too; 0: not known.
  int64_t kernelNs = 0;
  std::string unknown; ///< why the kernels' time is not known
};

/// Of the steps of a run: the rates are those of its trace; the kernels take
/// the median of its last half, without the copies that no kernel hides, where
/// these are at most a twentieth of it.
MeasuredStep measuredStep(const schedule::ScheduleT &schedule,
                          const TraceSummary &trace,
                          std::span<const int64_t> stepNs);

/// What the launches take alone, added up. An error where the profile lacks
/// one of them.
Result<int64_t> aloneNs(std::span<const StepLaunch> launches,
                        const Profile &profile);

/// How many times as long the launches took in the step as alone. An error says
/// why it is not known, or not to be believed.
Result<double> slowdownOf(const MeasuredStep &step, const Profile &profile);

/// A profile that was refined by a step.
struct RefinedProfile {
  std::string text;
  /// How many times as long the launches take in the step as alone; 0: the
  /// times of kernels stay.
  double slowdown = 0;
  std::string unknown; ///< why they do
};

/// What `toJson` wrote, with what a step took: rates beside kernels, and the
/// times in a step of all ways to run the plan's kernels. What is not known
/// stays, and the kernels' times where the step's are not plausible. An error
/// where it is no profile, or not of the device of this fingerprint.
Result<RefinedProfile> withStep(const std::string &text,
                                const std::string &fingerprint,
                                const MeasuredStep &step);

} // namespace vdnn::rt

#endif
