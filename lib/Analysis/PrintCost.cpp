//===- PrintCost.cpp - the kernels of each op with workspace and time -----===//

#include "PrintSupport.h"

namespace vdnn {
#define GEN_PASS_DEF_PRINTCOST
#include "vdnn/Analysis/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {
struct PrintCostPass : vdnn::impl::PrintCostBase<PrintCostPass> {
  void runOnOperation() override {
    FailureOr<PlanningProblem> step =
        buildPlanningProblem(getOperation(), /*allowUnknownCost=*/false);
    if (failed(step)) {
      return signalPassFailure();
    }
    int64_t total = 0;
    for (const planning::Op &op : step->problem.ops) {
      total += getTimeNs(op);
    }
    llvm::errs() << "cost of '" << getOperation().getName() << "': at least "
                 << total << " ns\n";
    for (auto [number, op] : llvm::enumerate(step->problem.ops)) {
      llvm::errs() << "  " << number << ": " << op.name;
      for (const planning::KernelChoice &choice : op.choices) {
        llvm::errs() << " | "
                     << (choice.algorithm.empty() ? "default"
                                                  : choice.algorithm)
                     << ' ' << choice.timeNs << " ns, " << choice.workspaceBytes
                     << " bytes";
      }
      llvm::errs() << '\n';
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
