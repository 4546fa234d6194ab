//===- Uses.h - where each tensor is written and read ---------------------===//

#ifndef VDNN_LIB_PLANNING_USES_H
#define VDNN_LIB_PLANNING_USES_H

#include "vdnn/Planning/Problem.h"

namespace vdnn::planning {

constexpr OpId NoOp = UINT32_MAX;

/// Of one tensor. Positions are ops; `reads` ascends and names each op once.
struct TensorUses {
  OpId writer = NoOp;
  std::vector<OpId> reads;
  /// The op that writes the tensor which takes this one's range.
  OpId overwrittenBy = NoOp;
};

inline std::vector<TensorUses> findUses(const Problem &problem) {
  std::vector<TensorUses> uses(problem.tensors.size());
  for (OpId op = 0; op < problem.ops.size(); ++op) {
    for (TensorId tensor : problem.ops[op].reads) {
      std::vector<OpId> &reads = uses[tensor].reads;
      if (reads.empty() || reads.back() != op) {
        reads.push_back(op);
      }
    }
    for (TensorId tensor : problem.ops[op].writes) {
      uses[tensor].writer = op;
      if (auto tied = problem.tensors[tensor].tiedTo) {
        uses[*tied].overwrittenBy = op;
      }
    }
  }
  return uses;
}

/// Whether a tensor lives from step to step and no op touches it. Such a one
/// lies on the host.
inline bool isIdle(const Tensor &tensor, const TensorUses &uses) {
  return tensor.liveIn && uses.reads.empty() && uses.overwrittenBy == NoOp;
}

} // namespace vdnn::planning

#endif
