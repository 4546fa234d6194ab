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

static bool copiesMuch(const schedule::ScheduleT &schedule) {
  return std::ranges::any_of(schedule.commands, [&](const auto &command) {
    return rt::isLargeCopy(schedule, *command);
  });
}

static rt::Status refuseSteps(const schedule::ScheduleT &schedule,
                              uint64_t done, uint64_t total) {
  bool isLarge = copiesMuch(schedule);
  uint64_t least = isLarge ? 2 : rt::kStepsForKernels;
  if (total >= done && total - done >= least) {
    return {};
  }
  return rt::Error{
      format("--update-profile needs at least %llu steps%s (--steps %llu)",
             static_cast<unsigned long long>(least),
             isLarge ? ": the first one loads code and does not count"
                     : (" of a plan that never copies " +
                        rt::formatBytes(rt::kLargeCopy) + " at once")
                           .c_str(),
             static_cast<unsigned long long>(done) + (isLarge ? 8 : 100))};
}

/// Files that the run writes.
static rt::Status refuseOutputs(const RunOptions &options) {
  std::vector<std::pair<std::string, std::string>> written = {
      {"--trace", options.trace}, {"--save", options.save}};
  for (const auto &[output, path] : options.outputs) {
    written.emplace_back("--output", path);
  }
  for (const auto &[option, path] : written) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, options.updateProfile, ignored)) {
      return rt::Error{option + " '" + path +
                       "' would overwrite the profile to update; choose "
                       "another name"};
    }
  }
  return {};
}

/// What tells nothing of copies must tell of kernels.
static rt::Status refuseKernels(const std::string &path,
                                const schedule::ScheduleT &schedule) {
  if (copiesMuch(schedule)) {
    return {};
  }
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(path);
  if (!file) {
    return file.status();
  }
  rt::Result<rt::Profile> profile = rt::parseProfile(file->text());
  rt::Result<int64_t> alone =
      profile ? rt::aloneNs(rt::launchesOf(schedule), *profile)
              : rt::Result<int64_t>(profile.error());
  return alone ? rt::Status()
               : rt::Error{"cannot update '" + path + "': " + alone.message()};
}

rt::Status refuseProfileUpdate(const RunOptions &options,
                               rt::Executor &executor, uint64_t done,
                               uint64_t total) {
  const std::string &path = options.updateProfile;
  if (path.empty()) {
    return {};
  }
  if (!executor.device().computes()) {
    return rt::Error{"--update-profile needs a device that computes: a "
                     "simulated one has the plan's own times"};
  }
  const schedule::ScheduleT &schedule = executor.schedule();
  rt::Status status = refuseSteps(schedule, done, total);
  status = status ? refuseOutputs(options) : status;
  status = status ? refine(path, executor, {}).status() : status;
  return status ? refuseKernels(path, schedule) : status;
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
  if (!report.isFinite) {
    return leave("the loss was not a number, and with such values a GPU may be "
                 "faster than in training; use a smaller --rate");
  }
  rt::MeasuredStep step =
      rt::measuredStep(executor.schedule(), report.trace, report.stepNs);
  rt::Result<rt::RefinedProfile> refined = refine(path, executor, step);
  if (!refined) {
    return refined.error();
  }
  std::string text = describeRates(step.toHostRate, step.toDeviceRate);
  if (text.empty() && refined->slowdown == 0) {
    return leave("no large copies were seen, and the kernels' times are not "
                 "known: " +
                 refined->unknown);
  }
  if (rt::Status status = rt::writeFile(path, refined->text); !status) {
    return status.error();
  }
  text += text.empty() ? "" : "; ";
  return "profile   '" + path + "': " + text +
         (refined->slowdown > 0
              ? format("a step takes %.3f times what its kernels take alone",
                       refined->slowdown)
              : "the times of kernels stay as they are: " + refined->unknown);
}

} // namespace vdnn::tool
