//===- FakeDevice.cpp -----------------------------------------------------===//

#include "FakeDevice.h"

#include "runtime/exec/files/HostTensor.h"
#include "runtime/support/Format.h"
#include "runtime/support/Half.h"

#include <cstring>
#include <utility>

using namespace vdnn;
using namespace vdnn::rt;

namespace vdnn::test {

namespace {

/// What the device does goes into `activities` while a tracer lives.
struct FakeTrace {
  bool on = false;
  uint32_t command = Activity::kNoCommand;
  std::vector<Activity> activities;
};

class FakeTracer final : public ActivityTracer {
public:
  FakeTracer(FakeLog &log, FakeTrace &trace) : log_(log), trace_(trace) {
    trace_.on = true;
  }
  ~FakeTracer() override { trace_.on = false; }

  Status enter(uint32_t command) override {
    trace_.command = command;
    return {};
  }
  Status leave() override {
    trace_.command = Activity::kNoCommand;
    return {};
  }
  Result<std::vector<Activity>> take() override {
    if (log_.failTake) {
      return Error{"the tracer lost records"};
    }
    return std::exchange(trace_.activities, {});
  }

private:
  FakeLog &log_;
  FakeTrace &trace_;
};

class FakeDevice final : public Device {
public:
  FakeDevice(FakeLog &log, std::string kind)
      : log_(log), kind_(std::move(kind)) {}

  std::string kind() const override { return kind_; }
  std::string fingerprint() const override { return "fake 1"; }
  uint64_t alignment() const override { return log_.alignment; }

  Status allocate(uint64_t deviceBytes, uint64_t hostBytes,
                  std::span<const schedule::StreamT> streams,
                  uint32_t eventCount) override {
    device_.resize(deviceBytes);
    host_.resize(hostBytes);
    note(format("allocate %llu %llu %zu %u",
                static_cast<unsigned long long>(deviceBytes),
                static_cast<unsigned long long>(hostBytes), streams.size(),
                eventCount));
    return {};
  }

  std::byte *hostArena() override {
    log_.clockNs += log_.hostNs;
    return host_.data();
  }

  Status prepare(uint32_t command, const schedule::KernelT &kernel,
                 const LaunchTypes &types, std::span<const schedule::InPlace>,
                 uint64_t) override {
    if (kernel.kind == "unknown") {
      return Error{"there is no kernel 'unknown'"};
    }
    kernels_[command] = kernel.kind;
    counts_[command] =
        static_cast<int64_t>(*elementCount(types.writes[0]->shape));
    note("prepare " + kernel.kind);
    return {};
  }

  Status launch(uint32_t stream, uint32_t command,
                const LaunchArguments &arguments) override {
    return queue([=, this] {
      if (log_.failingCommand == static_cast<int>(command)) {
        error_ = Error{"the kernel failed"};
      }
      compute(kernels_[command], counts_[command], arguments);
      trace(Activity::Kind::Work, kernels_[command]);
      note(format("launch %u ", stream) + kernels_[command]);
    });
  }

  Status copyToHost(uint32_t stream, uint64_t hostOffset, uint64_t deviceOffset,
                    uint64_t bytes) override {
    return queue([=, this] {
      std::memcpy(&host_[hostOffset], &device_[deviceOffset], bytes);
      trace(Activity::Kind::CopyToHost, "");
      note(format("copyToHost %u %llu", stream,
                  static_cast<unsigned long long>(bytes)));
    });
  }

  Status copyToDevice(uint32_t stream, uint64_t deviceOffset,
                      uint64_t hostOffset, uint64_t bytes) override {
    return queue([=, this] {
      std::memcpy(&device_[deviceOffset], &host_[hostOffset], bytes);
      trace(Activity::Kind::CopyToDevice, "");
      if (log_.corruptCopies) {
        device_[deviceOffset] ^= std::byte{1};
      }
      note(format("copyToDevice %u %llu", stream,
                  static_cast<unsigned long long>(bytes)));
    });
  }

  Status record(uint32_t stream, uint32_t event) override {
    return queue([=, this] { note(format("record %u %u", stream, event)); });
  }
  Status wait(uint32_t stream, uint32_t event) override {
    return queue([=, this] { note(format("wait %u %u", stream, event)); });
  }

  Status awaitMark(uint32_t number) override {
    if (!log_.marks) {
      return Device::awaitMark(number);
    }
    note(format("awaitMark %u", number));
    return log_.markError.empty() ? Status() : Error{log_.markError};
  }

  Status synchronize() override {
    note("synchronize");
    return error_ ? Status(*error_) : Status();
  }

  bool canCapture() const override { return log_.captures; }

  Status capture(const std::function<Status()> &submit) override {
    note("capture");
    graph_.clear();
    capturing_ = true;
    Status status = submit();
    capturing_ = false;
    return status && log_.failCapture ? Error{"the capture failed"} : status;
  }

  Status replay() override {
    note("replay");
    replaying_ = true;
    for (const std::function<void()> &work : graph_) {
      work();
    }
    replaying_ = false;
    return {};
  }

  Status upload(uint64_t deviceOffset,
                std::span<const std::byte> source) override {
    std::memcpy(&device_[deviceOffset], source.data(), source.size());
    return {};
  }

  Status download(uint64_t deviceOffset,
                  std::span<std::byte> destination) override {
    std::memcpy(destination.data(), &device_[deviceOffset], destination.size());
    return {};
  }

  Status tap(uint32_t, schedule::Arena arena, uint64_t offset,
             std::span<std::byte> destination) override {
    std::memcpy(destination.data(), &this->arena(arena)[offset],
                destination.size());
    return {};
  }

  Status fill(uint32_t, schedule::Arena arena, uint64_t offset, uint64_t bytes,
              std::byte value) override {
    std::memset(&this->arena(arena)[offset], std::to_integer<int>(value),
                bytes);
    return {};
  }

  Status delay(uint32_t stream, uint64_t nanoseconds) override {
    note(format("delay %u %d", stream, nanoseconds < 200000));
    return {};
  }

  Status callback(uint32_t, std::function<void()> mark) override {
    if (!log_.callbackError.empty()) {
      return Error{log_.callbackError};
    }
    log_.clockNs += 10;
    mark();
    return {};
  }

  Result<std::unique_ptr<ActivityTracer>> traceActivities() override {
    if (!log_.traceError.empty()) {
      return Error{log_.traceError};
    }
    return log_.traces ? std::unique_ptr<ActivityTracer>(
                             std::make_unique<FakeTracer>(log_, trace_))
                       : nullptr;
  }

  DeviceMemory memory() const override { return log_.memory; }

  int64_t nowNs() const override { return log_.clockNs; }

private:
  std::vector<std::byte> &arena(schedule::Arena arena) {
    return arena == schedule::Arena::Device ? device_ : host_;
  }

  void note(const std::string &call) {
    log_.calls.push_back(call);
    log_.clockNs += 10;
  }

  void trace(Activity::Kind kind, const std::string &name) {
    if (trace_.on) {
      trace_.activities.push_back({kind, trace_.command, log_.clockNs,
                                   log_.clockNs + 5, replaying_, name});
    }
  }

  /// Does the work, or keeps it for `replay`.
  Status queue(std::function<void()> work) {
    if (capturing_) {
      graph_.push_back(std::move(work));
    } else {
      work();
    }
    return {};
  }

  float *floats(uint64_t offset) {
    return reinterpret_cast<float *>(&device_[offset]);
  }

  void compute(const std::string &kind, int64_t count,
               const LaunchArguments &arguments) {
    float *out = floats(arguments.writes[0]);
    const float *a = floats(arguments.reads[0]);
    const float *b =
        arguments.reads.size() > 1 ? floats(arguments.reads[1]) : nullptr;
    if (kind == "sum") {
      float sum = 0;
      for (int64_t i = 0; i < 4; ++i) {
        sum += a[i];
      }
      *out = sum;
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      if (kind == "add") {
        out[i] = a[i] + b[i];
      } else if (kind == "halve") {
        out[i] = a[i] * 0.5f;
      } else if (kind == "update") {
        out[i] = a[i] - *floats(arguments.reads[2]) * b[i];
        if (arguments.writes.size() > 1) {
          reinterpret_cast<uint16_t *>(&device_[arguments.writes[1]])[i] =
              floatToBfloat(out[i]);
        }
      }
    }
  }

  FakeLog &log_;
  std::string kind_;
  std::vector<std::byte> device_;
  std::vector<std::byte> host_;
  std::map<uint32_t, std::string> kernels_;
  std::map<uint32_t, int64_t> counts_;
  std::optional<Error> error_;
  bool capturing_ = false;
  bool replaying_ = false;
  FakeTrace trace_;
  std::vector<std::function<void()>> graph_;
};

} // namespace

std::unique_ptr<Device> createFakeDevice(FakeLog &log,
                                         const std::string &kind) {
  return std::make_unique<FakeDevice>(log, kind);
}

} // namespace vdnn::test
