//===- CpuDevice.cpp - the CPU as a device --------------------------------===//

#include "runtime/backend/cpu/CpuDevice.h"

#include "runtime/backend/cpu/Dnnl.h"
#include "runtime/backend/cpu/Parallel.h"
#include "runtime/backend/cpu/Query.h"

#include <chrono>
#include <cstring>
#include <thread>

namespace vdnn::rt::cpu {

CpuDevice::CpuDevice(unsigned threads) : threads_(resolveThreads(threads)) {}

CpuDevice::~CpuDevice() {
  // Threads wait for each other's events: all must run dry before the first is
  // joined.
  for (StreamThread &stream : streams_) {
    stream.drain();
  }
}

std::string CpuDevice::fingerprint() const { return cpuFingerprint(threads_); }

Status CpuDevice::allocate(uint64_t deviceBytes, uint64_t hostBytes,
                           std::span<const schedule::StreamT> streams,
                           uint32_t eventCount) {
  if (allocated_) {
    return Error{
        "the device is allocated already; create one device per schedule"};
  }
  VDNN_TRY(device_.allocate(deviceBytes, "device"));
  VDNN_TRY(host_.allocate(hostBytes, "host"));
  events_.resize(eventCount);
  for (const schedule::StreamT &stream : streams) {
    bool computes = stream.kind == schedule::StreamKind::Compute;
    streams_.emplace_back([threads = computes ? threads_ : 1u] {
      omp_set_num_threads(static_cast<int>(threads));
    });
  }
  allocated_ = true;
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Status CpuDevice::prepare(uint32_t command, const schedule::KernelT &kernel,
                          const LaunchTypes &types,
                          std::span<const schedule::InPlace> inPlace,
                          uint64_t workspaceBytes) {
  VDNN_TRY(error_.get());
  Result<std::vector<uint64_t>> readBytes = bytesOf(types.reads),
                                writeBytes = bytesOf(types.writes);
  VDNN_TRY(readBytes.status());
  VDNN_TRY(writeBytes.status());
  ThreadScope scope(threads_);
  Result<Kernel> created = createKernel({kernel, types, threads_});
  VDNN_TRY(created.status());
  VDNN_TRY(expectInPlace(inPlace, created->inPlace, kernel.kind));
  if (created->workspaceBytes > workspaceBytes) {
    return Error{"kernel '" + kernel.kind + "': needs " +
                 std::to_string(created->workspaceBytes) +
                 " bytes of workspace, the plan gives " +
                 std::to_string(workspaceBytes) +
                 "; plan again for this machine"};
  }
  if (created->build) {
    VDNN_TRY(catchDnnl([&] {
      created->build();
      return Status();
    }));
  }
  prepared_[command] = std::make_shared<Prepared>(
      Prepared{std::move(*created), kernel.kind, std::move(*readBytes),
               std::move(*writeBytes)});
  return {};
}

Status CpuDevice::launch(uint32_t stream, uint32_t command,
                         const LaunchArguments &arguments) {
  VDNN_TRY(check(stream));
  auto found = prepared_.find(command);
  if (found == prepared_.end()) {
    return Error{"command " + std::to_string(command) +
                 " is launched but was never prepared"};
  }
  const std::shared_ptr<Prepared> &prepared = found->second;
  if (arguments.reads.size() != prepared->readBytes.size() ||
      arguments.writes.size() != prepared->writeBytes.size()) {
    return Error{"command " + std::to_string(command) +
                 " was prepared for other numbers of operands"};
  }
  if (arguments.workspaceBytes < prepared->kernel.workspaceBytes) {
    return Error{"command " + std::to_string(command) +
                 " is launched with less workspace than it was prepared for"};
  }
  std::vector<std::byte *> addresses;
  auto bind = [&](std::span<const uint64_t> offsets,
                  const std::vector<uint64_t> &bytes) -> Status {
    for (size_t i = 0; i < offsets.size(); ++i) {
      VDNN_TRY(checkRange(schedule::Arena::Device, offsets[i], bytes[i],
                          prepared->kind.c_str()));
      addresses.push_back(device_.data() + offsets[i]);
    }
    return {};
  };
  VDNN_TRY(bind(arguments.reads, prepared->readBytes));
  VDNN_TRY(bind(arguments.writes, prepared->writeBytes));
  VDNN_TRY(checkRange(schedule::Arena::Device, arguments.workspace,
                      arguments.workspaceBytes, "workspace"));
  submit(stream, [this, prepared, command, addresses = std::move(addresses),
                  workspace = device_.data() + arguments.workspace] {
    std::span<std::byte *const> all(addresses);
    Operands operands{all.first(prepared->readBytes.size()),
                      all.subspan(prepared->readBytes.size()), workspace};
    Status status = catchDnnl([&] { return prepared->kernel.run(operands); });
    if (!status.ok()) {
      error_.set({"command " + std::to_string(command) + ", kernel '" +
                  prepared->kind + "': " + status.message()});
    }
  });
  return {};
}

//===----------------------------------------------------------------------===//
// Copies and events
//===----------------------------------------------------------------------===//

Status CpuDevice::check(uint32_t stream) const {
  VDNN_TRY(error_.get());
  if (stream >= streams_.size()) {
    return Error{"stream " + std::to_string(stream) +
                 " does not exist, there are " +
                 std::to_string(streams_.size())};
  }
  return {};
}

Status CpuDevice::checkRange(schedule::Arena arena, uint64_t offset,
                             uint64_t bytes, const char *what) const {
  const Arena &memory = arena == schedule::Arena::Device ? device_ : host_;
  if (!memory.holds(offset, bytes)) {
    return Error{std::string("'") + what + "' reaches outside the " +
                 (arena == schedule::Arena::Device ? "device" : "host") +
                 " arena of " + std::to_string(memory.bytes()) +
                 " bytes: " + std::to_string(bytes) + " bytes at offset " +
                 std::to_string(offset)};
  }
  return {};
}

std::byte *CpuDevice::address(schedule::Arena arena, uint64_t offset) const {
  return (arena == schedule::Arena::Device ? device_ : host_).data() + offset;
}

void CpuDevice::submit(uint32_t stream, std::function<void()> work) {
  streams_[stream].submit([this, work = std::move(work)] {
    if (!error_.failed()) {
      work();
    }
  });
}

Status CpuDevice::submitCopy(uint32_t stream, std::byte *destination,
                             const std::byte *source, uint64_t bytes) {
  VDNN_TRY(check(stream));
  if (bytes > 0) {
    submit(stream, [=] { std::memcpy(destination, source, bytes); });
  }
  return {};
}

Status CpuDevice::copyToHost(uint32_t stream, uint64_t hostOffset,
                             uint64_t deviceOffset, uint64_t bytes) {
  VDNN_TRY(checkRange(schedule::Arena::Host, hostOffset, bytes, "copy"));
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, bytes, "copy"));
  return submitCopy(stream, host_.data() + hostOffset,
                    device_.data() + deviceOffset, bytes);
}

Status CpuDevice::copyToDevice(uint32_t stream, uint64_t deviceOffset,
                               uint64_t hostOffset, uint64_t bytes) {
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, bytes, "copy"));
  VDNN_TRY(checkRange(schedule::Arena::Host, hostOffset, bytes, "copy"));
  return submitCopy(stream, device_.data() + deviceOffset,
                    host_.data() + hostOffset, bytes);
}

Status CpuDevice::record(uint32_t stream, uint32_t event) {
  VDNN_TRY(check(stream));
  if (event >= events_.size()) {
    return Error{"event " + std::to_string(event) +
                 " does not exist, there are " +
                 std::to_string(events_.size())};
  }
  // Events complete after an error too, so that no stream waits forever.
  Event &target = events_[event];
  streams_[stream].submit(
      [&target, number = target.nextRecord()] { target.complete(number); });
  return {};
}

Status CpuDevice::wait(uint32_t stream, uint32_t event) {
  VDNN_TRY(check(stream));
  if (event >= events_.size()) {
    return Error{"event " + std::to_string(event) +
                 " does not exist, there are " +
                 std::to_string(events_.size())};
  }
  Event &target = events_[event];
  if (target.latestRecord() == 0) {
    return Error{"event " + std::to_string(event) +
                 " is waited for before it is recorded"};
  }
  streams_[stream].submit(
      [&target, number = target.latestRecord()] { target.waitFor(number); });
  return {};
}

Status CpuDevice::mark(uint32_t stream, uint32_t number) {
  VDNN_TRY(check(stream));
  while (marks_.size() <= number) {
    marks_.emplace_back();
  }
  Event &target = marks_[number];
  streams_[stream].submit(
      [&target, count = target.nextRecord()] { target.complete(count); });
  return {};
}

Status CpuDevice::awaitMark(uint32_t number) {
  if (number >= marks_.size()) {
    return Error{"mark " + std::to_string(number) +
                 " is waited for before it is made"};
  }
  marks_[number].waitFor(marks_[number].latestRecord());
  return error_.get();
}

Status CpuDevice::synchronize() {
  for (StreamThread &stream : streams_) {
    stream.drain();
  }
  return error_.get();
}

//===----------------------------------------------------------------------===//
// Outside the plan
//===----------------------------------------------------------------------===//

Status CpuDevice::upload(uint64_t deviceOffset,
                         std::span<const std::byte> source) {
  VDNN_TRY(error_.get());
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, source.size(),
                      "upload"));
  if (!source.empty()) {
    std::memcpy(device_.data() + deviceOffset, source.data(), source.size());
  }
  return {};
}

Status CpuDevice::download(uint64_t deviceOffset,
                           std::span<std::byte> destination) {
  VDNN_TRY(error_.get());
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, destination.size(),
                      "download"));
  if (!destination.empty()) {
    std::memcpy(destination.data(), device_.data() + deviceOffset,
                destination.size());
  }
  return {};
}

Status CpuDevice::tap(uint32_t stream, schedule::Arena arena, uint64_t offset,
                      std::span<std::byte> destination) {
  VDNN_TRY(checkRange(arena, offset, destination.size(), "tap"));
  return submitCopy(stream, destination.data(), address(arena, offset),
                    destination.size());
}

Status CpuDevice::fill(uint32_t stream, schedule::Arena arena, uint64_t offset,
                       uint64_t bytes, std::byte value) {
  VDNN_TRY(check(stream));
  VDNN_TRY(checkRange(arena, offset, bytes, "fill"));
  if (bytes > 0) {
    submit(stream, [=, destination = address(arena, offset)] {
      std::memset(destination, std::to_integer<int>(value), bytes);
    });
  }
  return {};
}

Status CpuDevice::delay(uint32_t stream, uint64_t nanoseconds) {
  VDNN_TRY(check(stream));
  submit(stream, [=] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
  });
  return {};
}

Status CpuDevice::callback(uint32_t stream, std::function<void()> mark) {
  VDNN_TRY(check(stream));
  submit(stream, std::move(mark));
  return {};
}

} // namespace vdnn::rt::cpu

namespace vdnn::rt {

std::unique_ptr<Device> createCpuDevice(unsigned threads) {
  return std::make_unique<cpu::CpuDevice>(threads);
}

} // namespace vdnn::rt
