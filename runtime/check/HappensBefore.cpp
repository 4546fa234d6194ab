//===- HappensBefore.cpp - vector clocks over two steps -------------------===//

#include "runtime/check/HappensBefore.h"

#include <algorithm>

namespace vdnn::rt::check_detail {

using namespace schedule;

HappensBefore::HappensBefore(const ScheduleT &schedule)
    : streamOf_(schedule.commands.size()), position_(schedule.commands.size()),
      count_(schedule.streams.size(), 0) {
  size_t streams = schedule.streams.size();
  size_t commands = schedule.commands.size();
  for (CommandId id = 0; id < commands; ++id) {
    streamOf_[id] = schedule.commands[id]->stream;
    position_[id] = count_[streamOf_[id]]++;
  }
  // Every stream begins with a clock of zeros.
  std::vector<size_t> current(streams);
  for (size_t s = 0; s < streams; ++s) {
    current[s] = s * streams;
  }
  clocks_.assign(streams * streams, 0);
  std::vector<uint64_t> joined(streams);
  struct Recorded {
    size_t clock = 0;
    uint32_t stream = kNone;
    uint64_t completed = 0;
  };
  std::vector<Recorded> recorded(schedule.event_count);
  for (Step step : {Step::This, Step::Next}) {
    std::vector<size_t> &clockOf = clockOf_[static_cast<uint32_t>(step)];
    clockOf.resize(commands);
    for (CommandId id = 0; id < commands; ++id) {
      const CommandT &command = *schedule.commands[id];
      uint32_t stream = command.stream;
      if (command.kind == CommandKind::Record) {
        recorded[command.event] = {current[stream], stream,
                                   instance(id, step) + 1};
      } else if (command.kind == CommandKind::Wait &&
                 recorded[command.event].stream != kNone) {
        const Recorded &event = recorded[command.event];
        for (size_t s = 0; s < streams; ++s) {
          joined[s] =
              std::max(clocks_[current[stream] + s], clocks_[event.clock + s]);
        }
        joined[event.stream] = std::max(joined[event.stream], event.completed);
        // A wait for what is known already keeps the clock.
        if (!std::equal(joined.begin(), joined.end(),
                        clocks_.begin() + current[stream])) {
          current[stream] = clocks_.size();
          clocks_.insert(clocks_.end(), joined.begin(), joined.end());
        }
      }
      clockOf[id] = current[stream];
    }
  }
}

} // namespace vdnn::rt::check_detail
