//===- DeviceFile.h - a device as its JSON file describes it --------------===//

#ifndef VDNN_LIB_COST_DEVICEFILE_H
#define VDNN_LIB_COST_DEVICEFILE_H

#include "vdnn/Cost/CostModel.h"

#include <map>
#include <string>

namespace vdnn {

/// Share of the peak rate that each algorithm reaches; the algorithms that are
/// not listed do not exist on the device.
using Efficiencies = std::map<std::string, double>;

/// One way to run a kernel, as `vdnn-profile` measured it.
struct MeasuredKernel {
  std::string algorithm;
  uint64_t workspaceBytes = 0;
  bool reducedPrecision = false;
  bool nondeterministic = false;
  int64_t timeNs = 0;
};

/// Everything that a device file says; docs/cost-model.md documents its keys.
struct DeviceFile {
  DeviceDescription device;
  planning::Link link;
  /// Peak operations per second by element type ("f32", "bf16", ...).
  std::map<std::string, double> flopsPerSecond;
  double bytesPerSecond = 0;
  int64_t launchNs = 0;
  double matmulEfficiency = 1;
  double memoryEfficiency = 1;
  double otherEfficiency = 1;
  Efficiencies convForward;
  Efficiencies convBackwardData;
  Efficiencies convBackwardFilter;
  /// Of kind cuda: what cuDNN says of the device, as JSON.
  std::string properties;
  /// Of a profile: by `schedule::signature`.
  std::map<std::string, std::vector<MeasuredKernel>> kernels;
};

/// Reads the text of a device file. Never crashes: what is missing, unknown, of
/// the wrong type or out of range is an error that names the key.
rt::Result<DeviceFile> parseDeviceFile(const std::string &text);

/// Reads a file that the user names; at most 64 MiB.
rt::Result<DeviceFile> loadDeviceFile(const std::string &path);

/// The text of a built-in device's file, or null.
const char *findBuiltinDevice(const std::string &name);

/// "cpu, cuda, h200, titanx".
std::string listBuiltinDevices();

} // namespace vdnn

#endif
