//===- Initialize.h - what persistent tensors hold before the first step --===//

#ifndef VDNN_RUNTIME_EXEC_INITIALIZE_H
#define VDNN_RUNTIME_EXEC_INITIALIZE_H

#include "runtime/exec/Executor.h"
#include "runtime/exec/files/Safetensors.h"

namespace vdnn::rt {

struct InitialValues {
  /// Values given by the user or by a checkpoint; not asked for constants of
  /// the plan. May be null.
  const Safetensors *weights = nullptr;
  /// The file beside the plan. May be null.
  const Safetensors *planWeights = nullptr;
  /// For tensors that start at random.
  uint64_t seed = 0;
};

/// The value that `tensor.initial` describes, row major. Random numbers depend
/// on the seed and the tensor's name alone. An error for Stored, for random
/// integers, and for a tensor without a description.
Result<HostTensor> initialValue(const schedule::TensorT &tensor, uint64_t seed);

/// Random elements: normal (mean `a`, standard deviation `b`) or uniform in [a,
/// b); floating point only.
Status fillRandom(schedule::InitialKind kind, double a, double b, uint64_t seed,
                  uint64_t stream, schedule::ElementType element,
                  std::span<std::byte> destination);

/// Sets every persistent tensor: from `weights`, else from `planWeights`, else
/// from its description in the plan. Returns notes for the user, one line each:
/// weights that nobody gave are no secret.
///
/// A tensor that is converted from another one follows it; no file is asked for
/// it.
///
/// A file holds every other parameter and state, else it is refused with the
/// names that it lacks. But:
/// - the optimizer's velocities may be absent from `weights` where all
/// parameters are there;
/// - vdnn-opt leaves out of its files what the plan describes better: tensors
/// of one value, and those that the model itself
///   leaves to chance.
Result<std::vector<std::string>> initialize(Executor &executor,
                                            const InitialValues &values);

} // namespace vdnn::rt

#endif
