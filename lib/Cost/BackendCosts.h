//===- BackendCosts.h - costs of devices that have a backend --------------===//

#ifndef VDNN_LIB_COST_BACKENDCOSTS_H
#define VDNN_LIB_COST_BACKENDCOSTS_H

#include "DeviceFile.h"

namespace vdnn {

/// This machine: algorithms and workspaces as oneDNN tells them, times by
/// formula.
std::unique_ptr<CostModel> createCpuCosts(DeviceFile file, unsigned threads);

/// A GPU: algorithms and workspaces as cuDNN tells them, without the GPU; times
/// as measured where `file` is a profile that holds the kernel, else by
/// formula. An error where the plugin or one of its libraries is missing.
rt::Result<std::unique_ptr<CostModel>>
createCudaCosts(DeviceFile file, const DeviceChoice &choice);

} // namespace vdnn

#endif
