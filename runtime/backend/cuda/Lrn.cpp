//===- Lrn.cpp - local response normalisation across channels -------------===//

#include "runtime/backend/cuda/kernels/Lrn.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using schedule::Layout;
using schedule::TypeT;

static Result<LrnShape> describe(const Request &request) {
  VDNN_TRY(expectAllF32(request));
  const TypeT &y = *request.types.writes[0];
  VDNN_TRY(expectLayout(y, Layout::ChannelsLast, "the result"));
  for (const TypeT *read : request.types.reads) {
    VDNN_TRY(expectSameType(*read, y, "an operand"));
  }
  int64_t size = schedule::getInt(request.kernel, "size");
  if (y.shape.size() < 2 || y.shape[1] < 1 || size < 1) {
    return Error{"expected channels and a window of at least 1, found shape " +
                 toString(y.shape) + " and size " + std::to_string(size)};
  }
  int64_t channels = y.shape[1];
  if (channels > kLrnChannels) {
    return Error{"shape " + toString(y.shape) +
                 " has too many channels, expected at most " +
                 std::to_string(kLrnChannels)};
  }
  double alpha = schedule::getNumber(request.kernel, "alpha");
  // A window that reaches beyond all channels is no different from one that
  // reaches them.
  return LrnShape{
      countElements(y.shape) / channels,
      static_cast<int>(channels),
      static_cast<int>(std::min((size - 1) / 2, channels)),
      static_cast<int>(std::min(size / 2, channels)),
      static_cast<float>(alpha / static_cast<double>(size)),
      static_cast<float>(schedule::getNumber(request.kernel, "beta")),
      static_cast<float>(schedule::getNumber(request.kernel, "bias"))};
}

Result<Kernel> createLrn(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  Result<LrnShape> shape = describe(request);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.run = [s = *shape](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchLrn(s, Storage::F32, operands.reads[0], operands.writes[0],
                        operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createLrnBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 2, 1, 1}));
  Result<LrnShape> shape = describe(request);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.run = [s = *shape](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchLrnBackward(s, Storage::F32, operands.reads[0],
                                operands.reads[1], operands.writes[0],
                                operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
