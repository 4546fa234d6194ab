//===- Device.h - the whole backend interface -----------------------------===//
//
// A device has one device arena, one host arena that copies can reach, one
// stream per entry of the schedule's stream table, and kernels that are
// prepared once and launched by index. The executor is the only caller; it
// calls from one thread. Everything that takes a stream is asynchronous: it
// returns once the work is queued, and an error of the work itself is returned
// by `synchronize`. After an error the device refuses further work until it is
// destroyed.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_EXEC_DEVICE_H
#define VDNN_RUNTIME_EXEC_DEVICE_H

#include "runtime/exec/Activity.h"
#include "runtime/schedule/Schedule.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace vdnn::rt {

/// Addresses of one launch, as offsets into the device arena, in the order of
/// the command's reads and writes.
struct LaunchArguments {
  std::span<const uint64_t> reads;
  std::span<const uint64_t> writes;
  uint64_t workspace = 0;
  uint64_t workspaceBytes = 0;
};

/// How kernels see their operands: the types of a command's reads and writes.
struct LaunchTypes {
  std::span<const schedule::TypeT *const> reads;
  std::span<const schedule::TypeT *const> writes;
};

/// Memory of a device.
struct DeviceMemory {
  uint64_t totalBytes = 0; ///< 0: not known
  uint64_t usedBytes = 0;  ///< whoever uses it
  /// What this process took before the arenas, for a context and libraries; 0:
  /// not known.
  uint64_t ownBytes = 0;
};

class Device {
public:
  virtual ~Device() = default;

  /// "cpu", "cuda"; what schedules name as their target's kind.
  virtual std::string kind() const = 0;

  /// Library versions, instruction set, threads: what the choice of kernels and
  /// the sizes of workspaces depend on.
  virtual std::string fingerprint() const = 0;

  /// What operands and workspaces in the device arena must be aligned to.
  virtual uint64_t alignment() const { return 64; }

  /// Takes exactly these bytes, once, before anything else. Both arenas are
  /// aligned to 4096 bytes.
  virtual Status allocate(uint64_t deviceBytes, uint64_t hostBytes,
                          std::span<const schedule::StreamT> streams,
                          uint32_t eventCount) = 0;

  /// The host arena; valid until the device is destroyed. The caller orders its
  /// own accesses by `synchronize` and `awaitMark`.
  virtual std::byte *hostArena() = 0;

  /// Prepares command number `command` (a Launch); `workspaceBytes` is what the
  /// plan gives it. Fails if this device does not know the kernel, its
  /// algorithm, types or in-place pairs, or needs more workspace.
  virtual Status prepare(uint32_t command, const schedule::KernelT &kernel,
                         const LaunchTypes &types,
                         std::span<const schedule::InPlace> inPlace,
                         uint64_t workspaceBytes) = 0;

  /// What launches of a prepared command need, at most what `prepare` was told;
  /// 0 where the device does not say.
  virtual uint64_t workspaceBytes(uint32_t /*command*/) const { return 0; }

  virtual Status launch(uint32_t stream, uint32_t command,
                        const LaunchArguments &arguments) = 0;

  /// Copies between the arenas, from the one that holds the source to the
  /// other.
  virtual Status copyToHost(uint32_t stream, uint64_t hostOffset,
                            uint64_t deviceOffset, uint64_t bytes) = 0;
  virtual Status copyToDevice(uint32_t stream, uint64_t deviceOffset,
                              uint64_t hostOffset, uint64_t bytes) = 0;

  virtual Status record(uint32_t stream, uint32_t event) = 0;
  virtual Status wait(uint32_t stream, uint32_t event) = 0;

  /// Marks the point that a stream has reached, for the host, under a number
  /// that the caller chooses; a captured step marks it again at each replay.
  virtual Status mark(uint32_t /*stream*/, uint32_t /*number*/) { return {}; }

  /// Waits until the work queued before the latest mark of that number has
  /// finished, while other work goes on. A device that cannot tell waits for
  /// everything.
  virtual Status awaitMark(uint32_t /*number*/) { return synchronize(); }

  /// Waits until all queued work has finished and returns its first error.
  virtual Status synchronize() = 0;

  /// Whether the device can keep the work of a step and queue it again at once
  /// (a CUDA graph).
  virtual bool canCapture() const { return false; }

  /// Calls `submit`, which queues the work of one step, and keeps that work
  /// instead of doing it. Only while no work is queued, and once every kernel
  /// has run: libraries load code at a kernel's first run.
  virtual Status capture(const std::function<Status()> & /*submit*/) {
    return Error{"the device cannot capture a step"};
  }

  /// Queues the captured step.
  virtual Status replay() { return Error{"no step is captured"}; }

  //===--- outside the plan: loading, saving, debug modes
  //-------------------------------------------------===//

  /// Blocking copies between memory of the caller and the device arena. Only
  /// while no work is queued.
  virtual Status upload(uint64_t deviceOffset,
                        std::span<const std::byte> source) = 0;
  virtual Status download(uint64_t deviceOffset,
                          std::span<std::byte> destination) = 0;

  /// Queues a copy of device (or host arena) bytes to memory of the caller,
  /// which stays valid until `synchronize`.
  virtual Status tap(uint32_t stream, schedule::Arena arena, uint64_t offset,
                     std::span<std::byte> destination) = 0;

  /// Queues a fill with a byte (debug mode --poison) or a delay (debug mode
  /// --jitter).
  virtual Status fill(uint32_t stream, schedule::Arena arena, uint64_t offset,
                      uint64_t bytes, std::byte value) = 0;
  virtual Status delay(uint32_t stream, uint64_t nanoseconds) = 0;

  /// Runs `function` on the stream when everything queued before has finished;
  /// for traces and times. It must not block.
  virtual Status callback(uint32_t stream, std::function<void()> function) = 0;

  /// Notes what the device itself does; null where `callback` tells as much. An
  /// error says why it cannot, and what to do about it.
  virtual Result<std::unique_ptr<ActivityTracer>> traceActivities() {
    return std::unique_ptr<ActivityTracer>();
  }

  /// Nanoseconds that the work takes which `submit` queues on a stream, by the
  /// device's own clock where it has one. Waits for all work, before and after.
  virtual Result<int64_t> measure(uint32_t /*stream*/,
                                  const std::function<Status()> &submit) {
    Status status = synchronize();
    int64_t begin = nowNs();
    status = status ? submit() : status;
    status = status ? synchronize() : status;
    return status ? Result<int64_t>(nowNs() - begin) : status.error();
  }

  virtual DeviceMemory memory() const { return {}; }

  /// The device's clock, ns from an arbitrary origin: that of a simulator while
  /// it calls back, else a steady clock.
  virtual int64_t nowNs() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// False of a simulator: it runs plans of every kind, and what it computes
  /// means nothing.
  virtual bool computes() const { return true; }
};

/// oneDNN on the CPU. One thread per stream; `threads` compute threads (0: all
/// cores).
std::unique_ptr<Device> createCpuDevice(unsigned threads = 0);

} // namespace vdnn::rt

#endif
