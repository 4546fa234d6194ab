//===- SgdShape.cpp -------------------------------------------------------===//

#include "runtime/backend/common/SgdShape.h"

namespace vdnn::rt::backend {

using schedule::ElementType;

Result<SgdShape> SgdShape::parse(const schedule::KernelT &kernel,
                                 const LaunchTypes &types) {
  VDNN_TRY(expectArity(types, {3, 4, 1, 3}));
  const schedule::TypeT &parameter = *types.reads[0],
                        &gradient = *types.reads[1];
  VDNN_TRY(expectElement(parameter, ElementType::F32, "parameter"));
  SgdShape s;
  s.elements = countElements(parameter.shape);
  s.momentum = static_cast<float>(schedule::getNumber(kernel, "momentum"));
  s.decay = static_cast<float>(schedule::getNumber(kernel, "weight_decay"));
  s.nesterov = schedule::getInt(kernel, "nesterov") != 0;
  s.hasVelocity = types.reads.size() == 4;
  s.bf16Gradient = gradient.element == ElementType::BF16;
  s.inPlace = {{0, 0}};
  if (!s.bf16Gradient) {
    s.inPlace.push_back({1, 0});
  }
  // Only the copy is bf16.
  size_t values = s.hasVelocity ? 2 : 1, writes = types.writes.size();
  s.hasCopy = types.writes.back()->element == ElementType::BF16;
  if (writes != values + s.hasCopy) {
    return Error{"expected a velocity both as operand and as result, or "
                 "neither; found " +
                 std::to_string(writes) + " results"};
  }
  VDNN_TRY(expectActivation(gradient, "gradient"));
  VDNN_TRY(expectShape(gradient, parameter.shape, "gradient"));
  VDNN_TRY(expectLayout(gradient, parameter.layout, "gradient"));
  VDNN_TRY(expectSameType(*types.writes[0], parameter, "new_parameter"));
  VDNN_TRY(expectElement(*types.reads[2], ElementType::F32, "rate"));
  VDNN_TRY(expectShape(*types.reads[2], {}, "rate"));
  if (s.hasVelocity) {
    VDNN_TRY(expectSameType(*types.reads[3], parameter, "velocity"));
    VDNN_TRY(expectSameType(*types.writes[1], parameter, "new_velocity"));
    s.inPlace.push_back({3, 1});
    if (!s.bf16Gradient) {
      s.inPlace.push_back({1, 1});
    }
  } else if (s.momentum != 0) {
    return Error{"momentum " + std::to_string(s.momentum) +
                 " needs a velocity"};
  }
  if (s.hasCopy) {
    VDNN_TRY(expectShape(*types.writes.back(), parameter.shape, "copy"));
    VDNN_TRY(expectLayout(*types.writes.back(), parameter.layout, "copy"));
  }
  return s;
}

} // namespace vdnn::rt::backend
