//===- Conv.cpp - convolution and its gradients ---------------------------===//
//
// Activations stay channels last. Filters arrive as OHWI; oneDNN chooses the
// layout its code wants, and the copy lies in the workspace. Algorithm "direct"
// is oneDNN's first choice; "gemm" lowers to matrix products, with other
// workspaces.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/ConvShape.h"
#include "runtime/backend/cpu/Dnnl.h"
#include "runtime/backend/cpu/Factories.h"

#include <cstring>

namespace vdnn::rt::cpu {

using dnnl::memory;
using schedule::TypeT;

namespace {

/// A convolution's shape and attributes as oneDNN takes them.
struct ConvDescs {
  memory::desc x, y, w, bias;
  memory::desc wAny;
  memory::dims strides, dilations, padsBegin, padsEnd;
};

} // namespace

/// Checks the three tensors against the attributes and describes them.
static Result<ConvDescs> describe(const Request &request) {
  VDNN_TRY(expectAllF32(request));
  Result<ConvTypes> types = ConvTypes::of(request.kernel.kind, request.types);
  VDNN_TRY(types.status());
  const TypeT &x = *types->x, &w = *types->w, &y = *types->y;
  const TypeT *bias = types->bias;
  VDNN_TRY(expectLayout(x, schedule::Layout::ChannelsLast, "x"));
  Result<ConvShape> shape = ConvShape::parse(request.kernel, x, w, y, bias);
  VDNN_TRY(shape.status());
  int64_t group = shape->group;
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
  descs.strides = shape->strides;
  for (int64_t dilation : shape->dilations) {
    descs.dilations.push_back(dilation - 1);
  }
  descs.padsBegin = shape->padsBegin;
  descs.padsEnd = shape->padsEnd;
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
  Result<ConvDescs> c = describe(request);
  VDNN_TRY(c.status());
  return guarded([&]() -> Result<Kernel> {
    dnnl::convolution_forward::desc operation = describeForward(*c);
    dnnl::primitive_attr attributes = dnnlAttributes();
    if (schedule::getInt(request.kernel, "relu") != 0) {
      dnnl::post_ops relu;
      relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      attributes.set_post_ops(relu);
    }
    dnnl::convolution_forward::primitive_desc desc(operation, attributes,
                                                   dnnlEngine());
    VDNN_TRY(selectImplementation(desc, request.kernel.algorithm));
    auto program = std::make_shared<DnnlProgram>();
    Place w = program->convert(c->w, {Place::Read, 1}, desc.weights_desc());
    std::vector<DnnlProgram::Argument> arguments = {
        {DNNL_ARG_SRC, c->x, {Place::Read, 0}},
        {DNNL_ARG_WEIGHTS, desc.weights_desc(), w},
        {DNNL_ARG_DST, c->y, {Place::Write, 0}}};
    if (!c->bias.is_zero()) {
      arguments.push_back({DNNL_ARG_BIAS, c->bias, {Place::Read, 2}});
    }
    program->add(desc, std::move(arguments));
    return DnnlProgram::finish(program);
  });
}

Result<Kernel> createConvBackwardData(const Request &request) {
  Result<ConvDescs> c = describe(request);
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
  Result<ConvDescs> c = describe(request);
  VDNN_TRY(c.status());
  return guarded([&]() -> Result<Kernel> {
    auto operation =
        !c->bias.is_zero()
            ? dnnl::convolution_backward_weights::desc(
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
    if (!c->bias.is_zero()) {
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
