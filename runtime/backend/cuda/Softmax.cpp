//===- Softmax.cpp - softmax, its logarithm, and their gradient -----------===//

#include "runtime/backend/cuda/kernels/Softmax.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

using schedule::TypeT;

static Result<SoftmaxShape> describe(const Request &request, size_t reads) {
  VDNN_TRY(expectArity(request, {reads, reads, 1, 1}));
  VDNN_TRY(expectAllF32(request));
  const TypeT &y = *request.types.writes[0];
  VDNN_TRY(expectLayout(y, schedule::Layout::RowMajor, "the result"));
  for (size_t i = 0; i < reads; ++i) {
    VDNN_TRY(expectSameType(*request.types.reads[i], y, "an operand"));
  }
  int64_t rank = static_cast<int64_t>(y.shape.size()),
          axis = schedule::getInt(request.kernel, "axis");
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) {
    return Error{"axis " + std::to_string(axis) +
                 " is outside the rank of shape " + toString(y.shape)};
  }
  if (countElements(y.shape) == 0) {
    return Error{"shape " + toString(y.shape) + " has no elements"};
  }
  SoftmaxShape shape{1, 1, 1, schedule::getInt(request.kernel, "log") != 0};
  for (int64_t i = 0; i < rank; ++i) {
    (i < axis    ? shape.outer
     : i == axis ? shape.length
                 : shape.inner) *= y.shape[static_cast<size_t>(i)];
  }
  return shape;
}

Result<Kernel> createSoftmax(const Request &request) {
  Result<SoftmaxShape> shape = describe(request, 1);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.inPlace = {{0, 0}};
  kernel.run = [s = *shape](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchSoftmax(s, operands.read<float>(0),
                            operands.write<float>(0), operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createSoftmaxBackward(const Request &request) {
  Result<SoftmaxShape> shape = describe(request, 2);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.inPlace = {{0, 0}};
  kernel.run = [s = *shape](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchSoftmaxBackward(s, operands.read<float>(0),
                                    operands.read<float>(1),
                                    operands.write<float>(0), operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
