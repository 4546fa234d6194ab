//===- Report.h - the end of a run, for people and for programs -----------===//

#ifndef VDNN_TOOLS_VDNNRUN_REPORT_H
#define VDNN_TOOLS_VDNNRUN_REPORT_H

#include "runtime/exec/TraceSummary.h"
#include "runtime/schedule/Schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace vdnn::tool {

/// What one step of a plan takes and moves.
struct PlanFacts {
  uint64_t bytesToHost = 0;   ///< per step
  uint64_t bytesToDevice = 0; ///< per step
  size_t kept = 0;            ///< tensors by decision
  size_t offloaded = 0;
  size_t recomputed = 0;
};

PlanFacts factsOf(const schedule::ScheduleT &schedule);

struct RunReport {
  std::string plan;
  std::string device;
  bool simulated = false;
  uint64_t firstStep = 0;
  uint64_t batch = 1;
  std::vector<double> losses; ///< one per step, empty where the plan has none
  bool isFinite = true;       ///< all losses
  std::vector<int64_t> stepNs;
  /// From the start of each step to the start of the next one, or to the end:
  /// data and outputs included.
  std::vector<int64_t> wallNs;
  std::optional<uint64_t> right; ///< with labels
  std::optional<uint64_t> labelled;
  std::string saved; ///< the last checkpoint's path
  bool interrupted = false;
  /// Of the whole device, whoever uses it, after the last step; 0: not known.
  uint64_t deviceBytesInUse = 0;
  rt::TraceSummary trace; ///< of the plan's own prediction where none was taken
  bool traced = false;

  /// Whether `trace` holds times of a device.
  bool measures() const { return traced && !simulated; }

  /// Mean time of a step, without the first one, which warms caches up; 0 where
  /// none was run.
  int64_t meanStepNs() const;

  /// Median time of a step, without the first three, which load code and
  /// capture the step; of the last one where there are no more. 0 where none
  /// was run. The same of what passes between the starts of two steps.
  int64_t medianStepNs() const;
  int64_t medianWallNs() const;
};

/// Bytes per second of each direction, for people; without those of 0.
std::string describeRates(double toHost, double toDevice);

std::string toText(const schedule::ScheduleT &schedule,
                   const RunReport &report);
std::string toJson(const schedule::ScheduleT &schedule,
                   const RunReport &report);

} // namespace vdnn::tool

#endif
