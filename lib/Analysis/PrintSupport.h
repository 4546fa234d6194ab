//===- PrintSupport.h - what the print passes share -----------------------===//

#ifndef VDNN_LIB_ANALYSIS_PRINTSUPPORT_H
#define VDNN_LIB_ANALYSIS_PRINTSUPPORT_H

#include "vdnn/Analysis/Passes.h"
#include "vdnn/Analysis/PlanningProblem.h"

namespace vdnn {

/// Of one tensor: the op that writes it (none: it is there before the step) and
/// the ops that read it, ascending.
struct TensorUses {
  std::optional<planning::OpId> writer;
  std::vector<planning::OpId> readers;
};

inline std::vector<TensorUses> findUses(const planning::Problem &problem) {
  std::vector<TensorUses> uses(problem.tensors.size());
  for (planning::OpId op = 0; op < problem.ops.size(); ++op) {
    for (planning::TensorId read : problem.ops[op].reads) {
      std::vector<planning::OpId> &readers = uses[read].readers;
      if (readers.empty() || readers.back() != op) {
        readers.push_back(op);
      }
    }
    for (planning::TensorId written : problem.ops[op].writes) {
      uses[written].writer = op;
    }
  }
  return uses;
}

/// Positions [begin, end) at which a tensor must exist.
inline std::pair<planning::OpId, planning::OpId>
getLifetime(const planning::Problem &problem, planning::TensorId tensor,
            const TensorUses &uses) {
  const planning::Tensor &facts = problem.tensors[tensor];
  planning::OpId begin = uses.writer.value_or(0);
  if (facts.kind == planning::TensorKind::Input && !uses.readers.empty()) {
    begin = uses.readers.front();
  }
  planning::OpId end = uses.writer.value_or(begin) + 1;
  if (!uses.readers.empty()) {
    end = std::max(end, uses.readers.back() + 1);
  }
  if (facts.liveOut) {
    end = problem.ops.size();
  }
  return {begin, end};
}

/// Time of the op by its fastest kernel.
inline int64_t getTimeNs(const planning::Op &op) {
  int64_t best = op.choices.front().timeNs;
  for (const planning::KernelChoice &choice : op.choices) {
    best = std::min(best, choice.timeNs);
  }
  return best;
}

inline llvm::StringRef getKindName(planning::TensorKind kind) {
  switch (kind) {
  case planning::TensorKind::Input:
    return "input";
  case planning::TensorKind::Output:
    return "output";
  case planning::TensorKind::Parameter:
    return "parameter";
  case planning::TensorKind::State:
    return "state";
  case planning::TensorKind::Gradient:
    return "gradient";
  case planning::TensorKind::Activation:
    return "activation";
  }
  llvm_unreachable("unknown kind of a tensor");
}

} // namespace vdnn

#endif
