//===- Update.cpp - the weight update -------------------------------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

namespace vdnn::rt::cpu {

namespace {

struct Sgd {
  float momentum, decay;
  bool nesterov;
};

} // namespace

VDNN_MULTIVERSION
static void plainBlock(float *newParameter, const float *parameter,
                       const float *gradient, float rate, const Sgd &s,
                       int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    newParameter[i] =
        parameter[i] - rate * (gradient[i] + s.decay * parameter[i]);
  }
}

VDNN_MULTIVERSION
static void momentumBlock(float *newParameter, float *newVelocity,
                          const float *parameter, const float *velocity,
                          const float *gradient, float rate, const Sgd &s,
                          int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    float g = gradient[i] + s.decay * parameter[i];
    float v = s.momentum * velocity[i] + g;
    float direction = s.nesterov ? g + s.momentum * v : v;
    newParameter[i] = parameter[i] - rate * direction;
    newVelocity[i] = v;
  }
}

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
  kernel.run = [=, elements = countElements(parameter.shape),
                threads = request.threads](const Operands &operands) {
    const float *w = operands.read<float>(0), *g = operands.read<float>(1);
    float rate = *operands.read<float>(2), *newW = operands.write<float>(0);
    parallelRanges(
        threads, elements, [&](unsigned, int64_t begin, int64_t end) {
          if (hasVelocity) {
            momentumBlock(newW + begin, operands.write<float>(1) + begin,
                          w + begin, operands.read<float>(3) + begin, g + begin,
                          rate, sgd, end - begin);
          } else {
            plainBlock(newW + begin, w + begin, g + begin, rate, sgd,
                       end - begin);
          }
        });
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
