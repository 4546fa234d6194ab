//===- CudaDevice.cpp - an NVIDIA GPU as a device -------------------------===//

#include "runtime/backend/cuda/CudaDevice.h"

#include "runtime/support/Format.h"

namespace vdnn::rt::cuda {

/// What a context, cuDNN and cuBLAS take before they have run anything.
static constexpr uint64_t kContextBytes = 600 << 20;

Result<std::unique_ptr<Device>> CudaDevice::create() {
  int count = 0;
  if (cudaError_t code = cudaGetDeviceCount(&count);
      code != cudaSuccess || count == 0) {
    return Error{
        std::string("there is no NVIDIA GPU that can be used: ") +
        cudaGetErrorString(code == cudaSuccess ? cudaErrorNoDevice : code)};
  }
  // Before anything makes a context.
  std::optional<GpuMemory> before = gpuMemory(0);
  Result<std::unique_ptr<Device>> device = open(before);
  if (!device && before && before->freeBytes < kContextBytes) {
    return Error{"the GPU has no room for a context and cuDNN: " +
                 formatBytes(before->freeBytes) +
                 " are free, they need about " + formatBytes(kContextBytes) +
                 "; end what else uses it (" + device.message() + ")"};
  }
  return device;
}

Result<std::unique_ptr<Device>>
CudaDevice::open(const std::optional<GpuMemory> &before) {
  VDNN_CUDA(cudaSetDevice(0));
  Result<std::string> json = readDeviceProperties();
  VDNN_TRY(json.status());
  Result<Properties> properties = Properties::parse(*json);
  VDNN_TRY(properties.status());
  std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(*properties)));
  VDNN_CUDA(cudnnCreate(&device->context_.cudnn));
  VDNN_CUDA(cublasLtCreate(&device->context_.cublasLt));
  VDNN_CUDA(
      cudaHostAlloc(&device->badLabel_, sizeof(BadLabel), cudaHostAllocMapped));
  *device->badLabel_ = {};
  VDNN_CUDA(cudaHostGetDevicePointer(&device->context_.badLabel,
                                     device->badLabel_, 0));
  std::optional<GpuMemory> after = gpuMemory(0);
  if (before && after && after->usedBytes > before->usedBytes) {
    device->ownBytes_ = after->usedBytes - before->usedBytes;
  }
  return std::unique_ptr<Device>(std::move(device));
}

CudaDevice::~CudaDevice() {
  // Nothing can be done about errors here, and an earlier one is known.
  cudaDeviceSynchronize();
  prepared_.clear();
  context_.plans.clear();
  if (graph_) {
    cudaGraphExecDestroy(graph_);
  }
  for (cudaEvent_t event : events_) {
    cudaEventDestroy(event);
  }
  for (cudaEvent_t event : forks_) {
    cudaEventDestroy(event);
  }
  for (cudaStream_t stream : streams_) {
    cudaStreamDestroy(stream);
  }
  cudaFree(device_);
  cudaFreeHost(badLabel_);
  if (context_.cublasLt) {
    cublasLtDestroy(context_.cublasLt);
  }
  if (context_.cudnn) {
    cudnnDestroy(context_.cudnn);
  }
}

Status CudaDevice::allocate(uint64_t deviceBytes, uint64_t hostBytes,
                            std::span<const schedule::StreamT> streams,
                            uint32_t eventCount) {
  if (allocated_) {
    return Error{
        "the device is allocated already; create one device per schedule"};
  }
  if (deviceBytes > 0) {
    cudaError_t code = cudaMalloc(&device_, deviceBytes);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError(); // Not sticky: the next call must not see it.
      size_t free = 0, total = 0;
      VDNN_CUDA(cudaMemGetInfo(&free, &total));
      return Error{"the device arena of " + formatBytes(deviceBytes) +
                   " does not fit: " + formatBytes(free) + " of " +
                   formatBytes(total) +
                   " are free; plan with a smaller --budget, or end what else "
                   "uses the GPU"};
    }
    VDNN_CUDA(code);
    deviceBytes_ = deviceBytes;
  }
  VDNN_TRY(host_.allocate(hostBytes));
  for (size_t i = 0; i < streams.size(); ++i) {
    streams_.push_back(nullptr);
    VDNN_CUDA(
        cudaStreamCreateWithFlags(&streams_.back(), cudaStreamNonBlocking));
  }
  // cuDNN's plans take other workspaces for other kinds of stream.
  if (!streams_.empty()) {
    VDNN_CUDA(cudnnSetStream(context_.cudnn, streams_[0]));
  }
  auto addEvent = [](std::vector<cudaEvent_t> &events) {
    events.push_back(nullptr);
    return toStatus(
        cudaEventCreateWithFlags(&events.back(), cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
  };
  for (uint32_t i = 0; i < eventCount; ++i) {
    VDNN_TRY(addEvent(events_));
  }
  for (size_t i = 0; i <= streams.size(); ++i) {
    VDNN_TRY(addEvent(forks_));
  }
  recorded_.resize(eventCount);
  allocated_ = true;
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Status CudaDevice::prepare(uint32_t command, const schedule::KernelT &kernel,
                           const LaunchTypes &types,
                           std::span<const schedule::InPlace> inPlace,
                           uint64_t workspaceBytes) {
  VDNN_TRY(error_);
  Result<std::vector<uint64_t>> readBytes = bytesOf(types.reads),
                                writeBytes = bytesOf(types.writes);
  VDNN_TRY(readBytes.status());
  VDNN_TRY(writeBytes.status());
  Result<Kernel> created = createKernel({kernel, types, properties_});
  VDNN_TRY(created.status());
  VDNN_TRY(expectInPlace(inPlace, created->inPlace, kernel.kind));
  if (created->build) {
    Result<uint64_t> needed = created->build(context_);
    if (!needed) {
      return Error{"kernel '" + kernel.kind + "': " + needed.message()};
    }
    created->workspaceBytes = *needed;
  }
  if (created->workspaceBytes > workspaceBytes) {
    return Error{"kernel '" + kernel.kind + "': needs " +
                 std::to_string(created->workspaceBytes) +
                 " bytes of workspace, the plan gives " +
                 std::to_string(workspaceBytes) +
                 "; plan again for this machine"};
  }
  Prepared prepared{std::move(*created),
                    kernel.kind,
                    std::move(*readBytes),
                    std::move(*writeBytes),
                    std::vector<void *>(types.reads.size()),
                    std::vector<void *>(types.writes.size())};
  prepared_.insert_or_assign(command, std::move(prepared));
  return {};
}

Status CudaDevice::launch(uint32_t stream, uint32_t command,
                          const LaunchArguments &arguments) {
  VDNN_TRY(check(stream));
  auto found = prepared_.find(command);
  if (found == prepared_.end()) {
    return Error{"command " + std::to_string(command) +
                 " is launched before it is prepared"};
  }
  Prepared &prepared = found->second;
  if (arguments.reads.size() != prepared.reads.size() ||
      arguments.writes.size() != prepared.writes.size()) {
    return Error{"kernel '" + prepared.kind +
                 "' is launched with another number of operands than it was "
                 "prepared with"};
  }
  for (size_t i = 0; i < prepared.reads.size(); ++i) {
    VDNN_TRY(checkRange(schedule::Arena::Device, arguments.reads[i],
                        prepared.readBytes[i], prepared.kind.c_str()));
    prepared.reads[i] = device_ + arguments.reads[i];
  }
  for (size_t i = 0; i < prepared.writes.size(); ++i) {
    VDNN_TRY(checkRange(schedule::Arena::Device, arguments.writes[i],
                        prepared.writeBytes[i], prepared.kind.c_str()));
    prepared.writes[i] = device_ + arguments.writes[i];
  }
  if (arguments.workspaceBytes < prepared.kernel.workspaceBytes) {
    return Error{"kernel '" + prepared.kind + "': needs " +
                 std::to_string(prepared.kernel.workspaceBytes) +
                 " bytes of workspace, the launch gives " +
                 std::to_string(arguments.workspaceBytes)};
  }
  if (arguments.workspace % alignment() != 0) {
    return Error{"kernel '" + prepared.kind + "': its workspace at offset " +
                 std::to_string(arguments.workspace) + " is not aligned to " +
                 std::to_string(alignment()) + " bytes"};
  }
  VDNN_TRY(checkRange(schedule::Arena::Device, arguments.workspace,
                      prepared.kernel.workspaceBytes, prepared.kind.c_str()));
  Status status = prepared.kernel.run(
      context_, {prepared.reads, prepared.writes, device_ + arguments.workspace,
                 streams_[stream], command});
  if (!status) {
    return keep(Error{"kernel '" + prepared.kind + "': " + status.message()});
  }
  return {};
}

uint64_t CudaDevice::workspaceBytes(uint32_t command) const {
  auto found = prepared_.find(command);
  return found == prepared_.end() ? 0 : found->second.kernel.workspaceBytes;
}

//===----------------------------------------------------------------------===//
// Copies and events
//===----------------------------------------------------------------------===//

Status CudaDevice::keep(Status status) {
  if (!status && error_) {
    error_ = status;
  }
  return status;
}

Status CudaDevice::check(uint32_t stream) const {
  VDNN_TRY(error_);
  if (stream >= streams_.size()) {
    return Error{"stream " + std::to_string(stream) +
                 " does not exist, there are " +
                 std::to_string(streams_.size())};
  }
  return {};
}

Status CudaDevice::checkRange(schedule::Arena arena, uint64_t offset,
                              uint64_t bytes, const char *what) const {
  bool onDevice = arena == schedule::Arena::Device;
  uint64_t size = onDevice ? deviceBytes_ : host_.bytes();
  if (offset > size || bytes > size - offset) {
    return Error{std::string("'") + what + "' reaches outside the " +
                 (onDevice ? "device" : "host") + " arena of " +
                 std::to_string(size) + " bytes: " + std::to_string(bytes) +
                 " bytes at offset " + std::to_string(offset)};
  }
  return {};
}

std::byte *CudaDevice::address(schedule::Arena arena, uint64_t offset) const {
  return (arena == schedule::Arena::Device ? device_ : host_.data()) + offset;
}

Status CudaDevice::copyToHost(uint32_t stream, uint64_t hostOffset,
                              uint64_t deviceOffset, uint64_t bytes) {
  VDNN_TRY(check(stream));
  VDNN_TRY(checkRange(schedule::Arena::Host, hostOffset, bytes, "copy"));
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, bytes, "copy"));
  return keep(toStatus(
      cudaMemcpyAsync(host_.data() + hostOffset, device_ + deviceOffset, bytes,
                      cudaMemcpyDeviceToHost, streams_[stream]),
      "copy to the host"));
}

Status CudaDevice::copyToDevice(uint32_t stream, uint64_t deviceOffset,
                                uint64_t hostOffset, uint64_t bytes) {
  VDNN_TRY(check(stream));
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, bytes, "copy"));
  VDNN_TRY(checkRange(schedule::Arena::Host, hostOffset, bytes, "copy"));
  return keep(toStatus(
      cudaMemcpyAsync(device_ + deviceOffset, host_.data() + hostOffset, bytes,
                      cudaMemcpyHostToDevice, streams_[stream]),
      "copy to the device"));
}

Status CudaDevice::record(uint32_t stream, uint32_t event) {
  VDNN_TRY(check(stream));
  if (event >= events_.size()) {
    return Error{"event " + std::to_string(event) +
                 " does not exist, there are " +
                 std::to_string(events_.size())};
  }
  recorded_[event] = true;
  return keep(toStatus(cudaEventRecord(events_[event], streams_[stream]),
                       "cudaEventRecord"));
}

Status CudaDevice::wait(uint32_t stream, uint32_t event) {
  VDNN_TRY(check(stream));
  if (event >= events_.size()) {
    return Error{"event " + std::to_string(event) +
                 " does not exist, there are " +
                 std::to_string(events_.size())};
  }
  if (!recorded_[event]) {
    return Error{"event " + std::to_string(event) +
                 " is waited for before it is recorded"};
  }
  return keep(toStatus(cudaStreamWaitEvent(streams_[stream], events_[event], 0),
                       "cudaStreamWaitEvent"));
}

Status CudaDevice::mark(uint32_t stream, uint32_t number) {
  VDNN_TRY(check(stream));
  while (marks_.size() <= number) {
    marks_.emplace_back();
  }
  HostMark &mark = marks_[number];
  VDNN_TRY(keep(
      toStatus(cudaLaunchHostFunc(streams_[stream], HostMark::reach, &mark),
               "cudaLaunchHostFunc")));
  mark.queue(capturing_);
  return {};
}

/// CUDA calls no function of the host after an error, so that must end the wait
/// too.
Status CudaDevice::awaitMark(uint32_t number) {
  VDNN_TRY(error_);
  if (number >= marks_.size()) {
    return Error{"mark " + std::to_string(number) +
                 " is waited for before it is made"};
  }
  while (!marks_[number].waitFor(std::chrono::milliseconds(20))) {
    cudaError_t code = cudaStreamQuery(streams_[0]);
    if (code == cudaErrorNotReady) {
      cudaGetLastError(); // No error: the next call must not see it.
    } else if (code != cudaSuccess) {
      return synchronize();
    }
  }
  return {};
}

Status CudaDevice::synchronize() {
  Status status = toStatus(cudaDeviceSynchronize(), "the GPU's work");
  if (status && badLabel_->found) {
    status =
        Error{"command " + std::to_string(badLabel_->command) + ", kernel '" +
              prepared_.at(badLabel_->command).kind + "': label " +
              std::to_string(badLabel_->label) + " of sample " +
              std::to_string(badLabel_->sample) + " is no class"};
  }
  static_cast<void>(keep(std::move(status)));
  return error_;
}

//===----------------------------------------------------------------------===//
// One graph per step
//===----------------------------------------------------------------------===//

/// All streams begin after the first one and it ends after all of them, which
/// makes them branches of one graph.
Status CudaDevice::forkAndSubmit(const std::function<Status()> &submit) {
  VDNN_CUDA(cudaEventRecord(forks_[0], streams_[0]));
  for (size_t i = 1; i < streams_.size(); ++i) {
    VDNN_CUDA(cudaStreamWaitEvent(streams_[i], forks_[0], 0));
  }
  VDNN_TRY(submit());
  for (size_t i = 1; i < streams_.size(); ++i) {
    VDNN_CUDA(cudaEventRecord(forks_[i], streams_[i]));
    VDNN_CUDA(cudaStreamWaitEvent(streams_[0], forks_[i], 0));
  }
  return {};
}

Status CudaDevice::capture(const std::function<Status()> &submit) {
  VDNN_TRY(check(0));
  VDNN_CUDA(
      cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal));
  for (HostMark &mark : marks_) {
    mark.beginCapture();
  }
  capturing_ = true;
  Status status = forkAndSubmit(submit);
  capturing_ = false;
  cudaGraph_t graph = nullptr;
  Status ended = toStatus(cudaStreamEndCapture(streams_[0], &graph),
                          "cudaStreamEndCapture");
  if (status && ended) {
    ended = toStatus(cudaGraphInstantiate(&graph_, graph, 0),
                     "cudaGraphInstantiate");
  }
  if (graph) {
    cudaGraphDestroy(graph);
  }
  return keep(status ? ended : status);
}

Status CudaDevice::replay() {
  VDNN_TRY(check(0));
  if (!graph_) {
    return Error{"no step is captured"};
  }
  VDNN_TRY(
      keep(toStatus(cudaGraphLaunch(graph_, streams_[0]), "cudaGraphLaunch")));
  for (HostMark &mark : marks_) {
    mark.replay();
  }
  return {};
}

} // namespace vdnn::rt::cuda
