//===- Poison.cpp - dead ranges hold NaN ----------------------------------===//

#include "runtime/exec/Executor.h"
#include "runtime/exec/Observers.h"

#include <algorithm>

namespace vdnn::rt {

namespace {

constexpr std::byte kPoison{0xff};

class Poison final : public Observer {
public:
  Status stepBegins(const schedule::ScheduleT &schedule,
                    Device &device) override {
    for (schedule::Arena arena :
         {schedule::Arena::Device, schedule::Arena::Host}) {
      if (Status status = poisonDead(schedule, device, arena); !status) {
        return status;
      }
    }
    return device.synchronize();
  }

  Status before(const schedule::ScheduleT &schedule, Device &device,
                uint32_t index) override {
    const schedule::CommandT &command = *schedule.commands[index];
    for (size_t i = 0; i < command.writes.size(); ++i) {
      bool inPlace = std::any_of(
          command.in_place.begin(), command.in_place.end(),
          [&](const schedule::InPlace &pair) { return pair.write() == i; });
      if (inPlace) {
        continue;
      }
      if (Status status = fill(device, command.stream,
                               *schedule.buffers[command.writes[i].buffer()]);
          !status) {
        return status;
      }
    }
    if (command.workspace >= 0) {
      return fill(device, command.stream, *schedule.buffers[command.workspace]);
    }
    return {};
  }

private:
  static Status fill(Device &device, uint32_t stream,
                     const schedule::BufferT &buffer) {
    return device.fill(stream, buffer.arena, buffer.offset, buffer.bytes,
                       kPoison);
  }

  /// Everything in the arena but the values that exist when a step begins.
  static Status poisonDead(const schedule::ScheduleT &schedule, Device &device,
                           schedule::Arena arena) {
    std::vector<std::pair<uint64_t, uint64_t>> live;
    for (const auto &tensor : schedule.tensors) {
      for (int32_t there : {tensor->entry, tensor->staging}) {
        if (there >= 0 && schedule.buffers[there]->arena == arena) {
          const schedule::BufferT &buffer = *schedule.buffers[there];
          live.emplace_back(buffer.offset, buffer.offset + buffer.bytes);
        }
      }
    }
    uint64_t end = arena == schedule::Arena::Device ? schedule.device_arena
                                                    : schedule.host_arena;
    live.emplace_back(end, end);
    std::sort(live.begin(), live.end());
    uint64_t at = 0;
    for (auto [first, last] : live) {
      if (first > at) {
        if (Status status = device.fill(0, arena, at, first - at, kPoison);
            !status) {
          return status;
        }
      }
      at = std::max(at, last);
    }
    return {};
  }
};

} // namespace

std::unique_ptr<Observer> createPoison() { return std::make_unique<Poison>(); }

} // namespace vdnn::rt
