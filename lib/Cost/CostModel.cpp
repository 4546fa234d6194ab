//===- CostModel.cpp - cost models of devices on paper --------------------===//

#include "vdnn/Cost/CostModel.h"

#include "BackendCosts.h"
#include "Convolution.h"
#include "DeviceFile.h"
#include "Roofline.h"

#include "vdnn/Dialect/VDNN.h"

using namespace mlir;
using namespace vdnn;
using planning::KernelChoice;
using rt::Error;
using rt::Result;

static KernelChoice makeConvolutionChoice(const DeviceFile &file, Operation *op,
                                          const std::string &algorithm,
                                          double efficiency,
                                          const AlgorithmCost &cost) {
  double bytes = getTraffic(op) + cost.workspaceTraffic;
  return {algorithm, cost.workspaceBytes,
          getTime(file, op, cost.flops, efficiency, bytes)};
}

namespace {

/// A device that exists only as a file: algorithms, workspaces and times by
/// formula.
class ModelCosts : public CostModel {
public:
  explicit ModelCosts(DeviceFile file)
      : CostModel(file.device, file.link), file(std::move(file)) {}

  Result<std::vector<KernelChoice>> choices(Operation *op) override {
    if (isFree(op)) {
      return std::vector<KernelChoice>{{"", 0, 0}};
    }
    std::optional<Convolution> conv = readConvolution(op);
    if (!conv) {
      return std::vector<KernelChoice>{makeChoice(file, op)};
    }
    std::vector<KernelChoice> result;
    for (const auto &[algorithm, efficiency] : getAlgorithms(file, op)) {
      if (std::optional<AlgorithmCost> cost =
              getAlgorithmCost(*conv, algorithm)) {
        result.push_back(
            makeConvolutionChoice(file, op, algorithm, efficiency, *cost));
      }
    }
    if (result.empty()) {
      return Error{(Twine("device '") + device().name +
                    "' has no algorithm for '" + op->getName().getStringRef() +
                    "' of these shapes; add 'implicit_gemm' to its file")
                       .str()};
    }
    return result;
  }

private:
  DeviceFile file;
};

} // namespace

static Result<DeviceFile> findDevice(const std::string &device) {
  if (const char *text = findBuiltinDevice(device)) {
    Result<DeviceFile> file = parseDeviceFile(text);
    if (file) {
      file->device.fingerprint = (Twine("model ") + device).str();
    }
    return file;
  }
  if (StringRef(device).ends_with(".json")) {
    return loadDeviceFile(device);
  }
  return Error{(Twine("unknown device '") + device + "', expected " +
                listBuiltinDevices() +
                " or the path of a device file that ends in '.json'")
                   .str()};
}

/// Whether the device computes in that precision.
static rt::Status checkPrecision(const DeviceFile &file,
                                 const std::string &precision) {
  if (precision != "fp32" && precision != "tf32" && precision != "bf16") {
    return Error{"unknown precision '" + precision +
                 "', expected 'fp32', 'tf32' or 'bf16'"};
  }
  if (precision == "bf16" && file.device.kind == "cpu") {
    return Error{"the cpu backend computes in f32 (oneDNN multiplies bf16 with "
                 "AVX-512 only); plan with --precision=fp32, or for "
                 "--device=cuda"};
  }
  if (precision == "bf16" && !file.flopsPerSecond.contains("bf16")) {
    return Error{"device '" + file.device.name +
                 "' has no rate for bf16; plan with --precision=fp32, or add "
                 "'flops_per_second.bf16' to its file"};
  }
  return {};
}

std::unique_ptr<CostModel> vdnn::createCostModel(const DeviceChoice &choice,
                                                 Error &error) {
  Result<DeviceFile> file = findDevice(choice.device);
  if (!file) {
    error = file.error();
    return nullptr;
  }
  if (rt::Status status = checkPrecision(*file, choice.precision); !status) {
    error = status.error();
    return nullptr;
  }
  if (file->device.kind == "cpu") {
    return createCpuCosts(std::move(*file), choice.threads);
  }
  if (file->device.kind == "cuda") {
    Result<std::unique_ptr<CostModel>> model =
        createCudaCosts(std::move(*file), choice);
    if (!model) {
      error = model.error();
      return nullptr;
    }
    return std::move(*model);
  }
  return std::make_unique<ModelCosts>(std::move(*file));
}
