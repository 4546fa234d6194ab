//===- CopyVerifier.cpp - what comes back is what left --------------------===//

#include "runtime/exec/Observers.h"
#include "runtime/support/Format.h"

#include <cstring>

namespace vdnn::rt {

namespace {

class CopyVerifier final : public Observer {
public:
  Status stepBegins(const schedule::ScheduleT &, Device &) override {
    left_.clear();
    returned_.clear();
    return {};
  }

  // The copy's own stream still orders the range: it is given up, or handed on,
  // by an event recorded after the copy.
  Status after(const schedule::ScheduleT &schedule, Device &device,
               uint32_t index) override {
    const schedule::CommandT &command = *schedule.commands[index];
    if (command.kind != schedule::CommandKind::Copy) {
      return {};
    }
    const schedule::BufferT &source =
        *schedule.buffers[command.reads[0].buffer()];
    const schedule::BufferT &destination =
        *schedule.buffers[command.writes[0].buffer()];
    if (destination.arena == schedule::Arena::Host) {
      std::vector<std::byte> &bytes = left_[command.writes[0].buffer()];
      bytes.resize(source.bytes);
      return device.tap(command.stream, source.arena, source.offset, bytes);
    }
    Return entry{index, command.reads[0].buffer(),
                 std::vector<std::byte>(destination.bytes)};
    returned_.push_back(std::move(entry));
    return device.tap(command.stream, destination.arena, destination.offset,
                      returned_.back().bytes);
  }

  Status stepEnds(const schedule::ScheduleT &schedule, Device &) override {
    for (const Return &entry : returned_) {
      auto found = left_.find(entry.hostBuffer);
      if (found == left_.end()) { // an input, or a value of the step before
        continue;
      }
      const std::vector<std::byte> &sent = found->second;
      if (sent.size() != entry.bytes.size() ||
          std::memcmp(sent.data(), entry.bytes.data(), sent.size()) != 0) {
        int32_t tensor = schedule.buffers[entry.hostBuffer]->tensor;
        return Error{format(
            "command %u: '%s' came back from the host with other bytes than it "
            "left with",
            entry.command,
            tensor >= 0 ? schedule.tensors[tensor]->name.c_str()
                        : schedule.buffers[entry.hostBuffer]->name.c_str())};
      }
    }
    return {};
  }

private:
  struct Return {
    uint32_t command;
    uint32_t hostBuffer;
    std::vector<std::byte> bytes;
  };

  std::map<uint32_t, std::vector<std::byte>> left_; // by host buffer
  std::vector<Return> returned_;
};

} // namespace

std::unique_ptr<Observer> createCopyVerifier() {
  return std::make_unique<CopyVerifier>();
}

} // namespace vdnn::rt
