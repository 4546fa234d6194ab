//===- Conv.cpp - convolution and its gradients by cuDNN ------------------===//
//
// Algorithms are cuDNN's engines with their knobs ("cudnn:e12,k2=3,k7=0"), all
// deterministic. With f32 tensors an engine on tensor cores multiplies in tf32:
// reduced precision. A bias is added by the same code that computes the
// convolution, rounded to bf16 where the tensors are; its gradient is a sum of
// our own, beside cuDNN's.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/ConvShape.h"
#include "runtime/backend/cuda/Cudnn.h"
#include "runtime/backend/cuda/Factories.h"
#include "runtime/backend/cuda/kernels/ColumnSum.h"
#include "runtime/backend/cuda/kernels/RoundBias.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace vdnn::rt::cuda {

using cudnn::EngineChoice;
using cudnn::EngineConfig;
using cudnn::Node;
using schedule::ElementType;
using schedule::TypeT;

namespace {

/// A convolution kernel as a graph.
struct ConvGraph {
  cudnn::Graph graph;
  /// The tensors of the command's reads, then of its first result.
  std::vector<Node> nodes;
  ElementType element;
  std::string direction;   ///< the kind of the kernel
  bool asymmetric = false; ///< different padding at both ends
  /// Bytes of the workspace behind cuDNN's, for our own part of the work:
  uint64_t ownBytes = 0;
  /// the bias, rounded to bf16 ...
  bool roundsBias = false;
  /// ... or partial sums of its gradient. Empty: no gradient of a bias.
  std::function<cudaError_t(const Operands &, void *own)> sumBias = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static cudnnDataType_t toCudnn(ElementType element) {
  return element == ElementType::BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

/// All three tensors f32 or bf16, the bias (or its gradient) like them or f32.
static Status expectElements(const ConvTypes &types) {
  ElementType element = types.x->element == ElementType::BF16
                            ? ElementType::BF16
                            : ElementType::F32;
  VDNN_TRY(expectElement(*types.x, element, "x"));
  VDNN_TRY(expectElement(*types.w, element, "w"));
  VDNN_TRY(expectElement(*types.y, element, "y"));
  if (types.bias && types.bias->element != element) {
    VDNN_TRY(expectElement(*types.bias, ElementType::F32, "bias"));
  }
  return {};
}

/// Queues the gradient of the bias.
template <typename T, typename Bias>
static cudaError_t sumBias(const ColumnSum &plan, const Operands &operands,
                           void *own) {
  return launchColumnSum(plan, operands.read<T>(1), static_cast<float *>(own),
                         operands.write<Bias>(1), operands.stream);
}

/// Gradient of bias `bias`: the sums over all but the channels of `dy`.
static void describeBiasSum(ConvGraph &conv, const TypeT &bias,
                            const TypeT &dy) {
  int64_t channels = bias.shape[0];
  bool isBf16 = dy.element == ElementType::BF16;
  ColumnSum plan = ColumnSum::plan(countElements(dy.shape) / channels, channels,
                                   isBf16 ? 2 : 4);
  conv.ownBytes = plan.workspaceBytes();
  auto *sum = !isBf16 ? sumBias<float, float>
              : bias.element == ElementType::BF16
                  ? sumBias<__nv_bfloat16, __nv_bfloat16>
                  : sumBias<__nv_bfloat16, float>;
  conv.sumBias = [plan, sum](const Operands &operands, void *own) {
    return sum(plan, operands, own);
  };
}

/// cuDNN knows no convolutions over one dimension: they are images of height 1.
static void addHeight(std::vector<int64_t> &list, int64_t value) {
  list.insert(list.begin(), value);
}

/// Type of an activation or filter with at least two spatial dimensions.
static TypeT toImage(TypeT type) {
  if (type.shape.size() == 3) {
    type.shape.insert(type.shape.begin() + 2, 1);
  }
  return type;
}

static Result<ConvGraph> describe(const Request &request) {
  const std::string &kind = request.kernel.kind;
  Result<ConvTypes> types = ConvTypes::of(kind, request.types);
  VDNN_TRY(types.status());
  VDNN_TRY(expectElements(*types));
  Result<ConvShape> shape = ConvShape::parse(request.kernel, *types->x,
                                             *types->w, *types->y, types->bias);
  VDNN_TRY(shape.status());
  cudnn::Convolution convolution{shape->strides, shape->dilations,
                                 shape->padsBegin, shape->padsEnd};
  if (convolution.strides.size() == 1) {
    addHeight(convolution.strides, 1);
    addHeight(convolution.dilations, 1);
    addHeight(convolution.padsBegin, 0);
    addHeight(convolution.padsEnd, 0);
  }

  ConvGraph result;
  result.element = types->x->element;
  result.direction = kind;
  result.asymmetric = shape->padsBegin != shape->padsEnd;
  cudnn::Graph &graph = result.graph;
  cudnnDataType_t element = toCudnn(result.element);
  TypeT yType = toImage(*types->y);
  auto tensor = [&](const TypeT &type) {
    TypeT image = toImage(type);
    return graph.tensor(element, image.shape, memoryStrides(image));
  };
  Node x = tensor(*types->x), w = tensor(*types->w), y = tensor(*types->y);
  if (kind == "conv") {
    result.nodes = {x, w};
    if (types->bias) {
      int64_t channels = types->bias->shape[0];
      std::vector<int64_t> biasShape(yType.shape.size(), 1),
          biasStrides(yType.shape.size(), channels);
      biasShape[1] = channels;
      biasStrides[1] = 1;
      // cuDNN adds a bias of the tensors' own type alone.
      Node bias = graph.tensor(element, biasShape, biasStrides);
      if (types->bias->element != result.element) {
        result.roundsBias = true;
        result.ownBytes = channels * sizeof(__nv_bfloat16);
      }
      Node sum = graph.virtualTensor(CUDNN_DATA_FLOAT, yType.shape,
                                     memoryStrides(yType));
      graph.convolution(convolution, x, w, sum);
      graph.pointwise(CUDNN_POINTWISE_ADD, sum, bias, y);
      result.nodes.push_back(bias);
    } else {
      graph.convolution(convolution, x, w, y);
    }
    result.nodes.push_back(y);
    return result;
  }
  if (kind == "conv_backward_data") {
    graph.convolutionBackwardData(convolution, y, w, x);
    result.nodes = {y, w, x};
    return result;
  }
  graph.convolutionBackwardFilter(convolution, x, y, w);
  result.nodes = {x, y, w};
  if (types->bias) {
    describeBiasSum(result, *types->bias, *types->y);
  }
  return result;
}

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

/// cuDNN 9.19 computes wrong gradients of filters on this engine where the
/// padding at the end differs from that at the beginning.
static bool isWrong(const EngineConfig &config, const ConvGraph &conv) {
  return conv.asymmetric && conv.direction == "conv_backward_filter" &&
         config.choice.engine == 1;
}

static bool isDeterministic(const EngineConfig &config) {
  return !config.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
}

/// All deterministic ways to compute the graph, in the order of the heuristics.
/// cuDNN's fallbacks are slow and large: they are asked for only where there is
/// nothing else (in full precision).
static Result<std::vector<EngineConfig>> findConfigs(const ConvGraph &conv,
                                                     const Properties &device) {
  std::vector<EngineConfig> result;
  std::set<std::string> known;
  bool complete = false;
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (complete) {
      break;
    }
    auto engines = cudnn::findEngines(conv.graph, device, mode);
    VDNN_TRY(engines.status());
    for (EngineConfig &config : *engines) {
      if (isDeterministic(config) && !isWrong(config, conv) &&
          known.insert(config.choice.toString()).second) {
        complete |= !isReducedPrecision(config, conv.element);
        result.push_back(std::move(config));
      }
    }
  }
  if (result.empty()) {
    return Error{"cuDNN has no deterministic code for these shapes"};
  }
  return result;
}

/// As above; the compiler asks often, and networks repeat their shapes.
static Result<std::vector<EngineConfig>> getConfigs(const ConvGraph &conv,
                                                    const Properties &device) {
  static std::mutex mutex;
  static std::map<std::string, Result<std::vector<EngineConfig>>> known;
  std::lock_guard lock(mutex);
  std::string key = device.json + ";" + conv.graph.key();
  auto found = known.find(key);
  if (found == known.end()) {
    found = known.emplace(std::move(key), findConfigs(conv, device)).first;
  }
  return found->second;
}

/// The configuration that the algorithm names.
static Result<EngineConfig> choose(const ConvGraph &conv,
                                   const Request &request) {
  const std::string &algorithm = request.kernel.algorithm;
  if (algorithm.empty()) {
    auto configs = getConfigs(conv, request.device);
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
  auto config = cudnn::configureEngine(conv.graph, request.device, *choice);
  VDNN_TRY(config.status());
  if (!isDeterministic(*config)) {
    return Error{"algorithm '" + algorithm + "' is not deterministic"};
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
  Result<ConvGraph> conv = describe(request);
  VDNN_TRY(conv.status());
  Result<EngineConfig> config = choose(*conv, request);
  VDNN_TRY(config.status());
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
                channels = conv->ownBytes / sizeof(__nv_bfloat16),
                roundsBias = conv->roundsBias,
                sumBias = std::move(conv->sumBias)](
                   Context &context, const Operands &operands) -> Status {
    void *own = static_cast<std::byte *>(operands.workspace) +
                getOwnOffset((*plan)->workspaceBytes());
    std::vector<void *> pointers(operands.reads.begin(), operands.reads.end());
    pointers.push_back(operands.writes[0]);
    if (roundsBias) {
      VDNN_CUDA(launchRoundBias(
          operands.read<float>(2), static_cast<__nv_bfloat16 *>(own),
          static_cast<int64_t>(channels), operands.stream));
      pointers[2] = own;
    }
    VDNN_TRY((*plan)->execute(context.cudnn, operands.stream, nodes, pointers,
                              operands.workspace));
    if (sumBias) {
      VDNN_CUDA(sumBias(operands, own));
    }
    return {};
  };
  return kernel;
}

Result<std::vector<KernelCandidate>> queryConv(const Request &request) {
  Result<ConvGraph> conv = describe(request);
  VDNN_TRY(conv.status());
  auto configs = getConfigs(*conv, request.device);
  VDNN_TRY(configs.status());
  std::vector<KernelCandidate> candidates;
  for (const EngineConfig &config : *configs) {
    candidates.push_back(
        {config.choice.toString(),
         getWorkspaceBytes(conv->ownBytes, boundWorkspace(config)),
         isReducedPrecision(config, conv->element)});
  }
  return candidates;
}

} // namespace vdnn::rt::cuda
