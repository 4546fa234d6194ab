//===- Plugin.cpp - what the library shows --------------------------------===//

#include "runtime/backend/plugin/Plugin.h"

#include "runtime/backend/cuda/CudaDevice.h"
#include "runtime/support/Format.h"
#include "runtime/support/Philox.h"

#include <dlfcn.h>
#include <fstream>
#include <iterator>

namespace vdnn::rt::cuda {

/// A hash of the library that this code is in.
static std::string hashOwnLibrary() {
  Dl_info info;
  static const char here = 0;
  if (dladdr(&here, &info) == 0) {
    return "";
  }
  std::ifstream file(info.dli_fname, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  return format("%016llx", static_cast<unsigned long long>(hashName(bytes)));
}

namespace {

class CudaQuery final : public KernelQuery {
public:
  explicit CudaQuery(Properties properties)
      : properties(std::move(properties)) {}

  Result<std::vector<KernelCandidate>>
  candidates(const schedule::KernelT &kernel,
             const LaunchTypes &types) override {
    return queryKernel({kernel, types, properties});
  }

  std::string fingerprint() const override {
    return cuda::fingerprint(properties);
  }

private:
  Properties properties;
};

class CudaPlugin final : public Plugin {
public:
  Result<std::unique_ptr<Device>> createDevice() const override {
    return CudaDevice::create();
  }

  Result<std::unique_ptr<KernelQuery>>
  createQuery(const std::string &properties) const override {
    Result<Properties> parsed = Properties::parse(properties);
    VDNN_TRY(parsed.status());
    return std::unique_ptr<KernelQuery>(
        std::make_unique<CudaQuery>(std::move(*parsed)));
  }

  Result<std::string> deviceProperties() const override {
    return readDeviceProperties();
  }

  std::string build() const override { return hashOwnLibrary(); }
};

} // namespace

} // namespace vdnn::rt::cuda

extern "C" __attribute__((visibility("default"))) const vdnn::rt::Plugin *
vdnnPlugin() {
  static const vdnn::rt::cuda::CudaPlugin plugin;
  return &plugin;
}
