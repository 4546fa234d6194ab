//===- SelectKernels.cpp - how the device can compute each op -------------===//

#include "vdnn/Analysis/PlanningProblem.h"
#include "vdnn/Cost/CostModel.h"
#include "vdnn/Transforms/Passes.h"

namespace vdnn {
#define GEN_PASS_DEF_SELECTKERNELS
#include "vdnn/Transforms/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

/// Leaves out each choice that another one beats in time and in workspace (of
/// two equal ones the deterministic one stays, or the first).
static std::vector<planning::KernelChoice>
removeBeaten(const std::vector<planning::KernelChoice> &all) {
  std::vector<planning::KernelChoice> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    bool beaten = false;
    for (size_t j = 0; j < all.size(); ++j) {
      bool noWorse = all[j].timeNs <= all[i].timeNs &&
                     all[j].workspaceBytes <= all[i].workspaceBytes;
      auto place = [&](size_t k) {
        return std::pair(all[k].nondeterministic, k);
      };
      bool better = all[j].timeNs < all[i].timeNs ||
                    all[j].workspaceBytes < all[i].workspaceBytes ||
                    place(j) < place(i);
      beaten |= j != i && noWorse && better;
    }
    if (!beaten) {
      kept.push_back(all[i]);
    }
  }
  return kept;
}

namespace {
struct SelectKernelsPass : vdnn::impl::SelectKernelsBase<SelectKernelsPass> {
  void runOnOperation() override {
    func::FuncOp step = getOperation();
    auto module = step->getParentOfType<ModuleOp>();
    FailureOr<Target> target = getTarget(module);
    if (failed(target)) {
      return signalPassFailure();
    }
    rt::Error error;
    std::unique_ptr<CostModel> model =
        createCostModel({target->device, target->threads, target->precision,
                         target->allowNondeterministic},
                        error);
    if (!model) {
      module.emitError(error.message);
      return signalPassFailure();
    }
    bool failed = false;
    size_t kernels = 0, estimated = 0;
    for (Operation &op : step.getBody().getOps()) {
      if (!isa<ComputeOp>(op) || isa<ConstantOp>(op) || isViewOp(&op)) {
        continue;
      }
      rt::Result<std::vector<planning::KernelChoice>> choices =
          model->choices(&op);
      if (!choices.ok()) {
        op.emitOpError() << "cannot be computed by '" << target->name
                         << "': " << choices.message();
        failed = true;
        continue;
      }
      setChoices(&op, removeBeaten(*choices));
      ++kernels;
      estimated += model->lacksMeasurement(&op);
    }
    if (failed) {
      return signalPassFailure();
    }
    if (estimated > 0) {
      module.emitRemark() << "the profile has " << kernels - estimated << " of "
                          << kernels
                          << " kernels in a way that may run; the others' "
                             "times are estimates: vdnn-profile --update "
                             "measures them, --max-workspace permitting";
    }
  }
};
} // namespace
