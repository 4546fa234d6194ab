//===- LossShape.h - a softmax cross-entropy's geometry -------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_LOSSSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_LOSSSHAPE_H

#include "runtime/backend/common/Checks.h"

#include <optional>

namespace vdnn::rt::backend {

enum class LossReduction { Mean, Sum, None };

/// Logits are images x classes x positions; labels images x positions.
struct LossShape {
  int64_t images, classes, positions;
  int64_t classStride, positionStride;
  bool wideLabels; ///< i64, else i32
  bool weighted;   ///< there is a weight per class
  LossReduction reduction;
  std::optional<int64_t> ignored;

  int64_t samples() const { return images * positions; }

  /// Of the loss: reads logits, labels and, where there are any, weights;
  /// writes the loss and the logits' log-softmax.
  static Result<LossShape> parse(const schedule::KernelT &kernel,
                                 const LaunchTypes &types);
  /// Of its gradient: reads the gradient of the loss, the log-softmax, labels
  /// and weights; writes the gradient of the logits.
  static Result<LossShape> parseBackward(const schedule::KernelT &kernel,
                                         const LaunchTypes &types);
};

} // namespace vdnn::rt::backend

#endif
