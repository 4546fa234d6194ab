//===- PrintOrder.cpp - the ops in execution order ------------------------===//

#include "PrintSupport.h"

namespace vdnn {
#define GEN_PASS_DEF_PRINTORDER
#include "vdnn/Analysis/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

static StringRef getPhaseName(planning::Phase phase) {
  switch (phase) {
  case planning::Phase::Forward:
    return "forward";
  case planning::Phase::Backward:
    return "backward";
  case planning::Phase::Update:
    return "update";
  }
  llvm_unreachable("unknown phase");
}

static void printTensors(raw_ostream &stream, const planning::Problem &problem,
                         const std::vector<planning::TensorId> &tensors) {
  llvm::interleaveComma(tensors, stream, [&](planning::TensorId tensor) {
    stream << problem.tensors[tensor].name;
  });
}

namespace {
struct PrintOrderPass : vdnn::impl::PrintOrderBase<PrintOrderPass> {
  void runOnOperation() override {
    FailureOr<PlanningProblem> step =
        buildPlanningProblem(getOperation(), /*allowUnknownCost=*/true);
    if (failed(step)) {
      return signalPassFailure();
    }
    const planning::Problem &problem = step->problem;
    llvm::errs() << "order of '" << getOperation().getName()
                 << "': " << problem.ops.size() << " ops\n";
    for (planning::OpId op = 0; op < problem.ops.size(); ++op) {
      const planning::Op &current = problem.ops[op];
      llvm::errs() << "  " << op << ": "
                   << step->ops[op]->getName().stripDialect() << " layer "
                   << current.layer << ' ' << getPhaseName(current.phase)
                   << " reads (";
      printTensors(llvm::errs(), problem, current.reads);
      llvm::errs() << ") writes (";
      printTensors(llvm::errs(), problem, current.writes);
      llvm::errs() << ")\n";
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
