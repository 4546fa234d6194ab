//===- SimDevice.cpp ------------------------------------------------------===//

#include "runtime/sim/SimDevice.h"

#include "runtime/support/Format.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sys/mman.h>

namespace vdnn::rt {

namespace {

/// Memory that exists only where it is touched: a plan's host arena may be
/// larger than this machine.
struct SparseMemory {
  std::byte *data = nullptr;
  size_t bytes = 0;

  ~SparseMemory() {
    if (data) {
      ::munmap(data, bytes);
    }
  }

  Status allocate(uint64_t size) {
    bytes = std::max<uint64_t>(size, 1);
    void *address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      return Error{"cannot reserve " + formatBytes(size) +
                   " of addresses for the simulated host arena"};
    }
    data = static_cast<std::byte *>(address);
    return {};
  }
};

class SimDeviceImpl final : public SimDevice {
public:
  explicit SimDeviceImpl(const schedule::ScheduleT &schedule) {
    for (const auto &command : schedule.commands) {
      launchNs_.push_back(command->predicted_ns);
      if (command->kind == schedule::CommandKind::Copy) {
        copyNs_.push_back(command->predicted_ns);
      }
    }
    if (schedule.link) {
      link_ = *schedule.link;
    }
  }

  std::string kind() const override { return "sim"; }
  std::string fingerprint() const override { return ""; }
  bool computes() const override { return false; }
  int64_t nowNs() const override { return now_; }
  const Timeline &lastTimeline() const override { return timeline_; }

  Status allocate(uint64_t, uint64_t hostBytes,
                  std::span<const schedule::StreamT> streams,
                  uint32_t) override {
    streamCount_ = static_cast<uint32_t>(streams.size());
    return host_.allocate(hostBytes);
  }

  std::byte *hostArena() override { return host_.data; }

  Status prepare(uint32_t, const schedule::KernelT &, const LaunchTypes &,
                 std::span<const schedule::InPlace>, uint64_t) override {
    return {};
  }

  Status launch(uint32_t stream, uint32_t command,
                const LaunchArguments &) override {
    return work(stream, command < launchNs_.size() ? launchNs_[command] : 0, 0);
  }

  Status copyToHost(uint32_t stream, uint64_t, uint64_t,
                    uint64_t bytes) override {
    return work(stream, copyNs(bytes, link_.device_to_host_bytes_per_second),
                1);
  }

  Status copyToDevice(uint32_t stream, uint64_t, uint64_t,
                      uint64_t bytes) override {
    return work(stream, copyNs(bytes, link_.host_to_device_bytes_per_second),
                2);
  }

  Status record(uint32_t stream, uint32_t event) override {
    return queue({TimedCommand::Kind::Record, stream, event, 0, 0});
  }

  Status wait(uint32_t stream, uint32_t event) override {
    return queue({TimedCommand::Kind::Wait, stream, event, 0, 0});
  }

  Status synchronize() override;

  Status upload(uint64_t, std::span<const std::byte>) override { return {}; }

  Status download(uint64_t, std::span<std::byte> destination) override {
    std::fill(destination.begin(), destination.end(), std::byte{0});
    return {};
  }

  Status tap(uint32_t stream, schedule::Arena, uint64_t,
             std::span<std::byte> destination) override {
    std::fill(destination.begin(), destination.end(), std::byte{0});
    return work(stream, 0, 0);
  }

  Status fill(uint32_t stream, schedule::Arena, uint64_t, uint64_t,
              std::byte) override {
    return work(stream, 0, 0);
  }

  Status delay(uint32_t stream, uint64_t nanoseconds) override {
    return work(stream, static_cast<int64_t>(nanoseconds), 0);
  }

  Status callback(uint32_t stream, std::function<void()> mark) override {
    marks_.emplace_back(commands_.size(), std::move(mark));
    return work(stream, 0, 0);
  }

private:
  Status queue(const TimedCommand &command) {
    if (command.stream >= streamCount_) {
      return Error{format("stream %u does not exist: the schedule has %u",
                          command.stream, streamCount_)};
    }
    commands_.push_back(command);
    return {};
  }

  Status work(uint32_t stream, int64_t ns, uint8_t direction) {
    return queue({TimedCommand::Kind::Work, stream, 0, ns, direction});
  }

  /// The plan's own prediction for the next copy of the step, or the link's
  /// where it has none.
  int64_t copyNs(uint64_t bytes, double bytesPerSecond) {
    int64_t predicted = nextCopy_ < copyNs_.size() ? copyNs_[nextCopy_] : 0;
    ++nextCopy_;
    if (predicted > 0 || !(bytesPerSecond > 0)) {
      return predicted;
    }
    return link_.latency_ns +
           std::llround(static_cast<double>(bytes) / bytesPerSecond * 1e9);
  }

  std::vector<int64_t> launchNs_; // by command
  std::vector<int64_t> copyNs_;   // by copy
  schedule::LinkT link_;
  SparseMemory host_;
  uint32_t streamCount_ = 0;
  size_t nextCopy_ = 0;
  std::vector<TimedCommand> commands_;
  std::vector<std::pair<size_t, std::function<void()>>> marks_;
  Timeline timeline_;
  int64_t now_ = 0;
};

Status SimDeviceImpl::synchronize() {
  double duplex = link_.duplex_factor > 0 && link_.duplex_factor <= 1
                      ? link_.duplex_factor
                      : 1.0;
  timeline_ = simulate(commands_, streamCount_, duplex);
  std::stable_sort(
      marks_.begin(), marks_.end(), [&](const auto &a, const auto &b) {
        return timeline_.startNs[a.first] < timeline_.startNs[b.first];
      });
  int64_t origin = now_;
  for (const auto &[command, mark] : marks_) {
    now_ = origin + timeline_.startNs[command];
    mark();
  }
  now_ = origin + timeline_.totalNs;
  commands_.clear();
  marks_.clear();
  nextCopy_ = 0;
  return {};
}

} // namespace

std::unique_ptr<SimDevice>
SimDevice::create(const schedule::ScheduleT &schedule) {
  return std::make_unique<SimDeviceImpl>(schedule);
}

Timeline predictTimeline(const schedule::ScheduleT &schedule) {
  SimDeviceImpl device(schedule);
  std::vector<schedule::StreamT> streams;
  for (const auto &stream : schedule.streams) {
    streams.push_back(*stream);
  }
  // None of these fails: the streams are those of the schedule.
  static_cast<void>(device.allocate(0, 0, streams, schedule.event_count));
  for (uint32_t i = 0; i < schedule.commands.size(); ++i) {
    const schedule::CommandT &command = *schedule.commands[i];
    auto event = static_cast<uint32_t>(command.event);
    switch (command.kind) {
    case schedule::CommandKind::Launch:
      static_cast<void>(device.launch(command.stream, i, {}));
      break;
    case schedule::CommandKind::Copy: {
      const schedule::BufferT &to =
          *schedule.buffers[command.writes[0].buffer()];
      static_cast<void>(
          to.arena == schedule::Arena::Host
              ? device.copyToHost(command.stream, 0, 0, to.bytes)
              : device.copyToDevice(command.stream, 0, 0, to.bytes));
      break;
    }
    case schedule::CommandKind::Record:
      static_cast<void>(device.record(command.stream, event));
      break;
    case schedule::CommandKind::Wait:
      static_cast<void>(device.wait(command.stream, event));
      break;
    }
  }
  static_cast<void>(device.synchronize());
  return device.lastTimeline();
}

} // namespace vdnn::rt
