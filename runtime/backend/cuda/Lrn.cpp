//===- Lrn.cpp - local response normalisation across channels -------------===//

#include "runtime/backend/cuda/kernels/Lrn.h"
#include "runtime/backend/common/LrnShape.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>

namespace vdnn::rt::cuda {

static Result<LrnShape> describe(const Request &request) {
  Result<LrnWindow> window = LrnWindow::parse(request.kernel, request.types);
  VDNN_TRY(window.status());
  int64_t channels = window->channels;
  if (channels > kLrnChannels) {
    return Error{"shape " + toString(request.types.writes[0]->shape) +
                 " has too many channels, expected at most " +
                 std::to_string(kLrnChannels)};
  }
  // A window that reaches beyond all channels is no different from one that
  // reaches them.
  return LrnShape{window->rows,
                  static_cast<int>(channels),
                  static_cast<int>(std::min(window->below, channels)),
                  static_cast<int>(std::min(window->above, channels)),
                  window->alphaOverSize,
                  window->beta,
                  window->bias};
}

Result<Kernel> createLrn(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  Result<LrnShape> shape = describe(request);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.run = [s = *shape, storage = storageOf(*request.types.writes[0])](
                   Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchLrn(s, storage, operands.reads[0], operands.writes[0],
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
  kernel.run = [s = *shape, storage = storageOf(*request.types.writes[0])](
                   Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchLrnBackward(s, storage, operands.reads[0],
                                operands.reads[1], operands.writes[0],
                                operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
