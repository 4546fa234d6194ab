//===- FakeDevice.cpp
//---------------------------------------------------------------------------------------===//

#include "FakeDevice.h"

#include "runtime/exec/files/HostTensor.h"
#include "runtime/support/Format.h"

#include <cstring>

using namespace vdnn;
using namespace vdnn::rt;

namespace vdnn::test {

namespace {

class FakeDevice final : public Device {
public:
  FakeDevice(FakeLog &log, std::string kind)
      : log_(log), kind_(std::move(kind)) {}

  std::string kind() const override { return kind_; }
  std::string fingerprint() const override { return "fake 1"; }

  Status allocate(uint64_t deviceBytes, uint64_t hostBytes,
                  std::span<const schedule::StreamT> streams,
                  uint32_t eventCount) override {
    device_.resize(deviceBytes);
    host_.resize(hostBytes);
    return note(format("allocate %llu %llu %zu %u",
                       static_cast<unsigned long long>(deviceBytes),
                       static_cast<unsigned long long>(hostBytes),
                       streams.size(), eventCount));
  }

  std::byte *hostArena() override { return host_.data(); }

  Status prepare(uint32_t command, const schedule::KernelT &kernel,
                 const LaunchTypes &types, std::span<const schedule::InPlace>,
                 uint64_t) override {
    if (kernel.kind == "unknown") {
      return Error{"there is no kernel 'unknown'"};
    }
    kernels_[command] = kernel.kind;
    counts_[command] =
        static_cast<int64_t>(*elementCount(types.writes[0]->shape));
    return note("prepare " + kernel.kind);
  }

  Status launch(uint32_t stream, uint32_t command,
                const LaunchArguments &arguments) override {
    if (log_.failingCommand == static_cast<int>(command)) {
      error_ = Error{"the kernel failed"};
    }
    compute(kernels_[command], counts_[command], arguments);
    return note(format("launch %u ", stream) + kernels_[command]);
  }

  Status copyToHost(uint32_t stream, uint64_t hostOffset, uint64_t deviceOffset,
                    uint64_t bytes) override {
    std::memcpy(&host_[hostOffset], &device_[deviceOffset], bytes);
    return note(format("copyToHost %u %llu", stream,
                       static_cast<unsigned long long>(bytes)));
  }

  Status copyToDevice(uint32_t stream, uint64_t deviceOffset,
                      uint64_t hostOffset, uint64_t bytes) override {
    std::memcpy(&device_[deviceOffset], &host_[hostOffset], bytes);
    if (log_.corruptCopies) {
      device_[deviceOffset] ^= std::byte{1};
    }
    return note(format("copyToDevice %u %llu", stream,
                       static_cast<unsigned long long>(bytes)));
  }

  Status record(uint32_t stream, uint32_t event) override {
    return note(format("record %u %u", stream, event));
  }
  Status wait(uint32_t stream, uint32_t event) override {
    return note(format("wait %u %u", stream, event));
  }

  Status synchronize() override {
    static_cast<void>(note("synchronize").ok());
    return error_ ? Status(*error_) : Status();
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
    return note(format("delay %u %d", stream, nanoseconds < 200000));
  }

  Status callback(uint32_t, std::function<void()> mark) override {
    log_.clockNs += 10;
    mark();
    return {};
  }

  int64_t nowNs() const override { return log_.clockNs; }

private:
  std::vector<std::byte> &arena(schedule::Arena arena) {
    return arena == schedule::Arena::Device ? device_ : host_;
  }

  Status note(const std::string &call) {
    log_.calls.push_back(call);
    log_.clockNs += 10;
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
};

} // namespace

std::unique_ptr<Device> createFakeDevice(FakeLog &log,
                                         const std::string &kind) {
  return std::make_unique<FakeDevice>(log, kind);
}

} // namespace vdnn::test
