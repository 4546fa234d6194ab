//===- ConvGraph.cpp ------------------------------------------------------===//

#include "runtime/backend/cuda/ConvGraph.h"

#include "runtime/backend/common/ConvShape.h"
#include "runtime/backend/cuda/kernels/Bias.h"
#include "runtime/backend/cuda/kernels/ColumnSum.h"
#include "runtime/backend/cuda/kernels/Pad.h"
#include "runtime/backend/cuda/kernels/RoundBias.h"

namespace vdnn::rt::cuda {

using cudnn::Node;
using schedule::ElementType;
using schedule::Layout;
using schedule::TypeT;

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
                           std::byte *own) {
  return launchColumnSum(plan, operands.read<T>(1),
                         reinterpret_cast<float *>(own),
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
  uint64_t parts = conv.reserve(plan.workspaceBytes());
  auto *sum = !isBf16 ? sumBias<float, float>
              : bias.element == ElementType::BF16
                  ? sumBias<__nv_bfloat16, __nv_bfloat16>
                  : sumBias<__nv_bfloat16, float>;
  conv.behind.emplace_back(
      [=](const Operands &operands, std::byte *own, std::vector<void *> &) {
        return sum(plan, operands, own + parts);
      });
}

/// Adds the bias, and computes the ReLU, in place of the convolution's result.
static void describeOwnEpilogue(ConvGraph &conv, const TypeT &y, bool relu) {
  BiasShape shape{y.shape[0], y.shape[1], countPixels(y),
                  y.layout == Layout::ChannelsLast};
  conv.behind.emplace_back(
      [=](const Operands &operands, std::byte *, std::vector<void *> &) {
        return launchAddBias(shape, operands.write<float>(0),
                             operands.read<float>(2), relu, operands.stream);
      });
}

/// cuDNN adds a bias of the tensors' own type alone.
static void roundBias(ConvGraph &conv, int64_t channels) {
  uint64_t rounded = conv.reserve(channels * sizeof(__nv_bfloat16));
  conv.before.emplace_back([=](const Operands &operands, std::byte *own,
                               std::vector<void *> &pointers) {
    pointers[2] = own + rounded;
    return launchRoundBias(operands.read<float>(2),
                           reinterpret_cast<__nv_bfloat16 *>(own + rounded),
                           channels, operands.stream);
  });
}

/// Bytes to which channels are filled up.
static constexpr int64_t kPaddedBytes = 16;

static int64_t elementBytes(const TypeT &type) {
  return type.element == ElementType::BF16 ? 2 : 4;
}

/// Channels-last rows: pixels of an image, taps of a filter.
static PadShape padShape(const TypeT &type) {
  return {countElements(type.shape) / type.shape[1],
          static_cast<int>(type.shape[1] * elementBytes(type)),
          static_cast<int>(kPaddedBytes)};
}

static TypeT withPaddedChannels(TypeT type) {
  type.shape[1] = kPaddedBytes / elementBytes(type);
  return type;
}

/// Operand `index` comes to cuDNN with its channels filled up.
static void padOperand(ConvGraph &conv, const TypeT &type, size_t index) {
  PadShape shape = padShape(type);
  uint64_t padded = conv.reserve(shape.paddedBytes());
  conv.before.emplace_back([=](const Operands &operands, std::byte *own,
                               std::vector<void *> &pointers) {
    pointers[index] = own + padded;
    return launchPad(shape, operands.reads[index], own + padded,
                     operands.stream);
  });
}

/// cuDNN's result has more channels than the filter's gradient.
static void cutResult(ConvGraph &conv, const TypeT &type) {
  PadShape shape = padShape(type);
  uint64_t padded = conv.reserve(shape.paddedBytes());
  conv.before.emplace_back(
      [=](const Operands &, std::byte *own, std::vector<void *> &pointers) {
        pointers.back() = own + padded;
        return cudaSuccess;
      });
  conv.behind.emplace_back([=](const Operands &operands, std::byte *own,
                               std::vector<void *> &) {
    return launchCut(shape, own + padded, operands.writes[0], operands.stream);
  });
}

/// Whether channels are few and cuDNN's result does not have them.
static bool mayPad(const std::string &kind, const ConvTypes &types) {
  const TypeT &x = *types.x;
  return kind != "conv_backward_data" && x.layout == Layout::ChannelsLast &&
         x.shape.size() > 2 && x.shape[1] * elementBytes(x) < kPaddedBytes &&
         x.shape[1] == types.w->shape[1];
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
      Node bias = graph.tensor(toCudnn(conv.element), biasShape, biasStrides);
      if (biasType->element != conv.element) {
        roundBias(conv, channels);
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

static cudnn::Convolution toConvolution(const ConvShape &shape) {
  cudnn::Convolution convolution{shape.strides, shape.dilations,
                                 shape.padsBegin, shape.padsEnd};
  if (convolution.strides.size() == 1) {
    addHeight(convolution.strides, 1);
    addHeight(convolution.dilations, 1);
    addHeight(convolution.padsBegin, 0);
    addHeight(convolution.padsEnd, 0);
  }
  return convolution;
}

Result<ConvGraph> ConvGraph::describe(const Request &request,
                                      ConvVariant variant) {
  const std::string &kind = request.kernel.kind;
  Result<ConvTypes> types = ConvTypes::of(kind, request.types);
  VDNN_TRY(types.status());
  VDNN_TRY(expectElements(*types));
  Result<ConvShape> shape = ConvShape::parse(request.kernel, *types->x,
                                             *types->w, *types->y, types->bias);
  VDNN_TRY(shape.status());
  if (variant.padsChannels && !mayPad(kind, *types)) {
    return Error{"algorithm '..." + std::string(ConvVariant::kPad) +
                 "' needs an image and a filter of few channels"};
  }
  bool mayAddBias =
      kind == "conv" && types->bias && types->x->element == ElementType::F32;
  if (variant.addsBias && !mayAddBias) {
    return Error{"algorithm '..." + std::string(ConvVariant::kBias) +
                 "' is one of forward convolutions of f32 with a bias"};
  }

  ConvGraph result;
  result.element = types->x->element;
  result.direction = kind;
  result.asymmetric = shape->padsBegin != shape->padsEnd;
  cudnn::Graph &graph = result.graph;
  cudnnDataType_t element = toCudnn(result.element);
  cudnn::Convolution convolution = toConvolution(*shape);
  TypeT xType = *types->x, wType = *types->w, yType = toImage(*types->y);
  if (variant.padsChannels) {
    xType = withPaddedChannels(xType);
    wType = withPaddedChannels(wType);
  }
  auto tensor = [&](const TypeT &type) {
    TypeT image = toImage(type);
    return graph.tensor(element, image.shape, memoryStrides(image));
  };
  Node x = tensor(xType), w = tensor(wType), y = tensor(yType);
  if (kind == "conv_backward_data") {
    graph.convolutionBackwardData(convolution, y, w, x);
    result.nodes = {y, w, x};
    return result;
  }
  if (variant.padsChannels) {
    padOperand(result, *types->x, 0);
  }
  if (kind == "conv") {
    if (variant.padsChannels) {
      padOperand(result, *types->w, 1);
    }
    bool relu = schedule::getInt(request.kernel, "relu") != 0;
    describeForward(result, convolution, x, w, y, yType,
                    variant.addsBias ? nullptr : types->bias,
                    relu && !variant.addsBias);
    if (variant.addsBias) {
      describeOwnEpilogue(result, *types->y, relu);
    }
    return result;
  }
  graph.convolutionBackwardFilter(convolution, x, y, w);
  result.nodes = {x, y, w};
  if (variant.padsChannels) {
    cutResult(result, *types->w);
  }
  if (types->bias) {
    describeBiasSum(result, *types->bias, *types->y);
  }
  return result;
}

std::vector<ConvVariant> ConvGraph::variants(const Request &request) {
  std::vector<ConvVariant> result = {{}};
  Result<ConvTypes> types = ConvTypes::of(request.kernel.kind, request.types);
  if (!types) {
    return result; // `describe` says why.
  }
  if (mayPad(request.kernel.kind, *types)) {
    result.push_back({.padsChannels = true});
  }
  if (request.kernel.kind == "conv" && types->bias &&
      types->x->element == ElementType::F32) {
    for (size_t i = 0, count = result.size(); i < count; ++i) {
      result.push_back({result[i].padsChannels, /*addsBias=*/true});
    }
  }
  return result;
}

uint64_t ConvGraph::reserve(uint64_t bytes) {
  uint64_t offset = (ownBytes + 255) / 256 * 256;
  ownBytes = offset + bytes;
  return offset;
}

ConvVariant ConvVariant::take(std::string &algorithm) {
  auto takeEnd = [&](std::string_view end) {
    bool found = algorithm.ends_with(end);
    algorithm.resize(algorithm.size() - (found ? end.size() : 0));
    return found;
  };
  ConvVariant variant;
  variant.addsBias = takeEnd(kBias);
  variant.padsChannels = takeEnd(kPad);
  return variant;
}

} // namespace vdnn::rt::cuda
