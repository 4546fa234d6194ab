//===- PrintWorkingSet.cpp - live bytes at each op ------------------------===//

#include "PrintSupport.h"

namespace vdnn {
#define GEN_PASS_DEF_PRINTWORKINGSET
#include "vdnn/Analysis/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {
struct PrintWorkingSetPass
    : vdnn::impl::PrintWorkingSetBase<PrintWorkingSetPass> {
  void runOnOperation() override;
};
} // namespace

void PrintWorkingSetPass::runOnOperation() {
  FailureOr<PlanningProblem> step =
      buildPlanningProblem(getOperation(), /*allowUnknownCost=*/true);
  if (failed(step)) {
    return signalPassFailure();
  }
  const planning::Problem &problem = step->problem;
  std::vector<TensorUses> uses = findUses(problem);
  std::vector<uint64_t> live(problem.ops.size(), 0);
  SmallVector<std::pair<planning::OpId, planning::OpId>> lives;
  for (planning::TensorId id = 0; id < problem.tensors.size(); ++id) {
    auto life = getLifetime(problem, id, uses[id]);
    // A new value takes the place of the old one and adds no bytes while both
    // are there.
    if (std::optional<planning::TensorId> old = problem.tensors[id].tiedTo) {
      life.first = std::max(life.first, lives[*old].second);
    }
    lives.push_back(life);
    for (planning::OpId op = life.first; op < life.second; ++op) {
      live[op] += problem.tensors[id].bytes;
    }
  }
  planning::OpId peak = llvm::max_element(live) - live.begin();
  llvm::errs() << "working set of '" << getOperation().getName() << "'\n";
  for (planning::OpId op = 0; op < problem.ops.size(); ++op) {
    llvm::errs() << "  " << op << ": " << live[op] << " bytes at "
                 << problem.ops[op].name << (op == peak ? " <- peak" : "")
                 << '\n';
  }
  if (problem.ops.empty()) {
    return markAllAnalysesPreserved();
  }
  SmallVector<planning::TensorId> there;
  for (planning::TensorId id = 0; id < problem.tensors.size(); ++id) {
    if (lives[id].first <= peak && peak < lives[id].second) {
      there.push_back(id);
    }
  }
  llvm::stable_sort(there, [&](planning::TensorId a, planning::TensorId b) {
    return problem.tensors[a].bytes > problem.tensors[b].bytes;
  });
  llvm::errs() << "the peak of " << live[peak] << " bytes is made of\n";
  for (planning::TensorId id : there) {
    llvm::errs() << "  " << problem.tensors[id].bytes << " bytes "
                 << getKindName(problem.tensors[id].kind) << ' '
                 << problem.tensors[id].name << '\n';
  }
  markAllAnalysesPreserved();
}
