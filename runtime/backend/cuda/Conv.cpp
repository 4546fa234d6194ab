//===- Conv.cpp - convolution and its gradients by cuDNN ------------------===//
//
// Algorithms are cuDNN's engines with their knobs ("cudnn:e12,k2=3,k7=0"), and
// what our own kernels do beside them ("+pad", "+bias"). Engines that add by
// atomic operations are for kernels that are marked nondeterministic alone.
// With f32 tensors an engine on tensor cores multiplies in tf32: reduced
// precision. Bias and ReLU are computed by the code that computes the
// convolution (the bias is rounded to bf16 where the tensors are), if not by
// ours. The gradient of a bias is a sum of our own.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/ConvGraph.h"
#include "runtime/backend/cuda/Factories.h"

#include <map>
#include <mutex>
#include <set>

namespace vdnn::rt::cuda {

using cudnn::EngineChoice;
using cudnn::EngineConfig;
using schedule::ElementType;

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

static bool isReducedPrecision(const EngineConfig &config,
                               ElementType element) {
  return element == ElementType::F32 &&
         (config.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
          config.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
          config.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
}

/// What the plan must give cuDNN. With its workspace knob at 0 an engine takes
/// workspace by the number of blocks that the GPU holds at once, for which
/// cuDNN asks the GPU itself: up to 17 MiB more than it says without one, on an
/// H200.
static uint64_t boundWorkspace(const EngineConfig &config) {
  constexpr uint64_t kAllowance = uint64_t{32} << 20;
  auto knob = config.choice.knobs.find(CUDNN_KNOB_TYPE_WORKSPACE);
  bool asksDevice = knob != config.choice.knobs.end() && knob->second == 0;
  return config.workspaceBytes + (asksDevice ? kAllowance : 0);
}

static bool isTransform(const EngineConfig &config) {
  return config.has(CUDNN_NUMERICAL_NOTE_FFT) ||
         config.has(CUDNN_NUMERICAL_NOTE_WINOGRAD);
}

/// What cuDNN 9.19 computes wrong. With bf16, sums that are kept in bf16
/// between parts of them, as engine 47 does for gradients of filters and does
/// not say. Where the padding at the end differs from that at the beginning:
/// gradients of filters on engines 1 and 20, and gradients of inputs by FFT.
static bool isWrong(const EngineConfig &config, const ConvGraph &conv) {
  bool isFilter = conv.direction == "conv_backward_filter";
  int64_t engine = config.choice.engine;
  bool sumsInBf16 =
      conv.element == ElementType::BF16 &&
      ((isFilter && engine == 47) ||
       config.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
  bool wrongOnUnequalPads =
      conv.asymmetric &&
      ((isFilter && (engine == 1 || engine == 20)) || isTransform(config));
  return sumsInBf16 || wrongOnUnequalPads;
}

static bool isDeterministic(const EngineConfig &config) {
  return !config.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
}

/// All ways to compute the graph, in the order of the heuristics. cuDNN's
/// fallbacks are slow and large: they are asked for only where there is nothing
/// else (deterministic and in full precision), or for the engines with atomics,
/// most of which are among them. Last, in full precision, what the heuristics
/// do not tell: FFTs and Winograd's transforms, of forward convolutions above
/// all. The deterministic ways are the same whether the others are asked for.
static Result<std::vector<EngineConfig>> findConfigs(const ConvGraph &conv,
                                                     const Properties &device,
                                                     bool nondeterministic) {
  std::vector<EngineConfig> result;
  std::set<std::string> known;
  bool complete = false;
  auto add = [&](EngineConfig &config) {
    if ((nondeterministic || isDeterministic(config)) &&
        !isWrong(config, conv) &&
        known.insert(config.choice.toString()).second) {
      complete |=
          isDeterministic(config) && !isReducedPrecision(config, conv.element);
      result.push_back(std::move(config));
    }
  };
  auto heuristics = cudnn::findEngines(conv.graph, device, CUDNN_HEUR_MODE_A);
  VDNN_TRY(heuristics.status());
  for (EngineConfig &config : *heuristics) {
    add(config);
  }
  if (bool isEnough = complete; !isEnough || nondeterministic) {
    auto fallbacks =
        cudnn::findEngines(conv.graph, device, CUDNN_HEUR_MODE_FALLBACK);
    VDNN_TRY(fallbacks.status());
    for (EngineConfig &config : *fallbacks) {
      if (!isEnough || !isDeterministic(config)) {
        add(config);
      }
    }
  }
  if (conv.element == ElementType::F32) {
    auto engines = cudnn::listEngines(conv.graph, device);
    VDNN_TRY(engines.status());
    for (EngineConfig &config : *engines) {
      if (isTransform(config) && !isReducedPrecision(config, conv.element)) {
        add(config);
      }
    }
  }
  if (result.empty()) {
    return Error{std::string("cuDNN has no ") +
                 (nondeterministic ? "code for these shapes"
                                   : "deterministic code for these shapes; "
                                     "ask for all with "
                                     "--allow-nondeterministic")};
  }
  return result;
}

/// As above; the compiler asks often, and networks repeat their shapes.
static Result<std::vector<EngineConfig>> getConfigs(const ConvGraph &conv,
                                                    const Properties &device,
                                                    bool nondeterministic) {
  static std::mutex mutex;
  static std::map<std::string, Result<std::vector<EngineConfig>>> known;
  std::lock_guard lock(mutex);
  std::string key =
      device.json + (nondeterministic ? ";all;" : ";") + conv.graph.key();
  auto found = known.find(key);
  if (found == known.end()) {
    found = known
                .emplace(std::move(key),
                         findConfigs(conv, device, nondeterministic))
                .first;
  }
  return found->second;
}

/// The configuration that the text names, or the first in full precision.
static Result<EngineConfig> choose(const ConvGraph &conv,
                                   const Properties &device,
                                   const std::string &algorithm) {
  if (algorithm.empty()) {
    auto configs = getConfigs(conv, device, /*nondeterministic=*/false);
    VDNN_TRY(configs.status());
    for (const EngineConfig &config : *configs) {
      if (!isReducedPrecision(config, conv.element)) {
        return config;
      }
    }
    return Error{"cuDNN has no code in full precision for these shapes; name "
                 "an algorithm of reduced precision"};
  }
  Result<EngineChoice> choice = EngineChoice::parse(algorithm);
  VDNN_TRY(choice.status());
  auto config = cudnn::configureEngine(conv.graph, device, *choice);
  VDNN_TRY(config.status());
  if (isWrong(*config, conv)) {
    return Error{"algorithm '" + algorithm +
                 "' computes wrong results for these shapes in cuDNN 9.19; "
                 "measure and plan again"};
  }
  return config;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Offset of our own part of the workspace, behind cuDNN's.
static uint64_t getOwnOffset(uint64_t cudnnBytes) {
  return (cudnnBytes + 255) / 256 * 256;
}

static uint64_t getWorkspaceBytes(uint64_t ownBytes, uint64_t cudnnBytes) {
  return ownBytes > 0 ? getOwnOffset(cudnnBytes) + ownBytes : cudnnBytes;
}

Result<Kernel> createConv(const Request &request) {
  std::string algorithm = request.kernel.algorithm;
  ConvVariant variant = ConvVariant::take(algorithm);
  Result<ConvGraph> conv = ConvGraph::describe(request, variant);
  VDNN_TRY(conv.status());
  Result<EngineConfig> config = choose(*conv, request.device, algorithm);
  VDNN_TRY(config.status());
  if (!isDeterministic(*config) && !request.kernel.nondeterministic) {
    return refuseNondeterministic(request);
  }
  Kernel kernel;
  kernel.workspaceBytes =
      getWorkspaceBytes(conv->ownBytes, boundWorkspace(*config));

  auto plan = std::make_shared<std::shared_ptr<const cudnn::Plan>>();
  kernel.build =
      [plan, graph = std::move(conv->graph), choice = std::move(config->choice),
       ownBytes = conv->ownBytes](Context &context) -> Result<uint64_t> {
    auto shared = cudnn::sharePlan(context, graph, choice);
    VDNN_TRY(shared.status());
    *plan = std::move(*shared);
    return getWorkspaceBytes(ownBytes, (*plan)->workspaceBytes());
  };
  kernel.run = [plan, nodes = std::move(conv->nodes),
                before = std::move(conv->before),
                behind = std::move(conv->behind)](
                   Context &context, const Operands &operands) -> Status {
    std::byte *own = static_cast<std::byte *>(operands.workspace) +
                     getOwnOffset((*plan)->workspaceBytes());
    auto reads = operands.reads.first(nodes.size() - 1);
    std::vector<void *> pointers(reads.begin(), reads.end());
    pointers.push_back(operands.writes[0]);
    for (const ConvGraph::Step &step : before) {
      VDNN_CUDA(step(operands, own, pointers));
    }
    VDNN_TRY((*plan)->execute(context.cudnn, operands.stream, nodes, pointers,
                              operands.workspace));
    for (const ConvGraph::Step &step : behind) {
      VDNN_CUDA(step(operands, own, pointers));
    }
    return {};
  };
  return kernel;
}

/// Appends the algorithms for one of the ways to compute a kernel.
static Status addCandidates(const Request &request, ConvVariant variant,
                            std::vector<KernelCandidate> &candidates) {
  Result<ConvGraph> conv = ConvGraph::describe(request, variant);
  VDNN_TRY(conv.status());
  auto configs =
      getConfigs(*conv, request.device, request.kernel.nondeterministic);
  VDNN_TRY(configs.status());
  for (const EngineConfig &config : *configs) {
    candidates.push_back(
        {.algorithm = config.choice.toString() + variant.suffix(),
         .workspaceBytes =
             getWorkspaceBytes(conv->ownBytes, boundWorkspace(config)),
         .reducedPrecision = isReducedPrecision(config, conv->element),
         .nondeterministic = !isDeterministic(config),
         .ownCode = !variant.suffix().empty()});
  }
  return {};
}

Result<std::vector<KernelCandidate>> queryConv(const Request &request) {
  std::vector<KernelCandidate> candidates;
  Status first;
  for (ConvVariant variant : ConvGraph::variants(request)) {
    Status status = addCandidates(request, variant, candidates);
    first = first ? status : first;
  }
  // One way is enough.
  if (candidates.empty()) {
    return first.error();
  }
  return candidates;
}

} // namespace vdnn::rt::cuda
