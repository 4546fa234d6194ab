//===- BackendCosts.cpp - costs of devices that have a backend ------------===//

#include "BackendCosts.h"

#include "Convolution.h"
#include "Roofline.h"

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Target/Kernel.h"

#include "runtime/backend/cpu/Query.h"
#include "runtime/backend/plugin/Plugin.h"

using namespace mlir;
using namespace vdnn;
using planning::KernelChoice;
using rt::Error;
using rt::Result;

namespace {

/// An op as backends see it: a kernel and the types of its operands.
class Launch {
public:
  explicit Launch(Operation *op)
      : kernel(toKernel(op)), operands(op->getNumOperands()) {
    for (Type type : op->getOperandTypes()) {
      types.push_back(toType(type));
    }
    for (Type type : op->getResultTypes()) {
      types.push_back(toType(type));
    }
    for (const schedule::TypeT &type : types) {
      pointers.push_back(&type);
    }
  }

  rt::LaunchTypes view() const {
    std::span<const schedule::TypeT *const> all(pointers);
    return {all.first(operands), all.subspan(operands)};
  }
  std::string signature() const {
    return schedule::signature(kernel, view().reads, view().writes);
  }

  schedule::KernelT kernel;

private:
  size_t operands;
  std::vector<schedule::TypeT> types;
  std::vector<const schedule::TypeT *> pointers;
};

class CpuCosts : public CostModel {
public:
  CpuCosts(DeviceFile file, unsigned threads)
      : CostModel(file.device, file.link), file(std::move(file)),
        threads(threads) {}

  Result<std::vector<KernelChoice>> choices(Operation *op) override {
    if (isFree(op)) {
      return std::vector<KernelChoice>{{"", 0, 0}};
    }
    Launch launch(op);
    Result<std::vector<rt::cpu::Candidate>> candidates =
        rt::cpu::queryKernel(launch.kernel, launch.view(), threads);
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

class CudaCosts : public CostModel {
public:
  CudaCosts(DeviceFile file, const DeviceChoice &choice,
            std::unique_ptr<rt::KernelQuery> query)
      : CostModel(file.device, file.link), file(std::move(file)),
        reducedPrecision(choice.precision != "fp32"),
        nondeterministic(choice.allowNondeterministic),
        query(std::move(query)) {}

  Result<std::vector<KernelChoice>> choices(Operation *op) override {
    if (isFree(op)) {
      return std::vector<KernelChoice>{{"", 0, 0}};
    }
    Launch launch(op);
    launch.kernel.nondeterministic = nondeterministic;
    std::vector<KernelChoice> result = findMeasured(launch.signature());
    if (!result.empty()) {
      return result;
    }
    Result<std::vector<rt::KernelCandidate>> candidates =
        query->candidates(launch.kernel, launch.view());
    if (!candidates) {
      return candidates.error();
    }
    for (const rt::KernelCandidate &candidate : *candidates) {
      if (reducedPrecision || !candidate.reducedPrecision) {
        result.push_back(makeCandidate(op, candidate, result.size()));
      }
    }
    if (result.empty()) {
      return Error{"no kernel computes it in full f32; plan with "
                   "--precision=tf32"};
    }
    return result;
  }

  bool lacksMeasurement(Operation *op) override {
    return !file.kernels.empty() && !isFree(op) &&
           findMeasured(Launch(op).signature()).empty();
  }

private:
  std::vector<KernelChoice> findMeasured(const std::string &signature) {
    std::vector<KernelChoice> result;
    auto found = file.kernels.find(signature);
    if (found != file.kernels.end()) {
      for (const MeasuredKernel &kernel : found->second) {
        if ((reducedPrecision || !kernel.reducedPrecision) &&
            (nondeterministic || !kernel.nondeterministic)) {
          result.push_back({kernel.algorithm, kernel.workspaceBytes,
                            kernel.timeNs, kernel.nondeterministic});
        }
      }
    }
    return result;
  }

  /// cuDNN ranks but gives no times: each rank is taken to be a little slower
  /// than the one before.
  KernelChoice makeCandidate(Operation *op,
                             const rt::KernelCandidate &candidate,
                             size_t rank) {
    constexpr double kStep = 0.03;
    bool isConv = readConvolution(op).has_value();
    double share = getEfficiency(file, op);
    if (isConv) {
      const Efficiencies &algorithms = getAlgorithms(file, op);
      auto found = algorithms.find("cudnn");
      share = found != algorithms.end() ? found->second : share;
    }
    auto tf32 = file.flopsPerSecond.find("tf32");
    if (candidate.reducedPrecision && isF32Product(op) &&
        tf32 != file.flopsPerSecond.end()) {
      share *= tf32->second / file.flopsPerSecond.at("f32");
    }
    KernelChoice choice;
    choice.algorithm = candidate.algorithm;
    choice.workspaceBytes = candidate.workspaceBytes;
    choice.nondeterministic = candidate.nondeterministic;
    choice.timeNs = getTime(file, op, cast<ComputeOp>(op).getFlops(),
                            share / (1 + kStep * double(rank)),
                            getTraffic(op) * (1 + kStep * double(rank)));
    return choice;
  }

  DeviceFile file;
  bool reducedPrecision, nondeterministic;
  std::unique_ptr<rt::KernelQuery> query;
};

} // namespace

std::unique_ptr<CostModel> vdnn::createCpuCosts(DeviceFile file,
                                                unsigned threads) {
  // The file gives the rates of one thread and of the whole memory.
  threads = rt::cpu::resolveThreads(threads);
  for (auto &[element, flops] : file.flopsPerSecond) {
    flops *= threads;
  }
  file.device.fingerprint = rt::cpu::cpuFingerprint(threads);
  return std::make_unique<CpuCosts>(std::move(file), threads);
}

Result<std::unique_ptr<CostModel>>
vdnn::createCudaCosts(DeviceFile file, const DeviceChoice &choice) {
  Result<const rt::Plugin *> plugin = rt::loadPlugin("cuda");
  if (!plugin) {
    return plugin.error();
  }
  Result<std::unique_ptr<rt::KernelQuery>> query =
      (*plugin)->createQuery(file.properties);
  if (!query) {
    return query.error();
  }
  std::string fingerprint = (*query)->fingerprint();
  if (!file.kernels.empty() && file.device.fingerprint != fingerprint) {
    return Error{"the profile was made with '" + file.device.fingerprint +
                 "', this machine has '" + fingerprint +
                 "'; make it again with vdnn-profile"};
  }
  file.device.fingerprint = fingerprint;
  file.device.poolsPlanes = true;
  // cuDNN's kernels in IEEE f32 work on planes: channels last they bring every
  // operand into that order, and the result back, in their workspace. Those on
  // tensor cores work channels last.
  file.device.prefersPlanes = choice.precision == "fp32";
  file.device.stagesInputs = true;
  // What an H200 takes for pinned memory fits entries of 8 bytes for pages of
  // 4 KiB.
  file.device.hostBytesPerTableByte = 512;
  return std::unique_ptr<CostModel>(
      std::make_unique<CudaCosts>(std::move(file), choice, std::move(*query)));
}
