//===- Update.cpp - the weight update -------------------------------------===//

#include "runtime/backend/cuda/kernels/Update.h"
#include "runtime/backend/common/SgdShape.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

Result<Kernel> createSgd(const Request &request) {
  Result<SgdShape> shape = SgdShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  Sgd sgd{shape->momentum, shape->decay, shape->nesterov};
  Kernel kernel;
  kernel.inPlace = shape->inPlace;
  kernel.run = [=, elements = shape->elements,
                hasVelocity = shape->hasVelocity](
                   Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchSgd(sgd, operands.write<float>(0),
                        hasVelocity ? operands.write<float>(1) : nullptr,
                        operands.read<float>(0), operands.read<float>(1),
                        operands.read<float>(2),
                        hasVelocity ? operands.read<float>(3) : nullptr,
                        elements, operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
