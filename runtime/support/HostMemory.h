//===- HostMemory.h - how much memory this process may still take ---------===//

#ifndef VDNN_RUNTIME_SUPPORT_HOSTMEMORY_H
#define VDNN_RUNTIME_SUPPORT_HOSTMEMORY_H

#include <cstdint>
#include <optional>
#include <string>

namespace vdnn::rt {

/// What Linux can give without swapping, within the limits of the control
/// groups (versions 1 and 2) that this process is in; nothing where it does not
/// say. `root`: where /proc and /sys are.
std::optional<uint64_t> availableHostBytes(const std::string &root = "");

} // namespace vdnn::rt

#endif
