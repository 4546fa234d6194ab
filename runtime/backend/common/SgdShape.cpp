//===- SgdShape.cpp -------------------------------------------------------===//

#include "runtime/backend/common/SgdShape.h"

namespace vdnn::rt::backend {

Result<SgdShape> SgdShape::parse(const schedule::KernelT &kernel,
                                 const LaunchTypes &types) {
  VDNN_TRY(expectArity(types, {3, 4, 1, 2}));
  VDNN_TRY(expectAllF32(types));
  const schedule::TypeT &parameter = *types.reads[0];
  SgdShape s;
  s.elements = countElements(parameter.shape);
  s.momentum = static_cast<float>(schedule::getNumber(kernel, "momentum"));
  s.decay = static_cast<float>(schedule::getNumber(kernel, "weight_decay"));
  s.nesterov = schedule::getInt(kernel, "nesterov") != 0;
  s.hasVelocity = types.reads.size() == 4;
  s.inPlace = {{0, 0}, {1, 0}};
  if (s.hasVelocity != (types.writes.size() == 2)) {
    return Error{
        "expected a velocity both as operand and as result, or neither"};
  }
  VDNN_TRY(expectSameType(*types.reads[1], parameter, "gradient"));
  VDNN_TRY(expectSameType(*types.writes[0], parameter, "new_parameter"));
  VDNN_TRY(expectShape(*types.reads[2], {}, "rate"));
  if (s.hasVelocity) {
    VDNN_TRY(expectSameType(*types.reads[3], parameter, "velocity"));
    VDNN_TRY(expectSameType(*types.writes[1], parameter, "new_velocity"));
    s.inPlace.insert(s.inPlace.end(), {{1, 1}, {3, 1}});
  } else if (s.momentum != 0) {
    return Error{"momentum " + std::to_string(s.momentum) +
                 " needs a velocity"};
  }
  return s;
}

} // namespace vdnn::rt::backend
