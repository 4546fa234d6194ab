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

Result<SgdGroupShape> SgdGroupShape::parse(const schedule::KernelT &kernel,
                                           const LaunchTypes &types) {
  bool hasVelocity = schedule::getNumber(kernel, "momentum") != 0;
  size_t values = hasVelocity ? 2 : 1;
  size_t count =
      types.reads.empty() ? 0 : (types.reads.size() - 1) / (values + 1);
  if (count == 0 || count > kMaxParameters ||
      types.reads.size() != 1 + count * (values + 1)) {
    return Error{"expected a rate, and a parameter, a gradient" +
                 std::string(hasVelocity ? " and a velocity" : "") +
                 " for each of 1 to " + std::to_string(kMaxParameters) +
                 " updates, found " + std::to_string(types.reads.size()) +
                 " operands"};
  }
  bool hasCopies = types.writes.size() == count * (values + 1);
  if (types.writes.size() != count * values && !hasCopies) {
    return Error{"expected " + std::to_string(count * values) +
                 " results, or " + std::to_string(count * (values + 1)) +
                 " with copies; found " + std::to_string(types.writes.size())};
  }
  SgdGroupShape s;
  s.updates.resize(count);
  for (size_t i = 0; i < count; ++i) {
    // As operands and results of a single update, and where they are here.
    std::vector<size_t> reads = {s.parameter(i), s.gradient(i), 0};
    if (hasVelocity) {
      reads.push_back(s.velocity(i));
    }
    std::vector<const schedule::TypeT *> readTypes, writeTypes;
    for (size_t read : reads) {
      readTypes.push_back(types.reads[read]);
    }
    for (size_t which = 0; which < values + hasCopies; ++which) {
      writeTypes.push_back(types.writes[s.result(which, i)]);
    }
    Result<SgdShape> update = SgdShape::parse(kernel, {readTypes, writeTypes});
    if (!update) {
      return Error{"update " + std::to_string(i) + ": " +
                   update.error().message};
    }
    if (i > 0 && update->bf16Gradient != s.updates[0].bf16Gradient) {
      return Error{"expected gradients of one element type"};
    }
    for (const schedule::InPlace &pair : update->inPlace) {
      s.inPlace.push_back({static_cast<uint32_t>(reads[pair.read()]),
                           static_cast<uint32_t>(s.result(pair.write(), i))});
    }
    s.updates[i] = std::move(*update);
  }
  return s;
}

} // namespace vdnn::rt::backend
