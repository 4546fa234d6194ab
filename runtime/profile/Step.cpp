//===- Step.cpp -----------------------------------------------------------===//

#include "runtime/profile/Step.h"

#include <algorithm>

namespace vdnn::rt {

/// Of the last half of the steps.
static int64_t medianOfRest(std::span<const int64_t> stepNs) {
  std::vector<int64_t> rest(
      stepNs.begin() + static_cast<ptrdiff_t>(stepNs.size() / 2), stepNs.end());
  auto middle = rest.begin() + static_cast<ptrdiff_t>(rest.size() / 2);
  std::nth_element(rest.begin(), middle, rest.end());
  return *middle;
}

MeasuredStep measuredStep(const schedule::ScheduleT &schedule,
                          const TraceSummary &trace,
                          std::span<const int64_t> stepNs) {
  constexpr int64_t kMostExposed = 20; // a step is so many times as long
  MeasuredStep step;
  step.toHostRate = trace.toHostRate;
  step.toDeviceRate = trace.toDeviceRate;
  step.exposedNs = trace.toHost.exposedNs() + trace.toDevice.exposedNs();
  if (stepNs.size() < kStepsForKernels) {
    return step;
  }
  int64_t ns = medianOfRest(stepNs);
  if (step.exposedNs > ns / kMostExposed) {
    return step;
  }
  step.kernelNs = ns - step.exposedNs;
  for (const auto &command : schedule.commands) {
    if (command->kind == schedule::CommandKind::Launch) {
      const schedule::KernelT &kernel = *schedule.kernels[command->kernel];
      step.launches.push_back(
          {schedule::signature(kernel,
                               schedule::typesOf(schedule, command->reads),
                               schedule::typesOf(schedule, command->writes)),
           kernel.algorithm});
    }
  }
  return step;
}

Result<double> slowdownOf(const MeasuredStep &step, const Profile &profile) {
  double aloneNs = 0;
  for (const StepLaunch &launch : step.launches) {
    auto known = profile.kernels.find(launch.signature);
    const MeasuredKernel *found = nullptr;
    if (known != profile.kernels.end()) {
      auto way = std::ranges::find(
          known->second, launch.algorithm,
          [](const MeasuredKernel &way) { return way.candidate.algorithm; });
      found = way == known->second.end() ? nullptr : &*way;
    }
    if (!found) {
      return Error{"it lacks '" + launch.signature + "' by '" +
                   launch.algorithm +
                   "', which the plan runs: add its kernels (vdnn-profile "
                   "--update) and plan with the profile first"};
    }
    aloneNs += double(found->aloneNs);
  }
  return aloneNs > 0 ? double(step.kernelNs) / aloneNs : 0.0;
}

} // namespace vdnn::rt
