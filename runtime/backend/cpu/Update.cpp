//===- Update.cpp - the weight update -------------------------------------===//

#include "runtime/backend/common/SgdShape.h"
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
  Result<SgdShape> shape = SgdShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  Sgd sgd{shape->momentum, shape->decay, shape->nesterov};
  Kernel kernel;
  kernel.inPlace = shape->inPlace;
  kernel.run = [=, elements = shape->elements, hasVelocity = shape->hasVelocity,
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
