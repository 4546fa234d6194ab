//===- Update.cpp - the weight update -------------------------------------===//

#include "runtime/backend/cuda/kernels/Update.h"
#include "runtime/backend/common/SgdShape.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

static_assert(SgdGroup::kMaxUpdates == SgdGroupShape::kMaxParameters);

static Sgd coefficientsOf(const SgdShape &s) {
  return {s.momentum, s.decay, s.nesterov};
}

static Storage gradientOf(const SgdShape &s) {
  return s.bf16Gradient ? Storage::BF16 : Storage::F32;
}

Result<Kernel> createSgd(const Request &request) {
  Result<SgdShape> shape = SgdShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.inPlace = shape->inPlace;
  kernel.run = [s = *shape](Context &, const Operands &operands) -> Status {
    SgdUpdate update{};
    update.elements = s.elements;
    update.parameter = operands.read<float>(0);
    update.gradient = operands.reads[1];
    update.newParameter = operands.write<float>(0);
    if (s.hasVelocity) {
      update.velocity = operands.read<float>(3);
      update.newVelocity = operands.write<float>(1);
    }
    update.copy = s.hasCopy ? operands.writes.back() : nullptr;
    VDNN_CUDA(launchSgd(coefficientsOf(s), operands.read<float>(2),
                        gradientOf(s), update, operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createSgdGroup(const Request &request) {
  Result<SgdGroupShape> shape =
      SgdGroupShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.inPlace = shape->inPlace;
  kernel.run = [shape = std::move(*shape)](Context &,
                                           const Operands &operands) -> Status {
    const SgdShape &first = shape.updates[0];
    SgdGroup group{};
    group.sgd = coefficientsOf(first);
    group.rate = operands.read<float>(0);
    group.count = static_cast<int>(shape.updates.size());
    for (size_t i = 0; i < shape.updates.size(); ++i) {
      SgdUpdate &update = group.updates[i];
      update.elements = shape.updates[i].elements;
      update.parameter = operands.read<float>(shape.parameter(i));
      update.gradient = operands.reads[shape.gradient(i)];
      update.newParameter = operands.write<float>(shape.result(0, i));
      if (first.hasVelocity) {
        update.velocity = operands.read<float>(shape.velocity(i));
        update.newVelocity = operands.write<float>(shape.result(1, i));
      }
      if (first.hasCopy) {
        update.copy =
            operands.writes[shape.result(first.hasVelocity ? 2 : 1, i)];
      }
    }
    VDNN_CUDA(launchSgdGroup(group, gradientOf(first), operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
