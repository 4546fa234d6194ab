//===- UpdateProfile.cpp --------------------------------------------------===//

#include "UpdateProfile.h"

#include "runtime/profile/Step.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Format.h"
#include "runtime/support/MappedFile.h"

#include <algorithm>
#include <filesystem>

namespace vdnn::tool {

using rt::format;

static rt::Result<rt::RefinedProfile> refine(const std::string &path,
                                             rt::Executor &executor,
                                             const rt::MeasuredStep &step) {
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(path);
  if (!file) {
    return file.error();
  }
  rt::Result<rt::RefinedProfile> refined =
      rt::withStep(file->text(), executor.device().fingerprint(), step);
  return refined
             ? refined
             : rt::Error{"cannot update '" + path + "': " + refined.message()};
}

rt::Status refuseProfileUpdate(const RunOptions &options,
                               rt::Executor &executor, uint64_t steps) {
  if (options.updateProfile.empty()) {
    return {};
  }
  if (!executor.device().computes()) {
    return rt::Error{"--update-profile needs a device that computes: a "
                     "simulated one has the plan's own times"};
  }
  const schedule::ScheduleT &schedule = executor.schedule();
  if (steps < rt::kStepsForKernels &&
      std::none_of(
          schedule.commands.begin(), schedule.commands.end(),
          [&](const auto &command) {
            return rt::isLargeCopy(schedule, *command);
          })) {
    return rt::Error{
        format("--update-profile needs at least %llu steps of a plan that "
               "never copies %s at once (--steps 100)",
               static_cast<unsigned long long>(rt::kStepsForKernels),
               rt::formatBytes(rt::kLargeCopy).c_str())};
  }
  if (steps < 2) {
    return rt::Error{"--update-profile needs at least 2 steps: the first one "
                     "loads code and does not count (--steps 8)"};
  }
  const std::pair<const char *, const std::string &> written[] = {
      {"--trace", options.trace},
      {"--save", options.save},
      {"--dump-gradients", options.dumpGradients},
      {"--dump-tensors", options.dumpTensors}};
  for (const auto &[option, path] : written) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, options.updateProfile, ignored)) {
      return rt::Error{std::string(option) + " '" + path +
                       "' would overwrite the profile to update; choose "
                       "another name"};
    }
  }
  return refine(options.updateProfile, executor, {}).status();
}

static std::string describe(const rt::MeasuredStep &step, double slowdown) {
  std::string text;
  const std::pair<const char *, double> directions[] = {
      {"to host", step.toHostRate}, {"to device", step.toDeviceRate}};
  for (const auto &[name, rate] : directions) {
    if (rate > 0) {
      text +=
          format("%s%.1f GB/s %s", text.empty() ? "" : ", ", rate / 1e9, name);
    }
  }
  text += text.empty() ? "" : "; ";
  if (slowdown > 0) {
    return text + format("a step takes %.3f times what its kernels take alone",
                         slowdown);
  }
  return text +
         format("the times of kernels stay as they are: they need at least "
                "%llu steps that hardly wait for copies, here for %s each",
                static_cast<unsigned long long>(rt::kStepsForKernels),
                rt::formatDuration(step.exposedNs).c_str());
}

rt::Result<std::string> updateProfile(const std::string &path,
                                      rt::Executor &executor,
                                      const RunReport &report) {
  auto leave = [&](const std::string &why) {
    return rt::Error{"'" + path + "' stays as it is: " + why};
  };
  if (report.stepNs.size() < 2) {
    return leave("the run ended before its second step, and the first one "
                 "does not count");
  }
  if (!report.isFinite()) {
    return leave("the loss was not a number, and with such values a GPU may be "
                 "faster than in training; use a smaller --rate");
  }
  rt::MeasuredStep step =
      rt::measuredStep(executor.schedule(), report.trace, report.stepNs);
  if (step.tellsNothing()) {
    return leave("the trace does not tell which copies are the plan's large "
                 "ones; run again with more steps (--steps 100)");
  }
  rt::Result<rt::RefinedProfile> refined = refine(path, executor, step);
  rt::Status status =
      refined ? rt::writeFile(path, refined->text) : refined.status();
  if (!status) {
    return status.error();
  }
  return "profile   '" + path + "': " + describe(step, refined->slowdown);
}

} // namespace vdnn::tool
