//===- Softmax.cpp - softmax, its logarithm, and their gradient -----------===//

#include "runtime/backend/cpu/Dnnl.h"
#include "runtime/backend/cpu/Factories.h"

namespace vdnn::rt::cpu {

using dnnl::memory;
using schedule::TypeT;

/// The tensor as outer x axis x inner, which is how oneDNN's code sees it too.
static Result<memory::desc> describe(const Request &request,
                                     const TypeT &type) {
  int64_t rank = static_cast<int64_t>(type.shape.size()),
          axis = schedule::getInt(request.kernel, "axis");
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) {
    return Error{"axis " + std::to_string(axis) +
                 " is outside the rank of shape " + toString(type.shape)};
  }
  if (countElements(type.shape) == 0) {
    return Error{"shape " + toString(type.shape) + " has no elements"};
  }
  memory::dims dims = {1, type.shape[axis], 1};
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) {
      dims[i < axis ? 0 : 2] *= type.shape[i];
    }
  }
  return memory::desc(dims, memory::data_type::f32,
                      memory::dims{dims[1] * dims[2], dims[2], 1});
}

static Status check(const Request &request, size_t reads) {
  VDNN_TRY(expectArity(request, {reads, reads, 1, 1}));
  VDNN_TRY(expectAllF32(request));
  const TypeT &y = *request.types.writes[0];
  VDNN_TRY(expectLayout(y, schedule::Layout::RowMajor, "the result"));
  for (size_t i = 0; i < reads; ++i) {
    VDNN_TRY(expectSameType(*request.types.reads[i], y, "an operand"));
  }
  return {};
}

Result<Kernel> createSoftmax(const Request &request) {
  VDNN_TRY(check(request, 1));
  Result<memory::desc> tensor = describe(request, *request.types.writes[0]);
  VDNN_TRY(tensor.status());
  bool log = schedule::getInt(request.kernel, "log") != 0;
  Result<Kernel> kernel = Error{};
  VDNN_TRY(catchDnnl([&] {
    auto program = std::make_shared<DnnlProgram>();
    auto add = [&](const auto &desc) {
      program->add(desc, {{DNNL_ARG_SRC, *tensor, {Place::Read, 0}},
                          {DNNL_ARG_DST, *tensor, {Place::Write, 0}}});
    };
    constexpr auto kind = dnnl::prop_kind::forward_training;
    if (log) {
      add(dnnl::logsoftmax_forward::primitive_desc(
          {kind, *tensor, 1}, dnnlAttributes(), dnnlEngine()));
    } else {
      add(dnnl::softmax_forward::primitive_desc(
          {kind, *tensor, 1}, dnnlAttributes(), dnnlEngine()));
    }
    kernel = DnnlProgram::finish(program);
    kernel->inPlace = {{0, 0}};
    return Status();
  }));
  return kernel;
}

Result<Kernel> createSoftmaxBackward(const Request &request) {
  VDNN_TRY(check(request, 2));
  Result<memory::desc> tensor = describe(request, *request.types.writes[0]);
  VDNN_TRY(tensor.status());
  bool log = schedule::getInt(request.kernel, "log") != 0;
  Result<Kernel> kernel = Error{};
  VDNN_TRY(catchDnnl([&] {
    auto program = std::make_shared<DnnlProgram>();
    auto add = [&](const auto &desc) {
      program->add(desc, {{DNNL_ARG_DIFF_DST, *tensor, {Place::Read, 0}},
                          {DNNL_ARG_DST, *tensor, {Place::Read, 1}},
                          {DNNL_ARG_DIFF_SRC, *tensor, {Place::Write, 0}}});
    };
    constexpr auto kind = dnnl::prop_kind::forward_training;
    if (log) {
      dnnl::logsoftmax_forward::primitive_desc forward(
          {kind, *tensor, 1}, dnnlAttributes(), dnnlEngine());
      add(dnnl::logsoftmax_backward::primitive_desc(
          {*tensor, *tensor, 1}, dnnlAttributes(), dnnlEngine(), forward));
    } else {
      dnnl::softmax_forward::primitive_desc forward(
          {kind, *tensor, 1}, dnnlAttributes(), dnnlEngine());
      add(dnnl::softmax_backward::primitive_desc(
          {*tensor, *tensor, 1}, dnnlAttributes(), dnnlEngine(), forward));
    }
    kernel = DnnlProgram::finish(program);
    kernel->inPlace = {{0, 0}};
    return Status();
  }));
  return kernel;
}

} // namespace vdnn::rt::cpu
