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
  kernel.run = [sgd, s = *shape](Context &,
                                 const Operands &operands) -> Status {
    SgdOperands launch{};
    launch.parameter = operands.read<float>(0);
    launch.gradient = operands.reads[1];
    launch.gradientStorage = s.bf16Gradient ? Storage::BF16 : Storage::F32;
    launch.rate = operands.read<float>(2);
    launch.newParameter = operands.write<float>(0);
    if (s.hasVelocity) {
      launch.velocity = operands.read<float>(3);
      launch.newVelocity = operands.write<float>(1);
    }
    launch.copy = s.hasCopy ? operands.writes.back() : nullptr;
    VDNN_CUDA(launchSgd(sgd, launch, s.elements, operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
