//===- Conv.cpp - convolution and its gradients by cuDNN ------------------===//
//
// Algorithms are cuDNN's engines with their knobs ("cudnn:e12,k2=3,k7=0"), all
// deterministic. With f32 tensors an engine on tensor cores multiplies in tf32:
// reduced precision. A bias is added by the same code that computes the
// convolution; its gradient is a sum of our own, beside cuDNN's.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/ConvShape.h"
#include "runtime/backend/cuda/Cudnn.h"
#include "runtime/backend/cuda/Factories.h"
#include "runtime/backend/cuda/kernels/ColumnSum.h"

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
  /// The gradient of the bias; null if there is none to compute.
  const TypeT *biasGradient = nullptr;
  ColumnSum biasSum;
};

} // namespace

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static cudnnDataType_t toCudnn(ElementType element) {
  return element == ElementType::BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

/// All three tensors f32 or bf16, the bias like them or f32.
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
      Node bias =
          graph.tensor(toCudnn(types->bias->element), biasShape, biasStrides);
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
    result.biasGradient = types->bias;
    int64_t channels = types->bias->shape[0];
    result.biasSum =
        ColumnSum::plan(countElements(yType.shape) / channels, channels,
                        result.element == ElementType::BF16 ? 2 : 4);
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
      if (isDeterministic(config) &&
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

/// Offset of the partial sums of the bias's gradient, behind cuDNN's part of
/// the workspace.
static uint64_t getSumOffset(uint64_t cudnnBytes) {
  return (cudnnBytes + 255) / 256 * 256;
}

static uint64_t getWorkspaceBytes(const ConvGraph &conv,
                                  const EngineConfig &config) {
  return conv.biasGradient ? getSumOffset(config.workspaceBytes) +
                                 conv.biasSum.workspaceBytes()
                           : config.workspaceBytes;
}

static Status runBiasSum(const ColumnSum &sum, ElementType element,
                         ElementType biasElement, uint64_t offset,
                         const Operands &operands) {
  auto *parts = reinterpret_cast<float *>(
      static_cast<std::byte *>(operands.workspace) + offset);
  cudaError_t code =
      element == ElementType::F32
          ? launchColumnSum(sum, operands.read<float>(1), parts,
                            operands.write<float>(1), operands.stream)
      : biasElement == ElementType::F32
          ? launchColumnSum(sum, operands.read<__nv_bfloat16>(1), parts,
                            operands.write<float>(1), operands.stream)
          : launchColumnSum(sum, operands.read<__nv_bfloat16>(1), parts,
                            operands.write<__nv_bfloat16>(1), operands.stream);
  return toStatus(code, "sum of the bias's gradient");
}

Result<Kernel> createConv(const Request &request) {
  Result<ConvGraph> conv = describe(request);
  VDNN_TRY(conv.status());
  Result<EngineConfig> config = choose(*conv, request);
  VDNN_TRY(config.status());
  Kernel kernel;
  kernel.workspaceBytes = getWorkspaceBytes(*conv, *config);

  auto plan = std::make_shared<std::shared_ptr<const cudnn::Plan>>();
  uint64_t cudnnBytes = config->workspaceBytes;
  kernel.build = [plan, graph = std::move(conv->graph),
                  choice = std::move(config->choice),
                  cudnnBytes](Context &context) -> Status {
    auto shared = cudnn::sharePlan(context, graph, choice);
    VDNN_TRY(shared.status());
    if ((*shared)->workspaceBytes() > cudnnBytes) {
      return Error{"algorithm '" + choice.toString() + "' needs " +
                   std::to_string((*shared)->workspaceBytes()) +
                   " bytes of workspace on this device, not " +
                   std::to_string(cudnnBytes) + " as said before"};
    }
    *plan = std::move(*shared);
    return {};
  };
  bool hasSum = conv->biasGradient != nullptr;
  ElementType biasElement =
      hasSum ? conv->biasGradient->element : ElementType::F32;
  kernel.run = [plan, nodes = std::move(conv->nodes), hasSum,
                sum = conv->biasSum, element = conv->element, biasElement,
                cudnnBytes](Context &context, const Operands &operands) {
    std::vector<void *> pointers(operands.reads.begin(), operands.reads.end());
    pointers.push_back(operands.writes[0]);
    Status status = (*plan)->execute(context.cudnn, operands.stream, nodes,
                                     pointers, operands.workspace);
    return status && hasSum ? runBiasSum(sum, element, biasElement,
                                         getSumOffset(cudnnBytes), operands)
                            : status;
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
    candidates.push_back({config.choice.toString(),
                          getWorkspaceBytes(*conv, config),
                          isReducedPrecision(config, conv->element)});
  }
  return candidates;
}

} // namespace vdnn::rt::cuda
