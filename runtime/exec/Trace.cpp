//===- Trace.cpp - Chrome trace events ------------------------------------===//

#include "runtime/exec/Observers.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Format.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>

namespace vdnn::rt {

using nlohmann::json;
using schedule::CommandKind;

namespace {

using Kind = Activity::Kind;

class TraceRecorderImpl final : public TraceRecorder {
public:
  Status stepBegins(const schedule::ScheduleT &, Device &device) override;
  bool seesCommands() const override {
    return !byDevice_ || step_ < kSubmittedSteps;
  }
  Status before(const schedule::ScheduleT &schedule, Device &device,
                uint32_t index) override;
  Status after(const schedule::ScheduleT &schedule, Device &device,
               uint32_t index) override;
  Status stepEnds(const schedule::ScheduleT &schedule, Device &) override;

  std::vector<Slice> slices() const override {
    return {slices_.begin(), slices_.end()};
  }
  const std::string &note() const override { return note_; }
  Status write(const schedule::ScheduleT &schedule,
               const std::string &path) const override;

private:
  void giveUp(const std::string &why) {
    note_ = why;
    tracer_.reset();
  }

  // A deque: marks keep their slice's address while more slices are added.
  std::deque<Slice> slices_;
  uint64_t step_ = 0;
  std::unique_ptr<ActivityTracer> tracer_; ///< while the device's own traces
  bool byDevice_ = false;
  std::vector<Activity> submitted_; ///< of the last step of which all is known
  std::string note_;
};

/// "offload act", "prefetch act", "input x", "next input x", "output loss".
std::string copyName(const schedule::ScheduleT &schedule,
                     const schedule::CommandT &command) {
  const schedule::BufferT &source =
      *schedule.buffers[command.reads[0].buffer()];
  bool toHost = source.arena == schedule::Arena::Device;
  if (source.tensor < 0) {
    return (toHost ? "offload " : "prefetch ") + source.name;
  }
  const schedule::TensorT &tensor = *schedule.tensors[source.tensor];
  if (!toHost &&
      tensor.entry == static_cast<int32_t>(command.reads[0].buffer())) {
    return "input " + tensor.name;
  }
  if (!toHost &&
      tensor.staging == static_cast<int32_t>(command.reads[0].buffer())) {
    return "next input " + tensor.name;
  }
  if (toHost &&
      tensor.exit == static_cast<int32_t>(command.writes[0].buffer())) {
    return "output " + tensor.name;
  }
  return (toHost ? "offload " : "prefetch ") + tensor.name;
}

Status TraceRecorderImpl::stepBegins(const schedule::ScheduleT &,
                                     Device &device) {
  if (step_ == 0) {
    Result<std::unique_ptr<ActivityTracer>> tracer = device.traceActivities();
    if (tracer) {
      tracer_ = std::move(*tracer);
      byDevice_ = tracer_ != nullptr;
    } else {
      note_ = tracer.message();
    }
  } else if (tracer_) {
    // What was done between the steps is none of theirs.
    if (Result<std::vector<Activity>> between = tracer_->take(); !between) {
      giveUp(between.message());
    }
  }
  return {};
}

Status TraceRecorderImpl::before(const schedule::ScheduleT &schedule,
                                 Device &device, uint32_t index) {
  if (!isTimed(*schedule.commands[index])) {
    return {};
  }
  if (byDevice_) {
    return tracer_ ? tracer_->enter(index) : Status();
  }
  Activity activity;
  activity.kind = kindOf(schedule, *schedule.commands[index]);
  activity.command = index;
  Slice &slice = slices_.emplace_back(Slice{step_, activity});
  return device.callback(schedule.commands[index]->stream, [&slice, &device] {
    slice.activity.startNs = device.nowNs();
  });
}

Status TraceRecorderImpl::after(const schedule::ScheduleT &schedule,
                                Device &device, uint32_t index) {
  if (!isTimed(*schedule.commands[index])) {
    return {};
  }
  if (byDevice_) {
    return tracer_ ? tracer_->leave() : Status();
  }
  Slice &slice = slices_.back();
  return device.callback(schedule.commands[index]->stream, [&slice, &device] {
    slice.activity.endNs = device.nowNs();
  });
}

Status TraceRecorderImpl::stepEnds(const schedule::ScheduleT &schedule,
                                   Device &) {
  if (tracer_) {
    Result<std::vector<Activity>> taken = tracer_->take();
    if (!taken) {
      giveUp(taken.message());
    } else {
      std::vector<Activity> &activities = *taken;
      // Copies that a debug mode queues beside a command are not the plan's.
      std::erase_if(activities, [&](const Activity &activity) {
        return activity.command != Activity::kNoCommand &&
               activity.kind !=
                   kindOf(schedule, *schedule.commands[activity.command]);
      });
      if (seesCommands()) {
        submitted_ = activities;
      } else {
        assignCommands(submitted_, activities);
      }
      for (Activity &activity : activities) {
        slices_.push_back({step_, std::move(activity)});
      }
    }
  }
  ++step_;
  if (step_ >= kTracedSteps) {
    tracer_.reset();
  }
  return {};
}

/// Where what belongs to no command is shown: the first stream of its kind.
uint32_t laneOf(const schedule::ScheduleT &schedule, Kind kind) {
  schedule::StreamKind wanted =
      kind == Kind::CopyToHost     ? schedule::StreamKind::DeviceToHost
      : kind == Kind::CopyToDevice ? schedule::StreamKind::HostToDevice
                                   : schedule::StreamKind::Compute;
  for (uint32_t i = 0; i < schedule.streams.size(); ++i) {
    if (schedule.streams[i]->kind == wanted) {
      return i;
    }
  }
  return 0;
}

json toEvent(const schedule::ScheduleT &schedule, const Slice &slice,
             int64_t origin) {
  const Activity &activity = slice.activity;
  json arguments = {{"step", slice.step}};
  std::string name = activity.name;
  uint32_t lane = 0;
  if (activity.command == Activity::kNoCommand) {
    lane = laneOf(schedule, activity.kind);
    if (name.empty()) {
      name =
          activity.kind == Kind::CopyToHost ? "copy to host" : "copy to device";
    }
  } else {
    const schedule::CommandT &command = *schedule.commands[activity.command];
    lane = command.stream;
    arguments["command"] = activity.command;
    arguments["predicted_us"] = command.predicted_ns / 1e3;
    if (command.kind == CommandKind::Launch) {
      const schedule::KernelT &kernel = *schedule.kernels[command.kernel];
      name = command.location.empty() ? kernel.kind : command.location;
      arguments["kernel"] = kernel.kind;
      arguments["algorithm"] = kernel.algorithm;
    } else {
      name = copyName(schedule, command);
      arguments["bytes"] = schedule.buffers[command.writes[0].buffer()]->bytes;
    }
  }
  if (!activity.name.empty()) {
    arguments["device_name"] = activity.name;
  }
  if (activity.replayed) {
    arguments["replayed"] = true;
  }
  return {{"name", name},
          {"cat", activity.kind == Kind::Work ? "kernel" : "copy"},
          {"ph", "X"},
          {"pid", 0},
          {"tid", lane},
          {"ts", static_cast<double>(activity.startNs - origin) / 1e3},
          {"dur", static_cast<double>(activity.endNs - activity.startNs) / 1e3},
          {"args", arguments}};
}

Status TraceRecorderImpl::write(const schedule::ScheduleT &schedule,
                                const std::string &path) const {
  json events = json::array();
  for (uint32_t i = 0; i < schedule.streams.size(); ++i) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 0},
                      {"tid", i},
                      {"args", {{"name", schedule.streams[i]->name}}}});
  }
  int64_t origin = std::numeric_limits<int64_t>::max();
  for (const Slice &slice : slices_) {
    origin = std::min(origin, slice.activity.startNs);
  }
  for (const Slice &slice : slices_) {
    events.push_back(toEvent(schedule, slice, origin));
  }
  json document = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return writeFile(
      path,
      document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

} // namespace

std::unique_ptr<TraceRecorder> createTraceRecorder() {
  return std::make_unique<TraceRecorderImpl>();
}

} // namespace vdnn::rt
