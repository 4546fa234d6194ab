//===- SgdShape.h - a weight update's operands ----------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_SGDSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_SGDSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

struct SgdShape {
  int64_t elements;
  float momentum, decay;
  bool nesterov, hasVelocity;
  bool bf16Gradient;
  bool hasCopy; ///< the last result: the new parameter, rounded to bf16
  std::vector<schedule::InPlace> inPlace;

  /// Checks parameter, gradient (f32 or bf16), rate and, with momentum,
  /// velocity, and the new values; reads the attributes.
  static Result<SgdShape> parse(const schedule::KernelT &kernel,
                                const LaunchTypes &types);
};

/// Several updates in one launch: the rate, all parameters, all gradients and,
/// with momentum, all velocities; then the new parameters, velocities and,
/// where asked for, copies.
struct SgdGroupShape {
  static constexpr size_t kMaxParameters = 64;

  std::vector<SgdShape> updates; ///< alike but for their elements
  std::vector<schedule::InPlace> inPlace;

  // Numbers of the operands and results of update `i`; the results are numbered
  // as a single update numbers them.
  size_t parameter(size_t i) const { return 1 + i; }
  size_t gradient(size_t i) const { return 1 + updates.size() + i; }
  size_t velocity(size_t i) const { return 1 + 2 * updates.size() + i; }
  size_t result(size_t which, size_t i) const {
    return which * updates.size() + i;
  }

  /// Checks each update as `SgdShape` does, and that they are alike.
  static Result<SgdGroupShape> parse(const schedule::KernelT &kernel,
                                     const LaunchTypes &types);
};

} // namespace vdnn::rt::backend

#endif
