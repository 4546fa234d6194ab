//===- TraceSummary.cpp ---------------------------------------------------===//

#include "runtime/exec/TraceSummary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace vdnn::rt {

using Kind = Activity::Kind;

bool isTimed(const schedule::CommandT &command) {
  return command.kind == schedule::CommandKind::Launch ||
         command.kind == schedule::CommandKind::Copy;
}

static uint64_t copiedBytes(const schedule::ScheduleT &schedule,
                            const schedule::CommandT &command) {
  return schedule.buffers[command.writes[0].buffer()]->bytes;
}

bool isLargeCopy(const schedule::ScheduleT &schedule,
                 const schedule::CommandT &command) {
  return command.kind == schedule::CommandKind::Copy &&
         copiedBytes(schedule, command) >= kLargeCopy;
}

Kind kindOf(const schedule::ScheduleT &schedule,
            const schedule::CommandT &command) {
  if (command.kind != schedule::CommandKind::Copy) {
    return Kind::Work;
  }
  return schedule.buffers[command.writes[0].buffer()]->arena ==
                 schedule::Arena::Host
             ? Kind::CopyToHost
             : Kind::CopyToDevice;
}

std::vector<Slice> slicesOf(const schedule::ScheduleT &schedule,
                            std::span<const int64_t> startNs,
                            std::span<const int64_t> endNs) {
  std::vector<Slice> slices;
  for (uint32_t i = 0; i < schedule.commands.size(); ++i) {
    const schedule::CommandT &command = *schedule.commands[i];
    if (isTimed(command)) {
      slices.push_back({0,
                        {kindOf(schedule, command), i, startNs[i], endNs[i],
                         /*replayed=*/false, /*name=*/""}});
    }
  }
  return slices;
}

/// Those of one kind, as they started.
template <typename T, typename Activities>
static std::vector<T *> ofKind(Activities &activities, Kind kind) {
  std::vector<T *> found;
  for (T &activity : activities) {
    if (activity.kind == kind) {
      found.push_back(&activity);
    }
  }
  // Those that started together stay in their order.
  std::sort(found.begin(), found.end(), [](const T *a, const T *b) {
    return std::tie(a->startNs, a) < std::tie(b->startNs, b);
  });
  return found;
}

void assignCommands(std::span<const Activity> known,
                    std::vector<Activity> &activities) {
  for (Kind kind : {Kind::Work, Kind::CopyToHost, Kind::CopyToDevice}) {
    std::vector<const Activity *> from = ofKind<const Activity>(known, kind);
    std::vector<Activity *> to = ofKind<Activity>(activities, kind);
    for (size_t i = 0; from.size() == to.size() && i < to.size(); ++i) {
      if (from[i]->name == to[i]->name) {
        to[i]->command = from[i]->command;
      }
    }
  }
}

namespace {

/// The steps that count.
std::set<uint64_t> chooseSteps(std::span<const Slice> slices, bool &replayed) {
  std::set<uint64_t> all, captured;
  for (const Slice &slice : slices) {
    all.insert(slice.step);
    if (slice.activity.replayed) {
      captured.insert(slice.step);
    }
  }
  replayed = !captured.empty();
  if (replayed) {
    return captured;
  }
  if (all.size() > 1) {
    all.erase(all.begin());
  }
  return all;
}

CopyTime overlapOf(std::span<const Slice> slices,
                   const std::set<uint64_t> &steps, Kind direction) {
  std::vector<Interval> copies, kernels;
  for (const Slice &slice : slices) {
    if (steps.count(slice.step) == 0) {
      continue;
    }
    Interval interval{slice.activity.startNs, slice.activity.endNs};
    if (slice.activity.kind == direction) {
      copies.push_back(interval);
    } else if (slice.activity.kind == Kind::Work) {
      kernels.push_back(interval);
    }
  }
  CopyTime time = overlap(std::move(copies), std::move(kernels));
  auto count = static_cast<int64_t>(std::max<size_t>(steps.size(), 1));
  return {time.copyNs / count, time.hiddenNs / count};
}

/// Bytes per second of the large copies of one direction, or 0.
double rateOf(const schedule::ScheduleT &schedule,
              std::span<const Slice> slices, const std::set<uint64_t> &steps,
              Kind direction) {
  uint64_t bytes = 0;
  std::vector<Interval> copies, others;
  for (const auto &[step, activity] : slices) {
    if (steps.count(step) == 0 || activity.kind == Kind::Work) {
      continue;
    }
    Interval interval{activity.startNs, activity.endNs};
    if (activity.kind != direction) {
      others.push_back(interval);
    } else if (activity.command != Activity::kNoCommand) {
      const schedule::CommandT &command = *schedule.commands[activity.command];
      if (isLargeCopy(schedule, command)) {
        bytes += copiedBytes(schedule, command);
        copies.push_back(interval);
      }
    }
  }
  // While both directions run, each gets a share of its rate.
  CopyTime time = overlap(std::move(copies), std::move(others));
  double share = schedule.link ? schedule.link->duplex_factor : 1;
  share = share > 0 && share <= 1 ? share : 1;
  double ns = double(time.exposedNs()) + share * double(time.hiddenNs);
  return ns > 0 ? static_cast<double>(bytes) * 1e9 / ns : 0;
}

/// The row that an activity belongs to.
std::pair<std::string, std::string> rowOf(const schedule::ScheduleT &schedule,
                                          const Activity &activity) {
  if (activity.kind != Kind::Work) {
    return {activity.kind == Kind::CopyToHost ? "copy to host"
                                              : "copy to device",
            ""};
  }
  if (activity.command == Activity::kNoCommand) {
    return {};
  }
  const schedule::KernelT &kernel =
      *schedule.kernels[schedule.commands[activity.command]->kernel];
  return {kernel.kind, kernel.algorithm};
}

std::vector<Cost> costsOf(const schedule::ScheduleT &schedule,
                          std::span<const Slice> slices,
                          const std::set<uint64_t> &steps) {
  struct Row {
    int64_t ns = 0;
    std::map<uint32_t, int64_t> commands;
  };
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const Slice &slice : slices) {
    if (steps.count(slice.step) == 0) {
      continue;
    }
    const Activity &activity = slice.activity;
    Row &row = rows[rowOf(schedule, activity)];
    row.ns += activity.endNs - activity.startNs;
    if (activity.command != Activity::kNoCommand) {
      row.commands[activity.command] += activity.endNs - activity.startNs;
    }
  }
  auto count = static_cast<int64_t>(std::max<size_t>(steps.size(), 1));
  std::vector<Cost> costs;
  for (const auto &[name, row] : rows) {
    Cost &cost = costs.emplace_back();
    cost.kind = name.first;
    cost.algorithm = name.second;
    cost.count = row.commands.size();
    cost.measuredNs = row.ns / count;
    for (const auto &[command, ns] : row.commands) {
      cost.predictedNs += schedule.commands[command]->predicted_ns;
      if (ns / count > cost.slowestNs) {
        cost.slowestNs = ns / count;
        cost.slowest = schedule.commands[command]->location;
      }
    }
  }
  std::sort(costs.begin(), costs.end(), [](const Cost &a, const Cost &b) {
    return std::tie(b.measuredNs, a.kind, a.algorithm) <
           std::tie(a.measuredNs, b.kind, b.algorithm);
  });
  return costs;
}

} // namespace

TraceSummary summarize(const schedule::ScheduleT &schedule,
                       std::span<const Slice> slices) {
  TraceSummary summary;
  std::set<uint64_t> steps = chooseSteps(slices, summary.replayed);
  summary.steps = steps.size();
  summary.toHost = overlapOf(slices, steps, Kind::CopyToHost);
  summary.toDevice = overlapOf(slices, steps, Kind::CopyToDevice);
  summary.toHostRate = rateOf(schedule, slices, steps, Kind::CopyToHost);
  summary.toDeviceRate = rateOf(schedule, slices, steps, Kind::CopyToDevice);
  summary.costs = costsOf(schedule, slices, steps);
  return summary;
}

} // namespace vdnn::rt
