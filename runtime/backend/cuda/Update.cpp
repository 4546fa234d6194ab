//===- Update.cpp - the weight update -------------------------------------===//

#include "runtime/backend/cuda/kernels/Update.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

Result<Kernel> createSgd(const Request &request) {
  VDNN_TRY(expectArity(request, {3, 4, 1, 2}));
  VDNN_TRY(expectAllF32(request));
  const schedule::TypeT &parameter = *request.types.reads[0];
  bool hasVelocity = request.types.reads.size() == 4;
  if (hasVelocity != (request.types.writes.size() == 2)) {
    return Error{
        "expected a velocity both as operand and as result, or neither"};
  }
  VDNN_TRY(expectSameType(*request.types.reads[1], parameter, "gradient"));
  VDNN_TRY(
      expectSameType(*request.types.writes[0], parameter, "new_parameter"));
  VDNN_TRY(expectShape(*request.types.reads[2], {}, "rate"));
  Sgd sgd{
      static_cast<float>(schedule::getNumber(request.kernel, "momentum")),
      static_cast<float>(schedule::getNumber(request.kernel, "weight_decay")),
      schedule::getInt(request.kernel, "nesterov") != 0};
  Kernel kernel;
  kernel.inPlace = {{0, 0}, {1, 0}};
  if (hasVelocity) {
    VDNN_TRY(expectSameType(*request.types.reads[3], parameter, "velocity"));
    VDNN_TRY(
        expectSameType(*request.types.writes[1], parameter, "new_velocity"));
    kernel.inPlace.insert(kernel.inPlace.end(), {{1, 1}, {3, 1}});
  } else if (sgd.momentum != 0) {
    return Error{"momentum " + std::to_string(sgd.momentum) +
                 " needs a velocity"};
  }
  kernel.run = [=, elements = countElements(parameter.shape)](
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
