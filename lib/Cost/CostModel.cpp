//===- CostModel.cpp - cost models of modelled devices and of the CPU -----===//

#include "vdnn/Cost/CostModel.h"

#include "Convolution.h"
#include "DeviceFile.h"
#include "Roofline.h"

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Target/Kernel.h"

#include "runtime/backend/cpu/Query.h"

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

static KernelChoice makeChoice(const DeviceFile &file, Operation *op) {
  double flops = cast<ComputeOp>(op).getFlops();
  return {"", 0,
          getTime(file, op, flops, getEfficiency(file, op), getTraffic(op))};
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

/// This machine: algorithms and workspaces as oneDNN tells them, times by
/// formula.
class CpuCosts : public CostModel {
public:
  CpuCosts(DeviceFile file, unsigned threads)
      : CostModel(file.device, file.link), file(std::move(file)),
        threads(threads) {}

  Result<std::vector<KernelChoice>> choices(Operation *op) override {
    if (isFree(op)) {
      return std::vector<KernelChoice>{{"", 0, 0}};
    }
    std::vector<schedule::TypeT> types;
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                  llvm::to_vector(op->getResultTypes()))) {
      types.push_back(toType(type));
    }
    std::vector<const schedule::TypeT *> views;
    for (const schedule::TypeT &type : types) {
      views.push_back(&type);
    }
    std::span<const schedule::TypeT *const> all(views);
    Result<std::vector<rt::cpu::Candidate>> candidates = rt::cpu::queryKernel(
        toKernel(op),
        {all.first(op->getNumOperands()), all.subspan(op->getNumOperands())},
        threads);
    if (!candidates) {
      return candidates.error();
    }
    std::vector<KernelChoice> result;
    for (const rt::cpu::Candidate &candidate : *candidates) {
      result.push_back(makeCandidate(op, candidate));
    }
    return result;
  }

private:
  KernelChoice makeCandidate(Operation *op,
                             const rt::cpu::Candidate &candidate) {
    KernelChoice choice = makeChoice(file, op);
    if (std::optional<Convolution> conv = readConvolution(op)) {
      const Efficiencies &algorithms = getAlgorithms(file, op);
      auto found = algorithms.find(candidate.algorithm);
      double efficiency =
          found != algorithms.end() ? found->second : file.otherEfficiency;
      choice.timeNs =
          getTime(file, op, cast<ComputeOp>(op).getFlops(), efficiency,
                  getTraffic(op) + 2.0 * double(candidate.workspaceBytes));
    }
    choice.algorithm = candidate.algorithm;
    choice.workspaceBytes = candidate.workspaceBytes;
    return choice;
  }

  DeviceFile file;
  unsigned threads;
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

std::unique_ptr<CostModel> vdnn::createCostModel(const std::string &device,
                                                 unsigned threads,
                                                 Error &error) {
  Result<DeviceFile> file = findDevice(device);
  if (!file) {
    error = file.error();
    return nullptr;
  }
  if (file->device.kind != "cpu") {
    return std::make_unique<ModelCosts>(std::move(*file));
  }
  // The file gives the rates of one thread and of the whole memory.
  threads = rt::cpu::resolveThreads(threads);
  for (auto &[element, flops] : file->flopsPerSecond) {
    flops *= threads;
  }
  file->device.fingerprint = rt::cpu::cpuFingerprint(threads);
  return std::make_unique<CpuCosts>(std::move(*file), threads);
}
