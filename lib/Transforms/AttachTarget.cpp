//===- AttachTarget.cpp - the device and the budgets that a module is planned
// for -----------------------===//

#include "vdnn/Analysis/PlanningProblem.h"
#include "vdnn/Cost/CostModel.h"
#include "vdnn/Transforms/Passes.h"

namespace vdnn {
#define GEN_PASS_DEF_ATTACHTARGET
#include "vdnn/Transforms/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {
struct AttachTargetPass : vdnn::impl::AttachTargetBase<AttachTargetPass> {
  using AttachTargetBase::AttachTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (budget < 0 || hostBudget < 0) {
      module.emitError("a budget is negative");
      return signalPassFailure();
    }
    rt::Error error;
    std::unique_ptr<CostModel> model =
        createCostModel({device.getValue(), threads, precision.getValue(),
                         allowNondeterministic},
                        error);
    if (!model) {
      module.emitError(error.message);
      return signalPassFailure();
    }
    Target target;
    target.device = device.getValue();
    target.threads = threads;
    target.precision = precision.getValue();
    target.allowNondeterministic = allowNondeterministic;
    target.kind = model->device().kind;
    target.name = model->device().name;
    target.fingerprint = model->device().fingerprint;
    target.link = model->link();
    target.overheadBytes = model->device().overheadBytes;
    target.hostBytesPerTableByte = model->device().hostBytesPerTableByte;
    target.budget = budget;
    target.hostBudget = hostBudget;
    target.poolsPlanes = model->device().poolsPlanes;
    target.prefersPlanes = model->device().prefersPlanes;
    target.stagesInputs = model->device().stagesInputs;
    setTarget(module, target);
  }
};
} // namespace
