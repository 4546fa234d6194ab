//===- CudaDevice.h - an NVIDIA GPU as a device ---------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_CUDADEVICE_H
#define VDNN_RUNTIME_BACKEND_CUDA_CUDADEVICE_H

#include "runtime/backend/cuda/HostArena.h"
#include "runtime/backend/cuda/HostMark.h"
#include "runtime/backend/cuda/Kernel.h"
#include "runtime/backend/cuda/Nvml.h"

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace vdnn::rt::cuda {

/// See Device.h. The first GPU that CUDA_VISIBLE_DEVICES shows. All bounds are
/// checked when work is submitted.
class CudaDevice final : public Device {
public:
  /// Creates the context and the libraries' handles; no memory of the plan.
  static Result<std::unique_ptr<Device>> create();
  ~CudaDevice() override;

  std::string kind() const override { return "cuda"; }
  std::string fingerprint() const override {
    return cuda::fingerprint(properties_);
  }
  Status allocate(uint64_t deviceBytes, uint64_t hostBytes,
                  std::span<const schedule::StreamT> streams,
                  uint32_t eventCount) override;
  std::byte *hostArena() override { return host_.data(); }
  Status prepare(uint32_t command, const schedule::KernelT &kernel,
                 const LaunchTypes &types,
                 std::span<const schedule::InPlace> inPlace,
                 uint64_t workspaceBytes) override;
  uint64_t workspaceBytes(uint32_t command) const override;
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
  uint64_t alignment() const override { return 256; }
  bool canCapture() const override { return true; }
  Status capture(const std::function<Status()> &submit) override;
  Status replay() override;
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
  Result<std::unique_ptr<ActivityTracer>> traceActivities() override;
  Result<int64_t> measure(uint32_t stream,
                          const std::function<Status()> &submit) override;
  DeviceMemory memory() const override;

private:
  /// `before`: the GPU's memory without a context of this process.
  static Result<std::unique_ptr<Device>>
  open(const std::optional<GpuMemory> &before);

  explicit CudaDevice(Properties properties)
      : properties_(std::move(properties)) {}

  /// A prepared command: its kernel and the bytes of its operands.
  struct Prepared {
    Kernel kernel;
    std::string kind;
    std::vector<uint64_t> readBytes;
    std::vector<uint64_t> writeBytes;
    std::vector<void *> reads;
    std::vector<void *> writes;
  };

  Status check(uint32_t stream) const;
  Status checkRange(schedule::Arena arena, uint64_t offset, uint64_t bytes,
                    const char *what) const;
  std::byte *address(schedule::Arena arena, uint64_t offset) const;
  /// Keeps the first error; nothing runs after it.
  Status keep(Status status);
  Status forkAndSubmit(const std::function<Status()> &submit);

  const Properties properties_;
  uint64_t ownBytes_ = 0; ///< see DeviceMemory
  Context context_;
  std::byte *device_ = nullptr;
  uint64_t deviceBytes_ = 0;
  HostArena host_;
  BadLabel *badLabel_ = nullptr; ///< `Context::badLabel` as the host sees it
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<bool> recorded_;
  std::vector<cudaEvent_t> forks_; ///< of captures: one, then one per stream
  std::unordered_map<uint32_t, Prepared> prepared_;
  cudaGraphExec_t graph_ = nullptr;
  std::deque<HostMark> marks_; ///< queued work keeps their addresses
  bool capturing_ = false;
  Status error_;
  bool allocated_ = false;
};

/// What cuDNN says of the first GPU of this machine, as JSON.
Result<std::string> readDeviceProperties();

} // namespace vdnn::rt::cuda

#endif
