//===- Staging.cpp - inputs that come in a step ahead ---------------------===//

#include "vdnn/Planning/Staging.h"

#include "vdnn/Planning/Statistics.h"

#include "Costs.h"
#include "Forecast.h"
#include "Uses.h"

#include <algorithm>

namespace vdnn::planning {
namespace {

/// Below this a copy takes some ten microseconds.
constexpr uint64_t SmallestStagedInput = uint64_t(1) << 20;

bool fits(uint64_t bytes, const std::optional<uint64_t> &budget) {
  return !budget || bytes <= *budget;
}

/// What speaks against staging, or nothing.
std::string findObjection(const Problem &problem, const Solution &direct,
                          const Problem &stagedProblem,
                          const Solution &staged) {
  Program program = buildProgram(stagedProblem, staged);
  if (!fits(program.devicePeak, problem.deviceBudget)) {
    return "its arena of " + formatBytes(program.devicePeak) +
           " exceeds the budget";
  }
  if (!fits(program.hostPeak, problem.hostBudget)) {
    return formatBytes(program.hostPeak) +
           " of pinned memory exceed the host budget";
  }
  int64_t copyNs = 0;
  for (const Tensor &tensor : stagedProblem.tensors) {
    copyNs += tensor.staged ? prefetchTime(problem, tensor.bytes) : 0;
  }
  int64_t gainNs = measure(problem, buildProgram(problem, direct)).stepNs -
                   measure(stagedProblem, program).stepNs;
  // Memory on the device is dear.
  return gainNs >= std::max<int64_t>(copyNs / 2, 1)
             ? ""
             : "it would hide too little of the copy";
}

} // namespace

std::vector<TensorId> stageInputs(Problem &problem) {
  std::vector<TensorUses> uses = findUses(problem);
  std::vector<TensorId> chosen;
  for (TensorId id = 0; id < problem.tensors.size(); ++id) {
    Tensor &tensor = problem.tensors[id];
    if (tensor.kind == TensorKind::Input && !uses[id].reads.empty() &&
        tensor.bytes >= SmallestStagedInput) {
      tensor.staged = true;
      chosen.push_back(id);
    }
  }
  return chosen;
}

Solution planWithInputs(Problem &problem, const Policy &policy,
                        const PolicyOptions &options, Inputs inputs) {
  Problem candidate = problem;
  std::vector<TensorId> chosen;
  if (inputs != Inputs::Direct) {
    chosen = stageInputs(candidate);
  }
  if (chosen.empty()) {
    return policy.plan(problem, options);
  }
  Solution staged = policy.plan(candidate, options);
  if (inputs == Inputs::Auto) {
    Solution direct = policy.plan(problem, options);
    std::string objection = findObjection(problem, direct, candidate, staged);
    if (!objection.empty()) {
      for (TensorId id : chosen) {
        direct.tensors[id].reason += "; not staged: " + objection;
      }
      return direct;
    }
  }
  for (TensorId id : chosen) {
    staged.tensors[id].reason =
        "staged: the next step's value comes in beside this step";
  }
  problem = std::move(candidate);
  return staged;
}

} // namespace vdnn::planning
