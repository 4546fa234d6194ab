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

/// Without a velocity both its pointers are null.
static void update(unsigned threads, const Sgd &sgd, int64_t elements,
                   float rate, const float *w, const float *g, const float *v,
                   float *newW, float *newV) {
  parallelRanges(threads, elements, [&](unsigned, int64_t begin, int64_t end) {
    if (v) {
      momentumBlock(newW + begin, newV + begin, w + begin, v + begin, g + begin,
                    rate, sgd, end - begin);
    } else {
      plainBlock(newW + begin, w + begin, g + begin, rate, sgd, end - begin);
    }
  });
}

Result<Kernel> createSgd(const Request &request) {
  Result<SgdShape> shape = SgdShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  Sgd sgd{shape->momentum, shape->decay, shape->nesterov};
  Kernel kernel;
  kernel.inPlace = shape->inPlace;
  kernel.run = [=, elements = shape->elements, hasVelocity = shape->hasVelocity,
                threads = request.threads](const Operands &operands) {
    update(threads, sgd, elements, *operands.read<float>(2),
           operands.read<float>(0), operands.read<float>(1),
           hasVelocity ? operands.read<float>(3) : nullptr,
           operands.write<float>(0),
           hasVelocity ? operands.write<float>(1) : nullptr);
    return Status();
  };
  return kernel;
}

Result<Kernel> createSgdGroup(const Request &request) {
  Result<SgdGroupShape> shape =
      SgdGroupShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.inPlace = shape->inPlace;
  kernel.run = [group = std::move(*shape),
                threads = request.threads](const Operands &operands) {
    for (size_t i = 0; i < group.updates.size(); ++i) {
      const SgdShape &s = group.updates[i];
      update(threads, {s.momentum, s.decay, s.nesterov}, s.elements,
             *operands.read<float>(0), operands.read<float>(group.parameter(i)),
             operands.read<float>(group.gradient(i)),
             s.hasVelocity ? operands.read<float>(group.velocity(i)) : nullptr,
             operands.write<float>(group.result(0, i)),
             s.hasVelocity ? operands.write<float>(group.result(1, i))
                           : nullptr);
    }
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
