//===- Training.h - forward graph -> one training step --------------------===//

#ifndef VDNN_TRAINING_TRAINING_H
#define VDNN_TRAINING_TRAINING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <set>
#include <string>

namespace vdnn {

enum class LossKind {
  CrossEntropy, ///< softmax cross entropy of the output (logits) against class
                ///< indices, mean over the batch
  MeanSquare,   ///< mean squared error of the output against a target of its
                ///< shape
  Output        ///< the model's (scalar) output is the loss
};

/// What the backward ops read: see "Few bytes" in docs/architecture.md.
enum class Storage {
  Compact, ///< pool indices instead of pool inputs and outputs
  Paper    ///< what cuDNN 4 needs: pools keep their input and output
};

/// Whether forward ops become one before gradients are made, and updates
/// afterwards. Never under `Storage::Paper`: cuDNN 4 had no fused op.
enum class Fusion {
  None,
  All ///< batch norm, a residual addition and ReLU; convolution and ReLU. A
      ///< ReLU goes behind a max pool. Updates of small parameters are grouped.
      ///< In inference convolution and ReLU alone.
};

struct TrainingOptions {
  LossKind loss = LossKind::CrossEntropy;
  double momentum = 0.9;
  double weightDecay = 0;
  bool nesterov = false;
  Storage storage = Storage::Compact;
  Fusion fusion = Fusion::All;
  /// Parameters by name that are not trained.
  std::set<std::string> frozen;
};

/// Turns `func.func @main` into one step: loss, reverse-mode gradients,
/// gradient accumulation, update right after each gradient. New arguments: the
/// labels or target (input `labels`/`target`), and the scalars `vdnn.rate`,
/// `vdnn.step`, `vdnn.seed` where used. New results: output `loss` and one
/// `update` per parameter and state. For a model that is only run (no loss) see
/// `buildInferenceStep`.
mlir::LogicalResult buildTrainingStep(mlir::ModuleOp module,
                                      const TrainingOptions &options);

/// Forward ops in f32 -> the same in bf16, before a step is built: activations
/// are bf16 from the network's input to its outputs, which stay f32 as the
/// parameters do; parameters of convolutions and matrix products are cast
/// before their use. Scales, biases and statistics stay f32; integers and other
/// types are left alone.
mlir::LogicalResult castToBF16(mlir::ModuleOp module);

/// A step: makes each cast of a parameter to bf16 a state `NAME.bf16`, which
/// the parameter's update, if there is one, writes too.
mlir::LogicalResult keepDerivedCopies(mlir::ModuleOp module);

/// Which updates become one.
struct UpdateGroupLimits {
  int64_t parameterBytes = 4 << 20; ///< a larger parameter is updated alone
  int64_t pendingBytes = 16 << 20;  ///< gradients that wait for a group

  /// The same, but no more may wait than is nothing beside what the step's
  /// forward ops make.
  static UpdateGroupLimits of(mlir::ModuleOp module);
};

/// A training step: the updates of small parameters of the same kind become
/// groups, each in the place of its last.
mlir::LogicalResult groupUpdates(mlir::ModuleOp module,
                                 const UpdateGroupLimits &limits = {});

/// Turns a model that is only run into a step: fuses ops, and numbers the
/// layers (`vdnn.layer`, `vdnn.phase`).
mlir::LogicalResult buildInferenceStep(mlir::ModuleOp module,
                                       Fusion fusion = Fusion::All);

} // namespace vdnn

#endif
