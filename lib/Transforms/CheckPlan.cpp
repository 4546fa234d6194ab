//===- CheckPlan.cpp - proves plans in the IR -===//

#include "vdnn/Target/Export.h"
#include "vdnn/Transforms/Passes.h"

namespace vdnn {
#define GEN_PASS_DEF_CHECKPLAN
#include "vdnn/Transforms/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {
struct CheckPlanPass : vdnn::impl::CheckPlanBase<CheckPlanPass> {
  void runOnOperation() override {
    for (PlanOp plan : getOperation().getOps<PlanOp>()) {
      if (failed(exportSchedule(plan))) {
        signalPassFailure();
      }
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
