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

/// How much of the copies lies under kernels.
static std::string hiddenText(const RunReport &report) {
  std::string text;
  const std::pair<const char *, const rt::CopyTime *> directions[] = {
      {"to host", &report.trace.toHost}, {"to device", &report.trace.toDevice}};
  for (const auto &[name, time] : directions) {
    if (time->copyNs > 0) {
      text += format("%s%s of %s %s (%.0f %%)", text.empty() ? "" : ", ",
                     formatDuration(time->hiddenNs).c_str(),
                     formatDuration(time->copyNs).c_str(), name,
                     100 * static_cast<double>(time->hiddenNs) /
                         static_cast<double>(time->copyNs));
    }
  }
  return text.empty() ? ""
                      : "hidden    " + text + " under kernels" +
                            (report.measures() ? "\n" : " (predicted)\n");
}

std::string describeRates(double toHost, double toDevice) {
  std::string text;
  const std::pair<const char *, double> directions[] = {
      {"to host", toHost}, {"to device", toDevice}};
  for (const auto &[name, rate] : directions) {
    if (rate > 0) {
      text +=
          format("%s%.1f GB/s %s", text.empty() ? "" : ", ", rate / 1e9, name);
    }
  }
  return text;
}

/// How fast large copies were.
static std::string ratesText(const RunReport &report) {
  std::string text =
      describeRates(report.trace.toHostRate, report.trace.toDeviceRate);
  return text.empty() ? ""
                      : "rates     " + text + ", copies of " +
                            formatBytes(rt::kLargeCopy) + " and more\n";
}

static std::string costsText(const RunReport &report) {
  constexpr size_t kRows = 12;
  const std::vector<rt::Cost> &costs = report.trace.costs;
  int64_t all = 0;
  for (const rt::Cost &cost : costs) {
    all += cost.measuredNs;
  }
  if (all == 0) {
    return "";
  }
  std::string text = format(
      "costs     mean of %llu %s%s%s; ms in a step, share, predicted ms, "
      "how many, what, and the slowest of them\n",
      static_cast<unsigned long long>(report.trace.steps),
      report.trace.replayed ? "replayed " : "",
      report.trace.steps == 1 ? "step" : "steps",
      report.measures() ? "" : " (simulated)");
  for (size_t i = 0; i < std::min(kRows, costs.size()); ++i) {
    const rt::Cost &cost = costs[i];
    text += format("%10.3f %3.0f %% %9.3f %5llu  %s%s%s",
                   static_cast<double>(cost.measuredNs) / 1e6,
                   100 * static_cast<double>(cost.measuredNs) /
                       static_cast<double>(all),
                   static_cast<double>(cost.predictedNs) / 1e6,
                   static_cast<unsigned long long>(cost.count),
                   cost.kind.empty() ? "of no command" : cost.kind.c_str(),
                   cost.algorithm.empty() ? "" : " ", cost.algorithm.c_str());
    if (!cost.slowest.empty()) {
      text += format(" (%.3f in %s)", static_cast<double>(cost.slowestNs) / 1e6,
                     cost.slowest.c_str());
    }
    text += "\n";
  }
  return costs.size() <= kRows
             ? text
             : text + format("           and %zu more\n", costs.size() - kRows);
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
  text += hiddenText(report);
  if (!report.losses.empty()) {
    uint64_t done = report.firstStep;
    text += format("loss      %.9g at step %s, %.9g at step %s\n",
                   report.losses.front(), std::to_string(done + 1).c_str(),
                   report.losses.back(),
                   std::to_string(done + report.losses.size()).c_str());
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
  return report.traced ? text + ratesText(report) + costsText(report) : text;
}

static nlohmann::ordered_json toJson(const rt::CopyTime &time, double rate) {
  nlohmann::ordered_json json = {{"copy_ns", time.copyNs},
                                 {"hidden_copy_ns", time.hiddenNs},
                                 {"exposed_copy_ns", time.exposedNs()}};
  if (rate > 0) {
    json["bytes_per_second"] = rate;
  }
  return json;
}

static nlohmann::ordered_json toJson(const std::vector<rt::Cost> &costs) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const rt::Cost &cost : costs) {
    rows.push_back({{"kernel", cost.kind},
                    {"algorithm", cost.algorithm},
                    {"commands", cost.count},
                    {"ns", cost.measuredNs},
                    {"predicted_ns", cost.predictedNs},
                    {"slowest", cost.slowest},
                    {"slowest_ns", cost.slowestNs}});
  }
  return rows;
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
  json["copies"] = {
      {"from", report.measures() ? "trace" : "prediction"},
      {"steps", report.trace.steps},
      {"replayed", report.trace.replayed},
      {"to_host", toJson(report.trace.toHost, report.trace.toHostRate)},
      {"to_device", toJson(report.trace.toDevice, report.trace.toDeviceRate)}};
  if (report.traced) {
    json["costs"] = toJson(report.trace.costs);
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
