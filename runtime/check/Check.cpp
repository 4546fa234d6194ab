//===- Check.cpp - runs the rule groups -----------------------------------===//

#include "runtime/check/Check.h"

#include "runtime/check/Rules.h"

#include <algorithm>

namespace vdnn::rt {

using namespace check_detail;

std::vector<Violation> check(const schedule::ScheduleT &schedule) {
  if (Status status = schedule::validate(schedule); !status) {
    return {{"P0", status.message()}};
  }
  if (schedule.streams.size() > kMaxStreams) {
    return {
        {"P6", "the schedule has " + std::to_string(schedule.streams.size()) +
                   " streams, expected at most " + std::to_string(kMaxStreams) +
                   "; nothing else was looked at"}};
  }
  size_t waits =
      std::count_if(schedule.commands.begin(), schedule.commands.end(),
                    [](const auto &command) {
                      return command->kind == schedule::CommandKind::Wait;
                    });
  if (waits * schedule.streams.size() > kMaxWaitsByStreams) {
    return {{"P6", "the schedule has " + std::to_string(waits) + " waits on " +
                       std::to_string(schedule.streams.size()) +
                       " streams, expected a product of at most " +
                       std::to_string(kMaxWaitsByStreams) +
                       "; nothing else was looked at"}};
  }
  Context context(schedule);
  checkRanges(context);
  checkEvents(context);
  checkStreams(context);
  checkWorkspaces(context);
  checkPersistent(context);
  HappensBefore order(schedule);
  checkDataFlow(context, order);
  checkConflicts(context, order);
  return std::move(context.violations);
}

/// P11
std::vector<Violation> checkDevice(const schedule::ScheduleT &schedule,
                                   const std::string &kind,
                                   const std::string &fingerprint) {
  if (!schedule.target) {
    return {{"P0", "the target device is missing"}};
  }
  const schedule::DeviceT &target = *schedule.target;
  std::vector<Violation> violations;
  if (target.kind != kind) {
    violations.push_back({"P11", "the plan is made for a device of kind '" +
                                     target.kind + "', this one is of kind '" +
                                     kind + "'; plan again for this device"});
  } else if (target.fingerprint != fingerprint) {
    violations.push_back({"P11", "the plan is made for '" + target.fingerprint +
                                     "', this device is '" + fingerprint +
                                     "'; plan again on this machine"});
  }
  return violations;
}

std::string toString(const std::vector<Violation> &violations, size_t limit) {
  std::string text;
  for (size_t i = 0; i < violations.size() && i < limit; ++i) {
    text += violations[i].invariant + ": " + violations[i].message + "\n";
  }
  if (violations.size() > limit) {
    text += "and " + std::to_string(violations.size() - limit) + " more\n";
  }
  return text;
}

} // namespace vdnn::rt
