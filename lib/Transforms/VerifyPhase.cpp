//===- VerifyPhase.cpp - what must hold when a phase is over --------------===//

#include "vdnn/Analysis/PlanningProblem.h"
#include "vdnn/Transforms/Passes.h"

#include "llvm/ADT/StringSet.h"

namespace vdnn {
#define GEN_PASS_DEF_VERIFYPHASE
#include "vdnn/Transforms/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {

enum class ClosedPhase { Compute, Step, Transfers, Commands };

/// Collects all violations of one module; each is reported on its op.
class PhaseVerifier {
public:
  PhaseVerifier(ModuleOp module, ClosedPhase phase)
      : module(module), phase(phase) {}

  LogicalResult run() {
    if (phase == ClosedPhase::Commands) {
      checkPlan();
      return success(valid);
    }
    FailureOr<func::FuncOp> found = getStep(module);
    if (failed(found)) {
      return failure();
    }
    step = *found;
    for (Operation &op : module.getBody()->getOperations()) {
      if (&op != step.getOperation()) {
        report(&op) << "stands beside the step; expected one function only";
      }
    }
    if (!llvm::hasSingleElement(step.getBody())) {
      report(step) << "is not one block of straight code";
      return failure();
    }
    checkEnds();
    for (Operation &op : step.getBody().front().without_terminator()) {
      checkOp(&op);
    }
    return success(valid);
  }

private:
  InFlightDiagnostic report(Operation *op) {
    valid = false;
    return op->emitOpError();
  }
  void checkPlan();
  void checkEnds();
  void checkOp(Operation *op);
  void checkLayouts(Operation *op);

  ModuleOp module;
  ClosedPhase phase;
  func::FuncOp step;
  bool valid = true;
};

} // namespace

void PhaseVerifier::checkPlan() {
  unsigned plans = 0;
  for (Operation &op : module.getBody()->getOperations()) {
    if (isa<PlanOp>(op)) {
      ++plans;
    } else {
      report(&op) << "is left beside the plan";
    }
  }
  if (plans != 1) {
    report(module) << "has " << plans << " plans, expected one";
  }
}

/// Names and roles of arguments and results.
void PhaseVerifier::checkEnds() {
  llvm::StringSet<> arguments;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    auto name = step.getArgAttrOfType<StringAttr>(i, "vdnn.name");
    auto role = step.getArgAttrOfType<StringAttr>(i, "vdnn.role");
    if (!isa<RankedTensorType>(step.getArgumentTypes()[i])) {
      report(step) << "argument " << i << " is no ranked tensor";
    }
    if (!name || !role) {
      report(step) << "argument " << i << " lacks 'vdnn.name' or 'vdnn.role'";
      continue;
    }
    if (!arguments.insert(name.getValue()).second) {
      report(step) << "has two arguments named '" << name.getValue() << "'";
    }
    if (!llvm::is_contained({"input", "parameter", "state"}, role.getValue())) {
      report(step) << "argument '" << name.getValue() << "' has the role '"
                   << role.getValue()
                   << "', expected 'input', 'parameter' or 'state'";
    }
  }
  llvm::StringSet<> updated;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto name = step.getResultAttrOfType<StringAttr>(i, "vdnn.name");
    auto role = step.getResultAttrOfType<StringAttr>(i, "vdnn.role");
    if (!name || !role) {
      report(step) << "result " << i << " lacks 'vdnn.name' or 'vdnn.role'";
    } else if (role.getValue() == "update") {
      if (!arguments.contains(name.getValue())) {
        report(step) << "result " << i << " updates '" << name.getValue()
                     << "', which is no argument";
      } else if (!updated.insert(name.getValue()).second) {
        report(step) << "updates '" << name.getValue() << "' twice";
      }
    } else if (role.getValue() != "output") {
      report(step) << "result '" << name.getValue() << "' has the role '"
                   << role.getValue() << "', expected 'output' or 'update'";
    }
  }
}

void PhaseVerifier::checkOp(Operation *op) {
  bool transfer = isa<OffloadOp, ReleaseOp, PrefetchOp, BarrierOp>(op);
  if (transfer) {
    if (phase != ClosedPhase::Transfers) {
      report(op) << "is a transfer op before the transfers are planned";
    }
    return;
  }
  if (!isa<ComputeOp>(op)) {
    report(op) << "is neither a compute op nor a transfer op";
    return;
  }
  if (isa<ConstantOp>(op) || isViewOp(op) || phase == ClosedPhase::Compute) {
    return;
  }
  if (!op->hasAttrOfType<IntegerAttr>("vdnn.layer") ||
      !op->hasAttrOfType<StringAttr>("vdnn.phase")) {
    report(op) << "lacks 'vdnn.layer' or 'vdnn.phase'";
  }
  checkLayouts(op);
  if (phase == ClosedPhase::Transfers &&
      !(op->hasAttrOfType<StringAttr>("vdnn.algorithm") &&
        op->hasAttrOfType<IntegerAttr>("vdnn.workspace") &&
        op->hasAttrOfType<IntegerAttr>("vdnn.time_ns"))) {
    report(op) << "lacks its kernel: 'vdnn.algorithm', 'vdnn.workspace', "
                  "'vdnn.time_ns'";
  }
}

/// All tensors of an op lie in one layout, or all of each parameter in a group
/// of updates; only a reorder changes it.
void PhaseVerifier::checkLayouts(Operation *op) {
  if (isa<ReorderOp>(op)) {
    return;
  }
  auto group = dyn_cast<SGDGroupOp>(op);
  SmallVector<std::optional<Layout>> layouts(
      group ? group.getParameters().size() : 1);
  auto agrees = [&](Type type, unsigned part) {
    std::optional<Layout> &layout = layouts[part];
    if (cast<RankedTensorType>(type).getRank() < 3) {
      return true;
    }
    bool first = !layout;
    layout = layout.value_or(getLayout(type));
    return first || *layout == getLayout(type);
  };
  bool agree = true;
  for (auto [number, type] : llvm::enumerate(op->getOperandTypes())) {
    agree &= agrees(type, group ? group.getParameterOfOperand(number) : 0);
  }
  for (auto [number, type] : llvm::enumerate(op->getResultTypes())) {
    agree &= agrees(type, group ? group.getParameterOfResult(number) : 0);
  }
  if (!agree) {
    report(op) << "mixes layouts; run 'vdnn-assign-layouts'";
  }
}

namespace {
struct VerifyPhasePass : vdnn::impl::VerifyPhaseBase<VerifyPhasePass> {
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    ClosedPhase closed;
    if (phase == "compute") {
      closed = ClosedPhase::Compute;
    } else if (phase == "step") {
      closed = ClosedPhase::Step;
    } else if (phase == "transfers") {
      closed = ClosedPhase::Transfers;
    } else if (phase == "commands") {
      closed = ClosedPhase::Commands;
    } else {
      getOperation().emitError()
          << "unknown phase '" << phase
          << "', expected 'compute', 'step', 'transfers' or 'commands'";
      return signalPassFailure();
    }
    if (failed(PhaseVerifier(getOperation(), closed).run())) {
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
