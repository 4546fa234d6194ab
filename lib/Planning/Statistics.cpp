//===- Statistics.cpp - what a program costs, by the cost model -----------===//

#include "vdnn/Planning/Statistics.h"

#include "Costs.h"

#include <algorithm>
#include <map>

namespace vdnn::planning {
namespace {

using rt::TimedCommand;

TimedCommand timed(const PlannedCommand &command) {
  TimedCommand result;
  result.stream = uint32_t(command.stream);
  result.event = command.event;
  result.durationNs = command.durationNs;
  switch (command.kind) {
  case CommandKind::Record:
    result.kind = TimedCommand::Kind::Record;
    break;
  case CommandKind::Wait:
    result.kind = TimedCommand::Kind::Wait;
    break;
  case CommandKind::Copy:
    result.direction = command.stream == StreamId::DeviceToHost ? 1 : 2;
    break;
  case CommandKind::Launch:
    break;
  }
  return result;
}

/// Device rectangles: buffers at one offset whose lifetimes touch share their
/// bytes in place.
struct LiveRange {
  uint64_t offset;
  uint32_t begin;
  uint32_t end;
  uint64_t bytes;
  /// Of each position on, the buffer that names it.
  std::map<uint32_t, std::string> names;
};

/// Joins buffers that overlap in time at the same offset: only an in-place
/// result does that.
std::vector<LiveRange> liveRanges(const Program &program) {
  std::vector<const PlacedBuffer *> sorted;
  for (const PlacedBuffer &buffer : program.buffers) {
    if (buffer.place == Place::Device && buffer.bytes > 0) {
      sorted.push_back(&buffer);
    }
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto *a, const auto *b) {
    return std::tie(a->offset, a->begin, a->end) <
           std::tie(b->offset, b->begin, b->end);
  });
  std::vector<LiveRange> ranges;
  for (const PlacedBuffer *buffer : sorted) {
    bool joins = !ranges.empty() && ranges.back().offset == buffer->offset &&
                 ranges.back().end > buffer->begin;
    if (!joins) {
      ranges.push_back(
          {buffer->offset, buffer->begin, buffer->end, buffer->bytes, {}});
    }
    LiveRange &range = ranges.back();
    range.end = std::max(range.end, buffer->end);
    range.names[buffer->begin] = buffer->name;
  }
  return ranges;
}

void measureLive(const Problem &problem, const Program &program,
                 const rt::Timeline &timeline, Statistics &statistics) {
  size_t positions = std::max<size_t>(problem.ops.size(), 1);
  std::vector<LiveRange> ranges = liveRanges(program);
  std::vector<uint64_t> change(positions + 1, 0);
  for (const LiveRange &range : ranges) {
    uint64_t bytes = alignUp(range.bytes, problem.alignment);
    change[range.begin] += bytes;
    change[range.end] -= bytes;
  }
  std::vector<int64_t> start(positions + 1, timeline.totalNs);
  for (size_t c = 0; c < program.commands.size(); ++c) {
    if (auto op = program.commands[c].op) {
      start[*op] = timeline.startNs[c];
    }
  }
  start[0] = 0;
  uint64_t live = 0;
  double byteTime = 0;
  for (size_t p = 0; p < positions; ++p) {
    live += change[p];
    byteTime += double(live) * double(start[p + 1] - start[p]);
    if (live > statistics.peakLiveBytes) {
      statistics.peakLiveBytes = live;
      statistics.peakOp = p;
    }
  }
  statistics.averageDeviceBytes =
      timeline.totalNs > 0 ? uint64_t(byteTime / double(timeline.totalNs))
                           : statistics.peakLiveBytes;
  for (const LiveRange &range : ranges) {
    if (range.begin <= statistics.peakOp && statistics.peakOp < range.end) {
      auto name = std::prev(range.names.upper_bound(statistics.peakOp));
      statistics.peakMakers.push_back({name->second, range.bytes});
    }
  }
  std::sort(statistics.peakMakers.begin(), statistics.peakMakers.end(),
            [](const PeakMaker &a, const PeakMaker &b) {
              return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
            });
}

} // namespace

rt::Timeline predict(const Problem &problem, const Program &program) {
  std::vector<TimedCommand> commands;
  commands.reserve(program.commands.size());
  for (const PlannedCommand &command : program.commands) {
    commands.push_back(timed(command));
  }
  return rt::simulate(commands, 3, problem.link.duplexFactor);
}

Statistics measure(const Problem &problem, const Program &program) {
  Statistics statistics;
  rt::Timeline timeline = predict(problem, program);
  statistics.stepNs = timeline.totalNs;
  std::vector<bool> cameIn(problem.tensors.size(), false);
  for (const PlannedCommand &command : program.commands) {
    if (command.kind == CommandKind::Launch) {
      statistics.computeNs += command.durationNs;
    } else if (command.kind == CommandKind::Copy) {
      statistics.copyNs += command.durationNs;
      const PlacedBuffer &source = program.buffers[command.reads[0]];
      TensorKind kind = problem.tensors[*source.tensor].kind;
      if (command.stream == StreamId::DeviceToHost) {
        statistics.copiedToHostBytes += source.bytes;
        if (kind != TensorKind::Output) {
          statistics.offloadedBytes += source.bytes;
        }
        continue;
      }
      statistics.copiedToDeviceBytes += source.bytes;
      if (kind != TensorKind::Input || cameIn[*source.tensor]) {
        statistics.prefetchedBytes += source.bytes;
      }
      cameIn[*source.tensor] = true;
    }
  }
  statistics.stallNs = timeline.totalNs - statistics.computeNs;
  if (statistics.copyNs > 0) {
    statistics.hiddenShare = std::clamp(
        1 - double(statistics.stallNs) / double(statistics.copyNs), 0.0, 1.0);
  }
  measureLive(problem, program, timeline, statistics);
  return statistics;
}

} // namespace vdnn::planning
