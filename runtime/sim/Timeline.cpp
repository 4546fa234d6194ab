//===- Timeline.cpp -------------------------------------------------------===//

#include "runtime/sim/Timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace vdnn::rt {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr double kNever = std::numeric_limits<double>::infinity();

/// A stream's queue, its first unfinished command, and what is left of that.
struct Stream {
  std::vector<uint32_t> queue;
  size_t head = 0;
  bool started = false;
  double remainingNs = 0; // of work, at its full rate
  double rate = 1;

  bool done() const { return head == queue.size(); }
};

/// Time is a double: exact for whole ns below 2^53, and copies at a reduced
/// rate need the fractions.
class Simulation {
public:
  Simulation(std::span<const TimedCommand> commands, uint32_t streamCount,
             double duplexFactor)
      : commands_(commands), duplexFactor_(duplexFactor), streams_(streamCount),
        recordOf_(commands.size(), kNone), start_(commands.size(), 0),
        end_(commands.size(), kNever) {
    std::unordered_map<uint32_t, uint32_t> lastRecord;
    for (uint32_t i = 0; i < commands.size(); ++i) {
      const TimedCommand &command = commands[i];
      streams_[command.stream].queue.push_back(i);
      if (command.kind == TimedCommand::Kind::Record) {
        lastRecord[command.event] = i;
      } else if (command.kind == TimedCommand::Kind::Wait) {
        if (auto found = lastRecord.find(command.event);
            found != lastRecord.end()) {
          recordOf_[i] = found->second;
        }
      }
    }
  }

  Timeline run() {
    settle();
    for (double step = nextStep(); step != kNever; step = nextStep()) {
      advance(step);
      settle();
    }
    return result();
  }

private:
  bool finished(uint32_t command) const { return end_[command] != kNever; }

  /// Whether the head of the stream, which has started, ends at once.
  bool endsNow(const Stream &stream) const {
    uint32_t index = stream.queue[stream.head];
    if (commands_[index].kind == TimedCommand::Kind::Wait) {
      return recordOf_[index] == kNone || finished(recordOf_[index]);
    }
    return stream.remainingNs <= 0;
  }

  void start(Stream &stream) {
    uint32_t index = stream.queue[stream.head];
    stream.started = true;
    start_[index] = now_;
    bool works = commands_[index].kind == TimedCommand::Kind::Work;
    stream.remainingNs = works ? static_cast<double>(std::max<int64_t>(
                                     commands_[index].durationNs, 0))
                               : 0;
  }

  /// Finishes everything that takes no more time, until every stream works,
  /// waits or is done.
  void settle() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Stream &stream : streams_) {
        while (!stream.done()) {
          if (!stream.started) {
            start(stream);
          }
          if (!endsNow(stream)) {
            break;
          }
          end_[stream.queue[stream.head]] = now_;
          ++stream.head;
          stream.started = false;
          changed = true;
        }
      }
    }
  }

  const TimedCommand *working(const Stream &stream) const {
    if (stream.done() ||
        commands_[stream.queue[stream.head]].kind != TimedCommand::Kind::Work) {
      return nullptr;
    }
    return &commands_[stream.queue[stream.head]];
  }

  /// Sets the rates of what runs now, and returns the time until the first of
  /// it ends.
  double nextStep() {
    bool copying[3] = {false, false, false};
    for (const Stream &stream : streams_) {
      if (const TimedCommand *work = working(stream)) {
        copying[work->direction] = true;
      }
    }
    double step = kNever;
    for (Stream &stream : streams_) {
      if (const TimedCommand *work = working(stream)) {
        bool duplex = work->direction != 0 && copying[1] && copying[2];
        stream.rate = duplex ? duplexFactor_ : 1.0;
        step = std::min(step, stream.remainingNs / stream.rate);
      }
    }
    return step;
  }

  void advance(double step) {
    now_ += step;
    for (Stream &stream : streams_) {
      if (working(stream)) {
        // What ends within a thousandth of a nanosecond ends now: the rest is
        // rounding.
        stream.remainingNs -= step * stream.rate;
        stream.remainingNs = stream.remainingNs < 1e-3 ? 0 : stream.remainingNs;
      }
    }
  }

  Timeline result() const {
    Timeline timeline;
    timeline.startNs.resize(commands_.size());
    timeline.endNs.resize(commands_.size());
    for (size_t i = 0; i < commands_.size(); ++i) {
      timeline.startNs[i] = std::llround(start_[i]);
      timeline.endNs[i] = std::llround(end_[i]);
      timeline.totalNs = std::max(timeline.totalNs, timeline.endNs[i]);
    }
    bool workLeft = false;
    const std::vector<uint32_t> none;
    const std::vector<uint32_t> &compute =
        streams_.empty() ? none : streams_[0].queue;
    for (size_t i = compute.size(); i-- > 0;) {
      uint32_t index = compute[i];
      workLeft |= commands_[index].kind == TimedCommand::Kind::Work;
      if (workLeft && commands_[index].kind == TimedCommand::Kind::Wait) {
        timeline.stallNs += timeline.endNs[index] - timeline.startNs[index];
      }
    }
    return timeline;
  }

  std::span<const TimedCommand> commands_;
  double duplexFactor_;
  std::vector<Stream> streams_;
  std::vector<uint32_t> recordOf_; // of a wait: the record that satisfies it
  std::vector<double> start_;
  std::vector<double> end_;
  double now_ = 0;
};

} // namespace

Timeline simulate(std::span<const TimedCommand> commands, uint32_t streamCount,
                  double duplexFactor) {
  return Simulation(commands, streamCount, duplexFactor).run();
}

} // namespace vdnn::rt
