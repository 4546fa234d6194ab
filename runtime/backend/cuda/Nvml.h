//===- Nvml.h - a GPU's memory, without a context on it -------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_NVML_H
#define VDNN_RUNTIME_BACKEND_CUDA_NVML_H

#include <cstdint>
#include <optional>

namespace vdnn::rt::cuda {

/// What is used of the memory of a device of the CUDA runtime, whoever uses it.
/// Nothing where the driver's library does not say.
std::optional<uint64_t> usedBytes(int device);

} // namespace vdnn::rt::cuda

#endif
