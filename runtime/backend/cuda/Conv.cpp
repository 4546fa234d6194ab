//===- Conv.cpp - convolution and its gradients by cuDNN ------------------===//
//
// Algorithms are cuDNN's engines with their knobs ("cudnn:e12,k2=3,k7=0"), all
// deterministic. With f32 tensors an engine on tensor cores multiplies in tf32:
// reduced precision. Bias and ReLU are computed by the code that computes the
// convolution (there the bias is rounded to bf16 where the tensors are), or,
// since not every engine can, by a kernel of ours behind it
// ("cudnn:e12,k2=3+bias"). The gradient of a bias is a sum of our own.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/ConvShape.h"
#include "runtime/backend/cuda/Cudnn.h"
#include "runtime/backend/cuda/Factories.h"
#include "runtime/backend/cuda/kernels/Bias.h"
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
using schedule::Layout;
using schedule::TypeT;

namespace {

/// Who computes bias and ReLU of a forward convolution.
enum class Epilogue { Cudnn, Own };

/// Marks `Epilogue::Own` in an algorithm's text.
constexpr std::string_view kOwnEpilogue = "+bias";

/// A convolution kernel as a graph.
struct ConvGraph {
  cudnn::Graph graph;
  /// The tensors of the command's first reads, then of its first result.
  std::vector<Node> nodes;
  ElementType element;
  std::string direction;   ///< the kind of the kernel
  bool asymmetric = false; ///< different padding at both ends
  /// Bytes of the workspace behind cuDNN's, for our own part of the work: the
  /// bias, rounded to bf16, or partial sums of its gradient.
  uint64_t ownBytes = 0;
  bool roundsBias = false;
  /// Our part behind cuDNN's, if any.
  std::function<cudaError_t(const Operands &, void *own)> after = {};
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

/// Elements of a channel of one image.
static int64_t countPixels(const TypeT &type) {
  return countElements(type.shape) / (type.shape[0] * type.shape[1]);
}

/// Gradient of bias `bias`: the sums over all but the channels of `dy`.
static void describeBiasSum(ConvGraph &conv, const TypeT &bias,
                            const TypeT &dy) {
  int64_t batch = dy.shape[0], channels = dy.shape[1], pixels = countPixels(dy);
  bool isBf16 = dy.element == ElementType::BF16;
  int bytes = isBf16 ? 2 : 4;
  ColumnSum plan = dy.layout == Layout::ChannelsLast
                       ? ColumnSum::plan(batch * pixels, channels, bytes)
                       : ColumnSum::planPlanes(batch, channels, pixels, bytes);
  conv.ownBytes = plan.workspaceBytes();
  auto *sum = !isBf16 ? sumBias<float, float>
              : bias.element == ElementType::BF16
                  ? sumBias<__nv_bfloat16, __nv_bfloat16>
                  : sumBias<__nv_bfloat16, float>;
  conv.after = [plan, sum](const Operands &operands, void *own) {
    return sum(plan, operands, own);
  };
}

/// Adds the bias, and computes the ReLU, in place of the convolution's result.
static void describeOwnEpilogue(ConvGraph &conv, const TypeT &y, bool relu) {
  BiasShape shape{y.shape[0], y.shape[1], countPixels(y),
                  y.layout == Layout::ChannelsLast};
  conv.after = [=](const Operands &operands, void *) {
    return launchAddBias(shape, operands.write<float>(0),
                         operands.read<float>(2), relu, operands.stream);
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

/// The forward graph; bias and ReLU are in it if cuDNN computes them.
static void describeForward(ConvGraph &conv,
                            const cudnn::Convolution &convolution, Node x,
                            Node w, Node y, const TypeT &yType,
                            const TypeT *biasType, bool relu) {
  cudnn::Graph &graph = conv.graph;
  std::vector<int64_t> shape = yType.shape, strides = memoryStrides(yType);
  auto between = [&] {
    return graph.virtualTensor(CUDNN_DATA_FLOAT, shape, strides);
  };
  conv.nodes = {x, w};
  if (!biasType && !relu) {
    graph.convolution(convolution, x, w, y);
  } else {
    Node sum = between();
    graph.convolution(convolution, x, w, sum);
    if (biasType) {
      int64_t channels = biasType->shape[0];
      std::vector<int64_t> biasShape(shape.size(), 1),
          biasStrides(shape.size(), channels);
      biasShape[1] = channels;
      biasStrides[1] = 1;
      // cuDNN adds a bias of the tensors' own type alone.
      Node bias = graph.tensor(toCudnn(conv.element), biasShape, biasStrides);
      if (biasType->element != conv.element) {
        conv.roundsBias = true;
        conv.ownBytes = channels * sizeof(__nv_bfloat16);
      }
      Node biased = relu ? between() : y;
      graph.pointwise(CUDNN_POINTWISE_ADD, sum, bias, biased);
      conv.nodes.push_back(bias);
      sum = biased;
    }
    if (relu) {
      graph.relu(sum, y);
    }
  }
  conv.nodes.push_back(y);
}

static Result<ConvGraph> describe(const Request &request, Epilogue epilogue) {
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
    bool relu = schedule::getInt(request.kernel, "relu") != 0;
    if (epilogue == Epilogue::Cudnn) {
      describeForward(result, convolution, x, w, y, yType, types->bias, relu);
      return result;
    }
    if (!types->bias || result.element != ElementType::F32) {
      return Error{"algorithm '..." + std::string(kOwnEpilogue) +
                   "' needs tensors of f32 and a bias"};
    }
    describeForward(result, convolution, x, w, y, yType, nullptr, false);
    describeOwnEpilogue(result, *types->y, relu);
    return result;
  }
  if (epilogue == Epilogue::Own) {
    return Error{"algorithm '..." + std::string(kOwnEpilogue) +
                 "' is one of forward convolutions"};
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

static bool isTransform(const EngineConfig &config) {
  return config.has(CUDNN_NUMERICAL_NOTE_FFT) ||
         config.has(CUDNN_NUMERICAL_NOTE_WINOGRAD);
}

/// What cuDNN 9.19 computes wrong. Where the padding at the end differs from
/// that at the beginning: gradients of filters on engine 1, and gradients of
/// inputs by FFT. With bf16, sums that are kept in bf16 between parts of them.
static bool isWrong(const EngineConfig &config, const ConvGraph &conv) {
  bool firstEngine =
      conv.direction == "conv_backward_filter" && config.choice.engine == 1;
  return (conv.asymmetric && (firstEngine || isTransform(config))) ||
         (conv.element == ElementType::BF16 &&
          config.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
}

static bool isDeterministic(const EngineConfig &config) {
  return !config.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
}

/// All deterministic ways to compute the graph, in the order of the heuristics.
/// cuDNN's fallbacks are slow and large: they are asked for only where there is
/// nothing else (in full precision). Last, in full precision, what the
/// heuristics do not tell: FFTs and Winograd's transforms, of forward
/// convolutions above all.
static Result<std::vector<EngineConfig>> findConfigs(const ConvGraph &conv,
                                                     const Properties &device) {
  std::vector<EngineConfig> result;
  std::set<std::string> known;
  bool complete = false;
  auto add = [&](EngineConfig &config) {
    if (isDeterministic(config) && !isWrong(config, conv) &&
        known.insert(config.choice.toString()).second) {
      complete |= !isReducedPrecision(config, conv.element);
      result.push_back(std::move(config));
    }
  };
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (complete) {
      break;
    }
    auto engines = cudnn::findEngines(conv.graph, device, mode);
    VDNN_TRY(engines.status());
    for (EngineConfig &config : *engines) {
      add(config);
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

/// The configuration that the text names, or the first in full precision.
static Result<EngineConfig> choose(const ConvGraph &conv,
                                   const Properties &device,
                                   const std::string &algorithm) {
  if (algorithm.empty()) {
    auto configs = getConfigs(conv, device);
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
  std::string algorithm = request.kernel.algorithm;
  Epilogue epilogue = Epilogue::Cudnn;
  if (algorithm.ends_with(kOwnEpilogue)) {
    epilogue = Epilogue::Own;
    algorithm.resize(algorithm.size() - kOwnEpilogue.size());
  }
  Result<ConvGraph> conv = describe(request, epilogue);
  VDNN_TRY(conv.status());
  Result<EngineConfig> config = choose(*conv, request.device, algorithm);
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
                roundsBias = conv->roundsBias, after = std::move(conv->after)](
                   Context &context, const Operands &operands) -> Status {
    void *own = static_cast<std::byte *>(operands.workspace) +
                getOwnOffset((*plan)->workspaceBytes());
    auto reads = operands.reads.first(nodes.size() - 1);
    std::vector<void *> pointers(reads.begin(), reads.end());
    pointers.push_back(operands.writes[0]);
    if (roundsBias) {
      VDNN_CUDA(launchRoundBias(
          operands.read<float>(2), static_cast<__nv_bfloat16 *>(own),
          static_cast<int64_t>(channels), operands.stream));
      pointers[2] = own;
    }
    VDNN_TRY((*plan)->execute(context.cudnn, operands.stream, nodes, pointers,
                              operands.workspace));
    if (after) {
      VDNN_CUDA(after(operands, own));
    }
    return {};
  };
  return kernel;
}

/// Appends the algorithms for one of the ways to compute the epilogue.
static Status addCandidates(const Request &request, Epilogue epilogue,
                            std::vector<KernelCandidate> &candidates) {
  Result<ConvGraph> conv = describe(request, epilogue);
  VDNN_TRY(conv.status());
  auto configs = getConfigs(*conv, request.device);
  VDNN_TRY(configs.status());
  for (const EngineConfig &config : *configs) {
    std::string algorithm = config.choice.toString();
    if (epilogue == Epilogue::Own) {
      algorithm += kOwnEpilogue;
    }
    candidates.push_back(
        {std::move(algorithm),
         getWorkspaceBytes(conv->ownBytes, boundWorkspace(config)),
         isReducedPrecision(config, conv->element)});
  }
  return {};
}

Result<std::vector<KernelCandidate>> queryConv(const Request &request) {
  std::vector<KernelCandidate> candidates;
  Status fused = addCandidates(request, Epilogue::Cudnn, candidates);
  // The better guess first: behind a convolution bias and ReLU cost a pass over
  // its result.
  bool mayDivide = request.kernel.kind == "conv" &&
                   request.types.reads.size() == 3 &&
                   request.types.reads[0]->element == ElementType::F32;
  if (mayDivide) {
    Status own = addCandidates(request, Epilogue::Own, candidates);
    if (!fused && own) {
      fused = {};
    }
  }
  VDNN_TRY(fused);
  return candidates;
}

} // namespace vdnn::rt::cuda
