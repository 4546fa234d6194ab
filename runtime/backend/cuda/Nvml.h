//===- Nvml.h - a GPU's memory, without a context on it -------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_NVML_H
#define VDNN_RUNTIME_BACKEND_CUDA_NVML_H

#include <cstdint>
#include <optional>

namespace vdnn::rt::cuda {

struct GpuMemory {
  uint64_t freeBytes = 0;
  uint64_t usedBytes = 0;
};

/// Of a device of the CUDA runtime, whoever uses it. Nothing where the driver's
/// library does not say.
std::optional<GpuMemory> gpuMemory(int device);

} // namespace vdnn::rt::cuda

#endif
