//===- PlanTransfers.cpp - runs a policy ----------------------------------===//

#include "vdnn/Analysis/PlanningProblem.h"
#include "vdnn/Planning/Staging.h"
#include "vdnn/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace vdnn {
#define GEN_PASS_DEF_PLANTRANSFERS
#include "vdnn/Transforms/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {

/// Writes a solution into the step that its problem was built from.
class SolutionWriter {
public:
  SolutionWriter(func::FuncOp step, const PlanningProblem &planned,
                 const planning::Solution &solution)
      : step(step), planned(planned), solution(solution),
        builder(step.getContext()), copies(planned.values.size()) {}

  void write() {
    writeKernels();
    writeDecisions();
    writeTransfers();
    removeDeadViews();
  }

private:
  void writeKernels();
  void writeDecisions();
  void writeTransfers();
  void writeTransfersAt(planning::OpId position);
  void redirectOperands(Operation *user);
  Value getCurrent(Value value);
  void removeDeadViews();

  /// The values of one transfer, as far as they have been written.
  struct Round {
    Value host;
    Value done;
  };
  /// The last copy of a tensor that came back, and the views made of it.
  struct Copy {
    Value value;
    llvm::DenseMap<Value, Value> views;
  };

  func::FuncOp step;
  const PlanningProblem &planned;
  const planning::Solution &solution;
  OpBuilder builder;
  std::vector<Copy> copies;
  std::vector<Round> rounds;
};

} // namespace

void SolutionWriter::writeKernels() {
  for (auto [position, op] : llvm::enumerate(planned.ops)) {
    const planning::KernelChoice &choice =
        planned.problem.ops[position].choices[solution.choice[position]];
    op->removeAttr("vdnn.choices");
    op->setAttr("vdnn.algorithm", builder.getStringAttr(choice.algorithm));
    op->setAttr("vdnn.workspace",
                builder.getI64IntegerAttr(choice.workspaceBytes));
    op->setAttr("vdnn.time_ns", builder.getI64IntegerAttr(choice.timeNs));
    if (choice.nondeterministic) {
      op->setAttr("vdnn.nondeterministic", builder.getUnitAttr());
    }
  }
}

void SolutionWriter::writeDecisions() {
  auto decision = [&](planning::TensorId tensor) {
    return DecisionAttr::get(step.getContext(),
                             toDecision(solution.tensors[tensor].residence));
  };
  for (BlockArgument argument : step.getArguments()) {
    planning::TensorId tensor = planned.tensorOf.lookup(argument);
    unsigned number = argument.getArgNumber();
    step.setArgAttr(number, "vdnn.decision", decision(tensor));
    step.setArgAttr(number, "vdnn.reason",
                    builder.getStringAttr(solution.tensors[tensor].reason));
    if (planned.problem.tensors[tensor].staged) {
      step.setArgAttr(number, "vdnn.staged", builder.getUnitAttr());
    }
  }
  for (ConstantOp constant : step.getBody().getOps<ConstantOp>()) {
    planning::TensorId tensor = planned.tensorOf.lookup(constant.getResult());
    constant->setAttr("vdnn.reason",
                      builder.getStringAttr(solution.tensors[tensor].reason));
  }
  for (auto [position, op] : llvm::enumerate(planned.ops)) {
    SmallVector<Attribute> decisions;
    SmallVector<Attribute> reasons;
    for (planning::TensorId tensor : planned.problem.ops[position].writes) {
      decisions.push_back(decision(tensor));
      reasons.push_back(builder.getStringAttr(solution.tensors[tensor].reason));
    }
    op->setAttr("vdnn.decisions", builder.getArrayAttr(decisions));
    op->setAttr("vdnn.reasons", builder.getArrayAttr(reasons));
  }
}

void SolutionWriter::writeTransfers() {
  rounds.resize(solution.transfers.size());
  for (planning::OpId position = 0; position < planned.ops.size(); ++position) {
    builder.setInsertionPoint(planned.ops[position]);
    writeTransfersAt(position);
    redirectOperands(planned.ops[position]);
  }
  Operation *terminator = step.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  writeTransfersAt(planned.ops.size());
  redirectOperands(terminator);
}

/// All that happens before the op at one position. What ends here comes before
/// what begins here, but for an offload whose release is here too.
void SolutionWriter::writeTransfersAt(planning::OpId position) {
  const std::vector<planning::Transfer> &transfers = solution.transfers;
  Location location = step.getLoc();
  auto offload = [&](size_t number) {
    planning::TensorId tensor = transfers[number].tensor;
    auto op = builder.create<OffloadOp>(
        location,
        TypeRange{HostType::get(
                      step.getContext(),
                      cast<RankedTensorType>(planned.values[tensor].getType())),
                  TokenType::get(step.getContext())},
        ValueRange{getCurrent(planned.values[tensor])});
    rounds[number] = {op.getHost(), op.getDone()};
  };
  for (size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].offloadAt == position &&
        transfers[i].releaseAt == position) {
      offload(i);
    }
  }
  for (size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].releaseAt == position) {
      builder.create<ReleaseOp>(location,
                                getCurrent(planned.values[transfers[i].tensor]),
                                rounds[i].done);
    }
  }
  if (llvm::is_contained(solution.barriers, position)) {
    builder.create<BarrierOp>(location);
  }
  for (size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].offloadAt == position &&
        transfers[i].releaseAt != position) {
      offload(i);
    }
  }
  for (size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].prefetchAt == position) {
      planning::TensorId tensor = transfers[i].tensor;
      auto op = builder.create<PrefetchOp>(
          location, planned.values[tensor].getType(), rounds[i].host);
      copies[tensor].value = op.getX();
      copies[tensor].views.clear();
    }
  }
}

/// The value that holds the tensor of `value` now: itself, or a view of the
/// copy that came back, made at the builder's place.
Value SolutionWriter::getCurrent(Value value) {
  auto tensor = planned.tensorOf.find(value);
  if (tensor == planned.tensorOf.end() || !copies[tensor->second].value) {
    return value;
  }
  Copy &copy = copies[tensor->second];
  if (value == planned.values[tensor->second]) {
    return copy.value;
  }
  if (auto known = copy.views.find(value); known != copy.views.end()) {
    return known->second;
  }
  Operation *view = value.getDefiningOp();
  IRMapping mapping;
  mapping.map(view->getOperand(0), getCurrent(view->getOperand(0)));
  Value result = builder.clone(*view, mapping)->getResult(0);
  copy.views[value] = result;
  return result;
}

void SolutionWriter::redirectOperands(Operation *user) {
  for (OpOperand &operand : user->getOpOperands()) {
    operand.set(getCurrent(operand.get()));
  }
}

void SolutionWriter::removeDeadViews() {
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(step.getBody().front().getOperations()))) {
    if (isViewOp(&op) && op.use_empty()) {
      op.erase();
    }
  }
}

/// Staging pays in training, on devices that say so. The paper's barriers are
/// for comparison with its own copies.
static planning::Inputs getDefaultInputs(func::FuncOp step,
                                         const planning::Problem &problem,
                                         planning::Sync sync) {
  bool training = llvm::any_of(problem.ops, [](const planning::Op &op) {
    return op.phase == planning::Phase::Update;
  });
  auto module = step->getParentOfType<ModuleOp>();
  if (!training || sync == planning::Sync::Layer || !module ||
      !module->hasAttr("vdnn.target")) {
    return planning::Inputs::Direct;
  }
  FailureOr<Target> target = getTarget(module);
  return succeeded(target) && target->stagesInputs ? planning::Inputs::Auto
                                                   : planning::Inputs::Direct;
}

namespace {
struct PlanTransfersPass : vdnn::impl::PlanTransfersBase<PlanTransfersPass> {
  using PlanTransfersBase::PlanTransfersBase;

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    const planning::Policy *chosen = planning::findPolicy(policy.getValue());
    if (!chosen) {
      auto error = step.emitError()
                   << "unknown policy '" << policy << "', expected one of";
      for (const planning::Policy *known : planning::policies()) {
        error << " '" << known->name() << "'";
      }
      return signalPassFailure();
    }
    if (kernels != "memory" && kernels != "performance") {
      step.emitError() << "unknown preference of kernels '" << kernels
                       << "', expected 'memory' or 'performance'";
      return signalPassFailure();
    }
    if (sync != "event" && sync != "layer") {
      step.emitError() << "unknown synchronisation '" << sync
                       << "', expected 'event' or 'layer'";
      return signalPassFailure();
    }
    if (inputs != "auto" && inputs != "staged" && inputs != "direct") {
      step.emitError() << "unknown way of inputs '" << inputs
                       << "', expected 'auto', 'staged' or 'direct'";
      return signalPassFailure();
    }
    FailureOr<PlanningProblem> planned =
        buildPlanningProblem(step, /*allowUnknownCost=*/false);
    if (failed(planned)) {
      return signalPassFailure();
    }
    if (planned->hasSolution) {
      step.emitError(
          "has been planned already; start again from its step form");
      return signalPassFailure();
    }
    planning::PolicyOptions options;
    options.kernels = kernels == "memory"
                          ? planning::KernelPreference::Memory
                          : planning::KernelPreference::Performance;
    options.sync =
        sync == "layer" ? planning::Sync::Layer : planning::Sync::Event;
    planning::Inputs way =
        inputs == "staged" ? planning::Inputs::Staged
        : inputs == "direct"
            ? planning::Inputs::Direct
            : getDefaultInputs(step, planned->problem, options.sync);
    planning::Solution solution =
        planning::planWithInputs(planned->problem, *chosen, options, way);
    if (failed(verifySolution(step, planned->problem, solution,
                              "policy '" + policy.getValue() +
                                  "' gave a wrong plan"))) {
      return signalPassFailure();
    }
    SolutionWriter(step, *planned, solution).write();
    Builder builder(step.getContext());
    step->setAttr("vdnn.policy",
                  builder.getStringAttr(policy.getValue() + "(" +
                                        kernels.getValue().substr(0, 1) + ")"));
    step->setAttr("vdnn.sync", builder.getStringAttr(sync.getValue()));
  }
};
} // namespace
