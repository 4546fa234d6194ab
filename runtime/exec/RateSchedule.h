//===- RateSchedule.h - the learning rate of each step --------------------===//

#ifndef VDNN_RUNTIME_EXEC_RATESCHEDULE_H
#define VDNN_RUNTIME_EXEC_RATESCHEDULE_H

#include <cmath>
#include <cstdint>
#include <numbers>

namespace vdnn::rt {

struct RateSchedule {
  enum class Kind {
    Constant, ///< `base`
    Step,     ///< `base`, times `factor` after every `every` steps
    Cosine    ///< half a cosine from `base` at step 0 to 0 at step `total`
  };

  Kind kind = Kind::Constant;
  double base = 0.01;
  double factor = 0.1;
  uint64_t every = 1000;
  uint64_t total = 0;

  double at(uint64_t step) const {
    switch (kind) {
    case Kind::Constant:
      return base;
    case Kind::Step:
      return base *
             std::pow(factor, static_cast<double>(every ? step / every : 0));
    case Kind::Cosine:
      return step >= total ? 0
                           : base * 0.5 *
                                 (1 + std::cos(std::numbers::pi *
                                               static_cast<double>(step) /
                                               static_cast<double>(total)));
    }
    return base;
  }
};

} // namespace vdnn::rt

#endif
