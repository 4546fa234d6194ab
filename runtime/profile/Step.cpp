//===- Step.cpp -----------------------------------------------------------===//

#include "runtime/profile/Step.h"

#include "runtime/profile/Load.h"
#include "runtime/support/Format.h"

#include <algorithm>
#include <numeric>

namespace vdnn::rt {

/// Of the last half of the steps.
static int64_t medianOfRest(std::span<const int64_t> stepNs) {
  std::vector<int64_t> rest(
      stepNs.begin() + static_cast<ptrdiff_t>(stepNs.size() / 2), stepNs.end());
  auto middle = rest.begin() + static_cast<ptrdiff_t>(rest.size() / 2);
  std::nth_element(rest.begin(), middle, rest.end());
  return *middle;
}

std::vector<StepLaunch> launchesOf(const schedule::ScheduleT &schedule) {
  std::vector<StepLaunch> launches;
  for (const auto &command : schedule.commands) {
    if (command->kind == schedule::CommandKind::Launch) {
      const schedule::KernelT &kernel = *schedule.kernels[command->kernel];
      launches.push_back(
          {schedule::signature(kernel,
                               schedule::typesOf(schedule, command->reads),
                               schedule::typesOf(schedule, command->writes)),
           kernel.algorithm});
    }
  }
  return launches;
}

/// Empty where the steps tell how long kernels take.
static std::string findUnknown(std::span<const int64_t> stepNs,
                               int64_t exposedNs) {
  constexpr int64_t kMostExposed = 20; // a step is so many times as long
  if (stepNs.size() < kStepsForKernels) {
    return format("%zu steps were run, and at least %llu are needed",
                  stepNs.size(),
                  static_cast<unsigned long long>(kStepsForKernels));
  }
  auto half = stepNs.begin() + static_cast<ptrdiff_t>(stepNs.size() / 2);
  int64_t settlingNs = std::accumulate(stepNs.begin(), half, int64_t{0});
  if (settlingNs < kSettlingNs) {
    return "the first half of the steps takes " + formatDuration(settlingNs) +
           ", and a GPU needs " + formatDuration(kSettlingNs) +
           " to settle: run more steps";
  }
  if (exposedNs > medianOfRest(stepNs) / kMostExposed) {
    return "copies that no kernel hides take " + formatDuration(exposedNs) +
           " of a step of " + formatDuration(medianOfRest(stepNs)) +
           ", and at most a twentieth may";
  }
  return "";
}

MeasuredStep measuredStep(const schedule::ScheduleT &schedule,
                          const TraceSummary &trace,
                          std::span<const int64_t> stepNs) {
  MeasuredStep step;
  step.toHostRate = trace.toHostRate;
  step.toDeviceRate = trace.toDeviceRate;
  step.launches = launchesOf(schedule);
  int64_t exposedNs = trace.toHost.exposedNs() + trace.toDevice.exposedNs();
  step.unknown = findUnknown(stepNs, exposedNs);
  step.kernelNs = step.unknown.empty() ? medianOfRest(stepNs) - exposedNs : 0;
  return step;
}

Result<int64_t> aloneNs(std::span<const StepLaunch> launches,
                        const Profile &profile) {
  int64_t sum = 0;
  for (const StepLaunch &launch : launches) {
    auto known = profile.kernels.find(launch.signature);
    const MeasuredKernel *found = nullptr;
    if (known != profile.kernels.end()) {
      auto way = std::ranges::find(
          known->second, launch.algorithm,
          [](const MeasuredKernel &way) { return way.candidate.algorithm; });
      found = way == known->second.end() ? nullptr : &*way;
    }
    if (!found) {
      return Error{"the profile lacks '" + launch.signature + "' by '" +
                   launch.algorithm +
                   "', which the plan runs: add its kernels (vdnn-profile "
                   "--update) and plan with the profile first"};
    }
    // One that was edited may hold more; the sum must not overflow.
    sum += std::min<int64_t>(found->aloneNs, int64_t{1} << 40);
  }
  return sum;
}

Result<double> slowdownOf(const MeasuredStep &step, const Profile &profile) {
  constexpr double kLeast = 0.5, kMost = 4;
  if (step.kernelNs == 0) {
    return Error{step.unknown};
  }
  Result<int64_t> alone = aloneNs(step.launches, profile);
  if (!alone) {
    return alone.error();
  }
  int64_t launches = std::max<int64_t>(std::ssize(step.launches), 1);
  if (*alone / launches < kShortestLoadNs) {
    return Error{"alone its kernels take " + formatDuration(*alone / launches) +
                 " on average, and those below " +
                 formatDuration(kShortestLoadNs) + " wait for the host"};
  }
  double slowdown = double(step.kernelNs) / double(*alone);
  if (slowdown < kLeast || slowdown > kMost) {
    return Error{format("a step takes %.3g times what they take alone: was "
                        "something else using the device, now or when it was "
                        "profiled?",
                        slowdown)};
  }
  return slowdown;
}

} // namespace vdnn::rt
