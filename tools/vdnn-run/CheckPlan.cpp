//===- CheckPlan.cpp - vdnn-run --check -----------------------------------===//

#include "Options.h"
#include "Report.h"

#include "tools/common/Plan.h"

#include "runtime/exec/Open.h"
#include "runtime/support/Format.h"

#include <cstdio>

namespace vdnn::tool {

using rt::formatBytes;

/// The device that the plan would run on, which knows what P11 asks for; an
/// error says why there is none.
static rt::Result<std::unique_ptr<rt::Device>>
openJudge(const schedule::ScheduleT &schedule, const RunOptions &options) {
  rt::Result<std::unique_ptr<rt::Device>> device =
      rt::openDevice(options.device, schedule, options.threads);
  return device && !(*device)->computes()
             ? rt::Error{"a simulator runs plans of every device"}
             : std::move(device);
}

rt::Result<bool> checkPlan(const RunOptions &options) {
  rt::Result<schedule::ScheduleT> loaded = loadPlan(options.plan);
  if (!loaded) {
    return loaded.error();
  }
  const schedule::ScheduleT &schedule = *loaded;
  rt::Result<std::unique_ptr<rt::Device>> device = openJudge(schedule, options);
  std::vector<rt::Violation> violations =
      device ? rt::findViolations(schedule, **device) : rt::check(schedule);
  if (!violations.empty()) {
    std::fputs(rt::toString(violations, violations.size()).c_str(), stdout);
    std::printf("%s: refused, %zu violations\n", options.plan.c_str(),
                violations.size());
    return false;
  }
  PlanFacts facts = factsOf(schedule);
  std::printf("model     %s\n", schedule.model.c_str());
  std::printf("target    %s%s%s\n", schedule.target->kind.c_str(),
              schedule.target->name.empty() ? "" : ", ",
              schedule.target->name.c_str());
  if (schedule.summary) {
    std::printf("policy    %s, synchronisation %s\n",
                schedule.summary->policy.c_str(),
                schedule.summary->sync.c_str());
    if (schedule.summary->lower_bound_bytes > 0) {
      std::printf("bound     %s (largest sum of live bytes)\n",
                  formatBytes(schedule.summary->lower_bound_bytes).c_str());
    }
    if (schedule.summary->predicted_step_ns > 0) {
      std::printf(
          "predicted %s a step\n",
          rt::formatDuration(schedule.summary->predicted_step_ns).c_str());
    }
  }
  std::printf("memory    device arena %s, host arena %s\n",
              formatBytes(schedule.device_arena).c_str(),
              formatBytes(schedule.host_arena).c_str());
  std::printf("tensors   %zu kept, %zu offloaded, %zu recomputed\n", facts.kept,
              facts.offloaded, facts.recomputed);
  std::printf("copies    %s to host, %s to device in each step\n",
              formatBytes(facts.bytesToHost).c_str(),
              formatBytes(facts.bytesToDevice).c_str());
  if (size_t count = schedule::countNondeterministic(schedule)) {
    std::printf("bits      %zu nondeterministic kernels, which the plan "
                "allows\n",
                count);
  }
  std::printf("device    %s\n",
              device ? "P11 holds: this is the one that the plan is made for"
                     : ("P11 not checked: " + device.message()).c_str());
  std::printf("%s: sound, %zu commands on %zu streams, no violation\n",
              options.plan.c_str(), schedule.commands.size(),
              schedule.streams.size());
  return true;
}

} // namespace vdnn::tool
