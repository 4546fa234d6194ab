//===- LrnShape.cpp -------------------------------------------------------===//

#include "runtime/backend/common/LrnShape.h"

namespace vdnn::rt::backend {

Result<LrnWindow> LrnWindow::parse(const schedule::KernelT &kernel,
                                   const LaunchTypes &types) {
  const schedule::TypeT &y = *types.writes[0];
  VDNN_TRY(expectActivation(y, "the result"));
  VDNN_TRY(expectLayout(y, schedule::Layout::ChannelsLast, "the result"));
  for (const schedule::TypeT *read : types.reads) {
    VDNN_TRY(expectSameType(*read, y, "an operand"));
  }
  int64_t size = schedule::getInt(kernel, "size");
  if (y.shape.size() < 2 || y.shape[1] < 1 || size < 1) {
    return Error{"expected channels and a window of at least 1, found shape " +
                 toString(y.shape) + " and size " + std::to_string(size)};
  }
  double alpha = schedule::getNumber(kernel, "alpha");
  return LrnWindow{countElements(y.shape) / y.shape[1],
                   y.shape[1],
                   (size - 1) / 2,
                   size / 2,
                   static_cast<float>(alpha / static_cast<double>(size)),
                   static_cast<float>(schedule::getNumber(kernel, "beta")),
                   static_cast<float>(schedule::getNumber(kernel, "bias"))};
}

} // namespace vdnn::rt::backend
