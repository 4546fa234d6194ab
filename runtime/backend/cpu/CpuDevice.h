//===- CpuDevice.h - the CPU as a device ----------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_CPUDEVICE_H
#define VDNN_RUNTIME_BACKEND_CPU_CPUDEVICE_H

#include "runtime/backend/cpu/Arena.h"
#include "runtime/backend/cpu/Kernel.h"
#include "runtime/backend/cpu/StreamThread.h"

#include <deque>
#include <memory>
#include <unordered_map>

namespace vdnn::rt::cpu {

/// See Device.h. All bounds are checked when work is submitted.
class CpuDevice final : public Device {
public:
  explicit CpuDevice(unsigned threads);
  ~CpuDevice() override;

  std::string kind() const override { return "cpu"; }
  std::string fingerprint() const override;
  Status allocate(uint64_t deviceBytes, uint64_t hostBytes,
                  std::span<const schedule::StreamT> streams,
                  uint32_t eventCount) override;
  std::byte *hostArena() override { return host_.data(); }
  Status prepare(uint32_t command, const schedule::KernelT &kernel,
                 const LaunchTypes &types,
                 std::span<const schedule::InPlace> inPlace,
                 uint64_t workspaceBytes) override;
  Status launch(uint32_t stream, uint32_t command,
                const LaunchArguments &arguments) override;
  Status copyToHost(uint32_t stream, uint64_t hostOffset, uint64_t deviceOffset,
                    uint64_t bytes) override;
  Status copyToDevice(uint32_t stream, uint64_t deviceOffset,
                      uint64_t hostOffset, uint64_t bytes) override;
  Status record(uint32_t stream, uint32_t event) override;
  Status wait(uint32_t stream, uint32_t event) override;
  Status mark(uint32_t stream, uint32_t number) override;
  Status awaitMark(uint32_t number) override;
  Status synchronize() override;
  Status upload(uint64_t deviceOffset,
                std::span<const std::byte> source) override;
  Status download(uint64_t deviceOffset,
                  std::span<std::byte> destination) override;
  Status tap(uint32_t stream, schedule::Arena arena, uint64_t offset,
             std::span<std::byte> destination) override;
  Status fill(uint32_t stream, schedule::Arena arena, uint64_t offset,
              uint64_t bytes, std::byte value) override;
  Status delay(uint32_t stream, uint64_t nanoseconds) override;
  Status callback(uint32_t stream, std::function<void()> mark) override;

private:
  /// A prepared command: its kernel and the bytes of its operands.
  struct Prepared {
    Kernel kernel;
    std::string kind;
    std::vector<uint64_t> readBytes;
    std::vector<uint64_t> writeBytes;
  };

  Status check(uint32_t stream) const;
  Status checkRange(schedule::Arena arena, uint64_t offset, uint64_t bytes,
                    const char *what) const;
  std::byte *address(schedule::Arena arena, uint64_t offset) const;
  Status submitCopy(uint32_t stream, std::byte *destination,
                    const std::byte *source, uint64_t bytes);

  /// Queues work that is skipped after an error.
  void submit(uint32_t stream, std::function<void()> work);

  const unsigned threads_;
  Arena device_;
  Arena host_;
  ErrorState error_;
  std::deque<Event> events_;
  std::deque<Event> marks_;
  std::unordered_map<uint32_t, std::shared_ptr<Prepared>> prepared_;
  // Last, so that the threads end before what they use.
  std::deque<StreamThread> streams_;
  bool allocated_ = false;
};

} // namespace vdnn::rt::cpu

#endif
