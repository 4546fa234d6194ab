//===- CudaDeviceAccess.cpp - what a plan does not ask of a GPU -----------===//
//
// Values from outside, debugging, tracing and measuring.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/CudaDevice.h"
#include "runtime/backend/cuda/Cupti.h"
#include "runtime/backend/cuda/kernels/Delay.h"

#include <cstring>

namespace vdnn::rt::cuda {

Status CudaDevice::upload(uint64_t deviceOffset,
                          std::span<const std::byte> source) {
  VDNN_TRY(error_);
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, source.size(),
                      "upload"));
  // From pageable memory a copy returns once its bytes lie in the driver's own
  // buffer: our streams would not wait for them.
  VDNN_TRY(keep(toStatus(cudaMemcpy(device_ + deviceOffset, source.data(),
                                    source.size(), cudaMemcpyHostToDevice),
                         "upload")));
  return keep(toStatus(cudaStreamSynchronize(cudaStreamLegacy), "upload"));
}

Status CudaDevice::download(uint64_t deviceOffset,
                            std::span<std::byte> destination) {
  VDNN_TRY(error_);
  VDNN_TRY(checkRange(schedule::Arena::Device, deviceOffset, destination.size(),
                      "download"));
  return keep(toStatus(cudaMemcpy(destination.data(), device_ + deviceOffset,
                                  destination.size(), cudaMemcpyDeviceToHost),
                       "download"));
}

Status CudaDevice::tap(uint32_t stream, schedule::Arena arena, uint64_t offset,
                       std::span<std::byte> destination) {
  VDNN_TRY(check(stream));
  VDNN_TRY(checkRange(arena, offset, destination.size(), "tap"));
  return keep(toStatus(
      cudaMemcpyAsync(destination.data(), address(arena, offset),
                      destination.size(), cudaMemcpyDefault, streams_[stream]),
      "tap"));
}

Status CudaDevice::fill(uint32_t stream, schedule::Arena arena, uint64_t offset,
                        uint64_t bytes, std::byte value) {
  VDNN_TRY(check(stream));
  VDNN_TRY(checkRange(arena, offset, bytes, "fill"));
  std::byte *destination = address(arena, offset);
  int byte = std::to_integer<int>(value);
  if (arena == schedule::Arena::Device) {
    return keep(toStatus(
        cudaMemsetAsync(destination, byte, bytes, streams_[stream]), "fill"));
  }
  return callback(stream, [=] { std::memset(destination, byte, bytes); });
}

Status CudaDevice::delay(uint32_t stream, uint64_t nanoseconds) {
  VDNN_TRY(check(stream));
  return keep(toStatus(launchDelay(nanoseconds, streams_[stream]), "delay"));
}

Status CudaDevice::callback(uint32_t stream, std::function<void()> mark) {
  VDNN_TRY(check(stream));
  auto call = [](void *argument) {
    std::unique_ptr<std::function<void()>> owned(
        static_cast<std::function<void()> *>(argument));
    (*owned)();
  };
  auto owned = std::make_unique<std::function<void()>>(std::move(mark));
  Status status = toStatus(
      cudaLaunchHostFunc(streams_[stream], call, owned.get()), "callback");
  if (status) {
    static_cast<void>(owned.release()); // The call deletes it.
  }
  return keep(status);
}

Result<std::unique_ptr<ActivityTracer>> CudaDevice::traceActivities() {
  VDNN_TRY(synchronize());
  return createCuptiTracer();
}

/// Between two events on the stream.
Result<int64_t> CudaDevice::measure(uint32_t stream,
                                    const std::function<Status()> &submit) {
  VDNN_TRY(check(stream));
  VDNN_TRY(synchronize());
  cudaEvent_t begin = nullptr, end = nullptr;
  float milliseconds = 0;
  auto body = [&]() -> Status {
    VDNN_CUDA(cudaEventCreate(&begin));
    VDNN_CUDA(cudaEventCreate(&end));
    VDNN_CUDA(cudaEventRecord(begin, streams_[stream]));
    VDNN_TRY(submit());
    VDNN_CUDA(cudaEventRecord(end, streams_[stream]));
    VDNN_TRY(synchronize());
    VDNN_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    return {};
  };
  Status status = body();
  for (cudaEvent_t event : {begin, end}) {
    if (event) {
      cudaEventDestroy(event);
    }
  }
  VDNN_TRY(status);
  return static_cast<int64_t>(double(milliseconds) * 1e6);
}

DeviceMemory CudaDevice::memory() const {
  size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) {
    return {};
  }
  return {total, total - free, ownBytes_};
}

} // namespace vdnn::rt::cuda
