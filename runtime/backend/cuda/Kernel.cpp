//===- Kernel.cpp - from a request to a kernel ----------------------------===//

#include "runtime/backend/cuda/Kernel.h"

#include <nlohmann/json.hpp>

namespace vdnn::rt::cuda {

Result<Properties> Properties::parse(const std::string &json) {
  auto object =
      nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  auto has = [&](const char *key, bool text) {
    return object.is_object() && object.contains(key) &&
           (text ? object[key].is_string() : object[key].is_number_integer());
  };
  if (!has("deviceName", true) || !has("deviceVer", false) ||
      !has("multiProcessorCount", false)) {
    return Error{"the device's properties are not what cuDNN writes: expected "
                 "a JSON object with deviceName, deviceVer and "
                 "multiProcessorCount"};
  }
  Properties properties;
  properties.json = json;
  properties.name = object["deviceName"];
  properties.computeCapability = object["deviceVer"].get<int>() / 10;
  properties.multiprocessors = object["multiProcessorCount"];
  return properties;
}

std::string fingerprint(const Properties &device) {
  auto version = [](size_t number, size_t major, size_t minor) {
    return std::to_string(number / major) + "." +
           std::to_string(number % major / minor) + "." +
           std::to_string(number % minor);
  };
  return "cudnn " + version(cudnnGetVersion(), 10000, 100) + "; cublaslt " +
         version(cublasLtGetVersion(), 10000, 100) + "; sm_" +
         std::to_string(device.computeCapability) + "; " + device.name + ", " +
         std::to_string(device.multiprocessors) + " multiprocessors";
}

static Result<const TableEntry *> find(const std::string &kind) {
  for (const TableEntry &entry : kernelTable()) {
    if (kind == entry.kind) {
      return &entry;
    }
  }
  return Error{"unknown kernel '" + kind +
               "'; the cuda backend's kernels are listed in docs/kernels.md"};
}

Result<Kernel> createKernel(const Request &request) {
  Result<const TableEntry *> entry = find(request.kernel.kind);
  VDNN_TRY(entry.status());
  Result<Kernel> kernel = (*entry)->factory(request);
  if (!kernel) {
    return Error{"kernel '" + request.kernel.kind + "': " + kernel.message()};
  }
  return kernel;
}

Result<std::vector<KernelCandidate>> queryKernel(const Request &request) {
  Result<const TableEntry *> entry = find(request.kernel.kind);
  VDNN_TRY(entry.status());
  if ((*entry)->query) {
    Result<std::vector<KernelCandidate>> candidates = (*entry)->query(request);
    if (!candidates) {
      return Error{"kernel '" + request.kernel.kind +
                   "': " + candidates.message()};
    }
    return candidates;
  }
  Result<Kernel> kernel = createKernel(request);
  VDNN_TRY(kernel.status());
  return std::vector<KernelCandidate>{{.algorithm = "",
                                       .workspaceBytes = kernel->workspaceBytes,
                                       .ownCode = true}};
}

Error refuseNondeterministic(const Request &request) {
  return Error{"algorithm '" + request.kernel.algorithm +
               "' is nondeterministic, and the plan does not mark the kernel "
               "so; plan again, with --allow-nondeterministic if its results "
               "may differ in the last bits from run to run"};
}

} // namespace vdnn::rt::cuda
