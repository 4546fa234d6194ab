//===- PrintLifetimes.cpp - bytes, life and uses of tensors ---------------===//

#include "PrintSupport.h"

namespace vdnn {
#define GEN_PASS_DEF_PRINTLIFETIMES
#include "vdnn/Analysis/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {
struct PrintLifetimesPass : vdnn::impl::PrintLifetimesBase<PrintLifetimesPass> {
  void runOnOperation() override {
    FailureOr<PlanningProblem> step =
        buildPlanningProblem(getOperation(), /*allowUnknownCost=*/true);
    if (failed(step)) {
      return signalPassFailure();
    }
    const planning::Problem &problem = step->problem;
    std::vector<TensorUses> uses = findUses(problem);
    llvm::errs() << "lifetimes of '" << getOperation().getName()
                 << "': " << problem.tensors.size() << " tensors, "
                 << problem.ops.size() << " ops\n";
    for (planning::TensorId id = 0; id < problem.tensors.size(); ++id) {
      const planning::Tensor &tensor = problem.tensors[id];
      auto [begin, end] = getLifetime(problem, id, uses[id]);
      llvm::errs() << "  " << tensor.name << ": " << getKindName(tensor.kind)
                   << ", " << tensor.bytes << " bytes, lives [" << begin << ", "
                   << end << ')';
      if (uses[id].writer) {
        llvm::errs() << ", written by " << *uses[id].writer;
      }
      if (!uses[id].readers.empty()) {
        llvm::errs() << ", read by ";
        llvm::interleaveComma(uses[id].readers, llvm::errs());
      }
      if (tensor.tiedTo) {
        llvm::errs() << ", replaces " << problem.tensors[*tensor.tiedTo].name;
      }
      llvm::errs() << '\n';
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
