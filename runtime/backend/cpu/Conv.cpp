//===- Conv.cpp - convolution and its gradients ---------------------------===//
//
// Activations stay channels last. Filters arrive as OHWI; oneDNN chooses the
// layout its code wants, and the copy lies in the workspace. Algorithm "direct"
// is oneDNN's first choice; "gemm" lowers to matrix products, with other
// workspaces.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cpu/Dnnl.h"
#include "runtime/backend/cpu/Factories.h"

#include <cstring>

namespace vdnn::rt::cpu {

using dnnl::memory;
using schedule::Layout;
using schedule::TypeT;

namespace {

/// A convolution's shape and attributes as oneDNN takes them.
struct ConvDescs {
  memory::desc x, y, w, bias;
  memory::desc wAny;
  memory::dims strides, dilations, padsBegin, padsEnd;
};

} // namespace

static Result<memory::dims> readSpatial(const schedule::KernelT &kernel,
                                        const char *name, size_t length,
                                        int64_t least) {
  memory::dims values = schedule::getInts(kernel, name);
  if (values.size() != length) {
    return Error{"expected " + std::to_string(length) +
                 " integers in attribute '" + name + "', found " +
                 std::to_string(values.size())};
  }
  for (int64_t value : values) {
    if (value < least || value > (1 << 30)) {
      return Error{"attribute '" + std::string(name) + "' holds " +
                   std::to_string(value) + ", expected at least " +
                   std::to_string(least)};
    }
  }
  return values;
}

/// Checks the three tensors against the attributes and describes them.
static Result<ConvDescs> describe(const Request &request, const TypeT &x,
                                  const TypeT &w, const TypeT &y,
                                  const TypeT *bias) {
  size_t rank = x.shape.size();
  if (rank < 3 || rank > 5) {
    return Error{"expected 1 to 3 spatial dimensions, found shape " +
                 toString(x.shape)};
  }
  VDNN_TRY(expectAllF32(request));
  VDNN_TRY(expectLayout(x, Layout::ChannelsLast, "x"));
  VDNN_TRY(expectLayout(w, Layout::ChannelsLast, "w"));
  VDNN_TRY(expectLayout(y, Layout::ChannelsLast, "y"));

  size_t spatial = rank - 2;
  Result<memory::dims> strides =
      readSpatial(request.kernel, "strides", spatial, 1);
  VDNN_TRY(strides.status());
  Result<memory::dims> dilations =
      readSpatial(request.kernel, "dilations", spatial, 1);
  VDNN_TRY(dilations.status());
  Result<memory::dims> pads =
      readSpatial(request.kernel, "pads", 2 * spatial, 0);
  VDNN_TRY(pads.status());
  int64_t group = schedule::getInt(request.kernel, "group", 1);

  if (w.shape.size() != rank || y.shape.size() != rank) {
    return Error{"expected 'w' and 'y' of the rank of 'x', found shapes " +
                 toString(w.shape) + " and " + toString(y.shape)};
  }
  int64_t channels = x.shape[1], outputs = w.shape[0];
  if (group < 1 || channels % group != 0 || outputs % group != 0 ||
      w.shape[1] != channels / group) {
    return Error{"group " + std::to_string(group) +
                 " does not fit 'x' of shape " + toString(x.shape) +
                 " and 'w' of shape " + toString(w.shape)};
  }
  std::vector<int64_t> expected = {x.shape[0], outputs};
  for (size_t i = 0; i < spatial; ++i) {
    int64_t window = (w.shape[i + 2] - 1) * (*dilations)[i] + 1;
    int64_t padded = x.shape[i + 2] + (*pads)[i] + (*pads)[spatial + i];
    expected.push_back(padded < window ? 0
                                       : (padded - window) / (*strides)[i] + 1);
  }
  VDNN_TRY(expectShape(y, expected, "y"));
  if (countElements(expected) == 0 || countElements(w.shape) == 0) {
    return Error{"a dimension is empty: 'w' has shape " + toString(w.shape) +
                 ", 'y' " + toString(y.shape)};
  }
  if (bias) {
    VDNN_TRY(expectShape(*bias, {outputs}, "bias"));
  }

  ConvDescs descs;
  descs.x = toDnnl(x);
  descs.y = toDnnl(y);
  memory::dims dims = w.shape, wStrides = memoryStrides(w);
  if (group > 1) {
    dims[0] /= group;
    dims.insert(dims.begin(), group);
    wStrides.insert(wStrides.begin(), dims[1] * wStrides[0]);
  }
  descs.w = memory::desc(dims, memory::data_type::f32, wStrides);
  descs.wAny =
      memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  if (bias) {
    descs.bias = toDnnl(*bias);
  }
  descs.strides = *strides;
  for (int64_t dilation : *dilations) {
    descs.dilations.push_back(dilation - 1);
  }
  descs.padsBegin.assign(pads->begin(), pads->begin() + spatial);
  descs.padsEnd.assign(pads->begin() + spatial, pads->end());
  return descs;
}

/// Moves a primitive descriptor on to the implementation that the algorithm
/// names. oneDNN keeps pointers to what the descriptor was made from: the
/// operation, its attributes and the hint must still be there.
template <typename PrimitiveDesc>
static Status selectImplementation(PrimitiveDesc &desc,
                                   const std::string &algorithm) {
  auto isGemm = [&] {
    return std::strstr(desc.impl_info_str(), "gemm:jit") != nullptr;
  };
  if (algorithm != "gemm") {
    return {};
  }
  if (isGemm()) {
    return Error{"algorithm 'gemm' is what 'direct' chooses here"};
  }
  while (desc.next_impl()) {
    if (isGemm()) {
      return {};
    }
  }
  return Error{"oneDNN has no algorithm 'gemm' for these shapes"};
}

static constexpr dnnl::algorithm kDirect = dnnl::algorithm::convolution_direct;

static dnnl::convolution_forward::desc describeForward(const ConvDescs &c) {
  auto kind = dnnl::prop_kind::forward_training;
  return c.bias.is_zero()
             ? dnnl::convolution_forward::desc(kind, kDirect, c.x, c.wAny, c.y,
                                               c.strides, c.dilations,
                                               c.padsBegin, c.padsEnd)
             : dnnl::convolution_forward::desc(
                   kind, kDirect, c.x, c.wAny, c.bias, c.y, c.strides,
                   c.dilations, c.padsBegin, c.padsEnd);
}

/// What oneDNN wants beside a backward convolution.
static dnnl::convolution_forward::primitive_desc makeHint(const ConvDescs &c) {
  return {describeForward(c), dnnlAttributes(), dnnlEngine()};
}

/// Runs a factory's body with oneDNN's exceptions turned into its error.
static Result<Kernel> guarded(const std::function<Result<Kernel>()> &body) {
  Result<Kernel> result = Error{};
  Status status = catchDnnl([&] {
    result = body();
    return Status();
  });
  return status.ok() ? std::move(result) : Result<Kernel>(status.error());
}

Result<Kernel> createConv(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 3, 1, 1}));
  const TypeT *bias =
      request.types.reads.size() == 3 ? request.types.reads[2] : nullptr;
  Result<ConvDescs> c =
      describe(request, *request.types.reads[0], *request.types.reads[1],
               *request.types.writes[0], bias);
  VDNN_TRY(c.status());
  return guarded([&]() -> Result<Kernel> {
    dnnl::convolution_forward::desc operation = describeForward(*c);
    dnnl::primitive_attr attributes = dnnlAttributes();
    dnnl::convolution_forward::primitive_desc desc(operation, attributes,
                                                   dnnlEngine());
    VDNN_TRY(selectImplementation(desc, request.kernel.algorithm));
    auto program = std::make_shared<DnnlProgram>();
    Place w = program->convert(c->w, {Place::Read, 1}, desc.weights_desc());
    std::vector<DnnlProgram::Argument> arguments = {
        {DNNL_ARG_SRC, c->x, {Place::Read, 0}},
        {DNNL_ARG_WEIGHTS, desc.weights_desc(), w},
        {DNNL_ARG_DST, c->y, {Place::Write, 0}}};
    if (bias) {
      arguments.push_back({DNNL_ARG_BIAS, c->bias, {Place::Read, 2}});
    }
    program->add(desc, std::move(arguments));
    return DnnlProgram::finish(program);
  });
}

Result<Kernel> createConvBackwardData(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 2, 1, 1}));
  Result<ConvDescs> c =
      describe(request, *request.types.writes[0], *request.types.reads[1],
               *request.types.reads[0], nullptr);
  VDNN_TRY(c.status());
  return guarded([&]() -> Result<Kernel> {
    dnnl::convolution_backward_data::desc operation(
        kDirect, c->x, c->wAny, c->y, c->strides, c->dilations, c->padsBegin,
        c->padsEnd);
    dnnl::primitive_attr attributes = dnnlAttributes();
    dnnl::convolution_forward::primitive_desc hint = makeHint(*c);
    dnnl::convolution_backward_data::primitive_desc desc(operation, attributes,
                                                         dnnlEngine(), hint);
    VDNN_TRY(selectImplementation(desc, request.kernel.algorithm));
    auto program = std::make_shared<DnnlProgram>();
    Place w = program->convert(c->w, {Place::Read, 1}, desc.weights_desc());
    program->add(desc, {{DNNL_ARG_DIFF_DST, c->y, {Place::Read, 0}},
                        {DNNL_ARG_WEIGHTS, desc.weights_desc(), w},
                        {DNNL_ARG_DIFF_SRC, c->x, {Place::Write, 0}}});
    return DnnlProgram::finish(program);
  });
}

Result<Kernel> createConvBackwardFilter(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 2, 1, 2}));
  const TypeT *bias =
      request.types.writes.size() == 2 ? request.types.writes[1] : nullptr;
  Result<ConvDescs> c =
      describe(request, *request.types.reads[0], *request.types.writes[0],
               *request.types.reads[1], bias);
  VDNN_TRY(c.status());
  return guarded([&]() -> Result<Kernel> {
    auto operation =
        bias ? dnnl::convolution_backward_weights::desc(
                   kDirect, c->x, c->wAny, c->bias, c->y, c->strides,
                   c->dilations, c->padsBegin, c->padsEnd)
             : dnnl::convolution_backward_weights::desc(
                   kDirect, c->x, c->wAny, c->y, c->strides, c->dilations,
                   c->padsBegin, c->padsEnd);
    dnnl::primitive_attr attributes = dnnlAttributes();
    dnnl::convolution_forward::primitive_desc hint = makeHint(*c);
    dnnl::convolution_backward_weights::primitive_desc desc(
        operation, attributes, dnnlEngine(), hint);
    VDNN_TRY(selectImplementation(desc, request.kernel.algorithm));
    auto program = std::make_shared<DnnlProgram>();
    bool converts = desc.diff_weights_desc() != c->w;
    Place dw = converts ? program->reserve(desc.diff_weights_desc())
                        : Place{Place::Write, 0};
    std::vector<DnnlProgram::Argument> arguments = {
        {DNNL_ARG_SRC, c->x, {Place::Read, 0}},
        {DNNL_ARG_DIFF_DST, c->y, {Place::Read, 1}},
        {DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc(), dw}};
    if (bias) {
      arguments.push_back({DNNL_ARG_DIFF_BIAS, c->bias, {Place::Write, 1}});
    }
    program->add(desc, std::move(arguments));
    if (converts) {
      program->convertInto(desc.diff_weights_desc(), dw, c->w,
                           {Place::Write, 0});
    }
    return DnnlProgram::finish(program);
  });
}

} // namespace vdnn::rt::cpu
