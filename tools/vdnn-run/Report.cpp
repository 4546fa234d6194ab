//===- Report.cpp ---------------------------------------------------------===//

#include "Report.h"

#include "runtime/support/Format.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace vdnn::tool {

using rt::format;
using rt::formatBytes;
using rt::formatDuration;

PlanFacts factsOf(const schedule::ScheduleT &schedule) {
  PlanFacts facts;
  for (const auto &command : schedule.commands) {
    if (command->kind == schedule::CommandKind::Copy) {
      const schedule::BufferT &destination =
          *schedule.buffers[command->writes[0].buffer()];
      (destination.arena == schedule::Arena::Host ? facts.bytesToHost
                                                  : facts.bytesToDevice) +=
          destination.bytes;
    }
  }
  for (const auto &tensor : schedule.tensors) {
    facts.kept += tensor->decision == schedule::Decision::Keep;
    facts.offloaded += tensor->decision == schedule::Decision::Offload;
    facts.recomputed += tensor->decision == schedule::Decision::Recompute;
  }
  return facts;
}

int64_t RunReport::meanStepNs() const {
  if (stepNs.empty()) {
    return 0;
  }
  auto first = stepNs.begin() + (stepNs.size() > 1 ? 1 : 0);
  return std::accumulate(first, stepNs.end(), int64_t{0}) /
         (stepNs.end() - first);
}

static int64_t medianOf(const std::vector<int64_t> &all) {
  constexpr size_t kWarmUp = 3;
  if (all.empty()) {
    return 0;
  }
  std::vector<int64_t> times(
      all.begin() + static_cast<ptrdiff_t>(std::min(kWarmUp, all.size() - 1)),
      all.end());
  std::sort(times.begin(), times.end());
  size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle]
                               : (times[middle - 1] + times[middle]) / 2;
}

int64_t RunReport::medianStepNs() const { return medianOf(stepNs); }

int64_t RunReport::medianWallNs() const { return medianOf(wallNs); }

std::string toText(const schedule::ScheduleT &schedule,
                   const RunReport &report) {
  PlanFacts facts = factsOf(schedule);
  std::string text = format("memory    device arena %s, host arena %s\n",
                            formatBytes(schedule.device_arena).c_str(),
                            formatBytes(schedule.host_arena).c_str());
  text += format("copies    %s to host, %s to device in each step\n",
                 formatBytes(facts.bytesToHost).c_str(),
                 formatBytes(facts.bytesToDevice).c_str());
  if (int64_t mean = report.meanStepNs(); mean > 0) {
    text += format("steps     %zu on %s, %s each, %.1f samples/s%s\n",
                   report.stepNs.size(), report.device.c_str(),
                   formatDuration(mean).c_str(),
                   static_cast<double>(report.batch) * 1e9 /
                       static_cast<double>(mean),
                   report.simulated ? " (simulated)" : "");
  }
  if (!report.losses.empty()) {
    text += format("loss      %.9g at step %llu, %.9g at step %llu\n",
                   report.losses.front(),
                   static_cast<unsigned long long>(report.firstStep + 1),
                   report.losses.back(),
                   static_cast<unsigned long long>(report.firstStep +
                                                   report.losses.size()));
  }
  if (report.right) {
    text += format("accuracy  %.4f (%llu of %llu)\n",
                   static_cast<double>(*report.right) /
                       static_cast<double>(*report.labelled),
                   static_cast<unsigned long long>(*report.right),
                   static_cast<unsigned long long>(*report.labelled));
  }
  if (!report.saved.empty()) {
    text += "saved     " + report.saved + "\n";
  }
  return text;
}

std::string toJson(const schedule::ScheduleT &schedule,
                   const RunReport &report) {
  PlanFacts facts = factsOf(schedule);
  nlohmann::ordered_json json = {
      {"plan", report.plan},
      {"model", schedule.model},
      {"policy", schedule.summary ? schedule.summary->policy : ""},
      {"device", report.device},
      {"simulated", report.simulated},
      {"device_arena_bytes", schedule.device_arena},
      {"host_arena_bytes", schedule.host_arena},
      {"bytes_to_host_per_step", facts.bytesToHost},
      {"bytes_to_device_per_step", facts.bytesToDevice},
      {"batch", report.batch},
      {"first_step", report.firstStep},
      {"steps", report.stepNs.size()},
      {"mean_step_ns", report.meanStepNs()},
      {"median_step_ns", report.medianStepNs()},
      {"median_wall_ns", report.medianWallNs()},
      {"step_ns", report.stepNs},
      {"losses", report.losses},
      {"interrupted", report.interrupted}};
  if (schedule.summary) {
    json["predicted_step_ns"] = schedule.summary->predicted_step_ns;
  }
  if (report.deviceBytesInUse > 0) {
    json["device_bytes_in_use"] = report.deviceBytesInUse;
  }
  if (report.right) {
    json["accuracy"] = static_cast<double>(*report.right) /
                       static_cast<double>(*report.labelled);
    json["right"] = *report.right;
    json["labelled"] = *report.labelled;
  }
  if (!report.saved.empty()) {
    json["saved"] = report.saved;
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

} // namespace vdnn::tool
