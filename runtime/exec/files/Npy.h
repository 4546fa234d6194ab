//===- Npy.h - numpy's .npy files -----------------------------------------===//

#ifndef VDNN_RUNTIME_EXEC_FILES_NPY_H
#define VDNN_RUNTIME_EXEC_FILES_NPY_H

#include "runtime/exec/files/HostTensor.h"

namespace vdnn::rt {

/// Maps a `.npy` file of format 1 to 3, C order, little endian. The tensor's
/// name is the path.
Result<HostTensor> readNpy(const std::string &path);

/// Reads from memory; `owner` keeps `bytes` alive. `name` is for messages.
Result<HostTensor> parseNpy(std::span<const std::byte> bytes,
                            const std::string &name,
                            std::shared_ptr<const void> owner);

/// The header of a file of this type; the elements follow it. bf16, which numpy
/// does not have, is an error.
Result<std::string> npyHeader(schedule::ElementType element,
                              std::span<const int64_t> shape);

} // namespace vdnn::rt

#endif
