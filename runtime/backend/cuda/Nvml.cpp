//===- Nvml.cpp -----------------------------------------------------------===//
//
// The library comes with the driver, its header with some toolkits only: what
// is used of it is declared here.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/Nvml.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <type_traits>

namespace vdnn::rt::cuda {

namespace {

struct NvmlMemory {
  unsigned long long total, free, used;
};

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handleByBusId)(const char *, void **) = nullptr;
  int (*memoryInfo)(void *, NvmlMemory *) = nullptr;

  Nvml() {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      return;
    }
    auto find = [&](auto &function, const char *symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          dlsym(library, symbol));
    };
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(handleByBusId, "nvmlDeviceGetHandleByPciBusId_v2");
    find(memoryInfo, "nvmlDeviceGetMemoryInfo");
  }

  bool complete() const {
    return init && shutdown && handleByBusId && memoryInfo;
  }
};

} // namespace

std::optional<GpuMemory> gpuMemory(int device) {
  static const Nvml nvml;
  char busId[32];
  if (!nvml.complete() ||
      cudaDeviceGetPCIBusId(busId, sizeof(busId), device) != cudaSuccess ||
      nvml.init() != 0) {
    return std::nullopt;
  }
  void *handle = nullptr;
  NvmlMemory memory{};
  bool known = nvml.handleByBusId(busId, &handle) == 0 &&
               nvml.memoryInfo(handle, &memory) == 0;
  nvml.shutdown();
  if (!known) {
    return std::nullopt;
  }
  return GpuMemory{memory.free, memory.used};
}

} // namespace vdnn::rt::cuda
