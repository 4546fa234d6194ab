//===- Loss.h - softmax cross-entropy and its gradient --------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_LOSS_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_LOSS_H

#include "runtime/backend/cuda/kernels/BadLabel.h"

#include <cstdint>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

enum class LossReduction { Mean, Sum, None };

/// Logits are images x classes x positions; labels images x positions.
struct LossShape {
  int64_t images, classes, positions;
  int64_t classStride, positionStride;
  bool wideLabels; ///< i64, else i32
  LossReduction reduction;
  bool hasIgnored;
  int64_t ignored;

  int64_t samples() const { return images * positions; }
};

/// The data of a launch beside logits and their gradients.
struct LossLabels {
  const void *labels;
  const float *weights; ///< may be null
  /// Where to note a label that is no class and not the ignored one, as one of
  /// this command.
  BadLabel *bad;
  uint32_t command;
};

/// Bytes of workspace of either direction.
uint64_t lossWorkspace(const LossShape &shape);

/// logProb may lie on logits.
cudaError_t launchLoss(const LossShape &shape, const LossLabels &labels,
                       const float *logits, float *loss, float *logProb,
                       void *workspace, cudaStream_t stream);
/// dlogits may lie on logProb.
cudaError_t launchLossBackward(const LossShape &shape, const LossLabels &labels,
                               const float *dloss, const float *logProb,
                               float *dlogits, void *workspace,
                               cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
