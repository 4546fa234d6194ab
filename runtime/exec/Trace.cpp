//===- Trace.cpp - Chrome trace events ------------------------------------===//

#include "runtime/exec/Observers.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Format.h"

#include <deque>
#include <nlohmann/json.hpp>

namespace vdnn::rt {

using nlohmann::json;
using schedule::CommandKind;

namespace {

class TraceRecorderImpl final : public TraceRecorder {
public:
  Status stepBegins(const schedule::ScheduleT &, Device &device) override {
    if (slices_.empty()) {
      origin_ = device.nowNs();
    }
    return {};
  }

  Status before(const schedule::ScheduleT &schedule, Device &device,
                uint32_t index) override {
    if (!timed(schedule, index)) {
      return {};
    }
    // A deque: marks keep their slice's address while more slices are added.
    Slice &slice = slices_.emplace_back(Slice{index, step_, 0, 0});
    return device.callback(schedule.commands[index]->stream,
                           [&slice, &device] { slice.start = device.nowNs(); });
  }

  Status after(const schedule::ScheduleT &schedule, Device &device,
               uint32_t index) override {
    if (!timed(schedule, index)) {
      return {};
    }
    Slice &slice = slices_.back();
    return device.callback(schedule.commands[index]->stream,
                           [&slice, &device] { slice.end = device.nowNs(); });
  }

  Status stepEnds(const schedule::ScheduleT &, Device &) override {
    ++step_;
    return {};
  }

  Status write(const schedule::ScheduleT &schedule,
               const std::string &path) const override;

private:
  struct Slice {
    uint32_t command;
    uint64_t step;
    int64_t start;
    int64_t end;
  };

  static bool timed(const schedule::ScheduleT &schedule, uint32_t index) {
    CommandKind kind = schedule.commands[index]->kind;
    return kind == CommandKind::Launch || kind == CommandKind::Copy;
  }

  json event(const schedule::ScheduleT &schedule, const Slice &slice) const;

  std::deque<Slice> slices_;
  uint64_t step_ = 0;
  int64_t origin_ = 0;
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

json TraceRecorderImpl::event(const schedule::ScheduleT &schedule,
                              const Slice &slice) const {
  const schedule::CommandT &command = *schedule.commands[slice.command];
  json arguments = {{"command", slice.command},
                    {"step", slice.step},
                    {"predicted_us", command.predicted_ns / 1e3}};
  std::string name;
  if (command.kind == CommandKind::Launch) {
    const schedule::KernelT &kernel = *schedule.kernels[command.kernel];
    name = command.location.empty() ? kernel.kind : command.location;
    arguments["kernel"] = kernel.kind;
    arguments["algorithm"] = kernel.algorithm;
  } else {
    const schedule::BufferT &destination =
        *schedule.buffers[command.writes[0].buffer()];
    name = copyName(schedule, command);
    arguments["bytes"] = destination.bytes;
  }
  return {{"name", name},
          {"cat", command.kind == CommandKind::Launch ? "kernel" : "copy"},
          {"ph", "X"},
          {"pid", 0},
          {"tid", command.stream},
          {"ts", static_cast<double>(slice.start - origin_) / 1e3},
          {"dur", static_cast<double>(slice.end - slice.start) / 1e3},
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
  for (const Slice &slice : slices_) {
    events.push_back(event(schedule, slice));
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
