//===- PlanningProblem.cpp - a step in the IR -> the planners' problem and
// solution ---------------------===//

#include "ProblemBuilder.h"

#include "vdnn/Dialect/Shapes.h"

using namespace mlir;
using namespace vdnn;

planning::Residence vdnn::toResidence(Decision decision) {
  switch (decision) {
  case Decision::Keep:
    return planning::Residence::Keep;
  case Decision::Offload:
    return planning::Residence::Offload;
  case Decision::Recompute:
    return planning::Residence::Recompute;
  }
  llvm_unreachable("unknown decision");
}

Decision vdnn::toDecision(planning::Residence residence) {
  switch (residence) {
  case planning::Residence::Keep:
    return Decision::Keep;
  case planning::Residence::Offload:
    return Decision::Offload;
  case planning::Residence::Recompute:
    return Decision::Recompute;
  }
  llvm_unreachable("unknown residence");
}

LogicalResult vdnn::verifySolution(func::FuncOp step,
                                   const planning::Problem &problem,
                                   const planning::Solution &solution,
                                   const Twine &what) {
  std::vector<std::string> errors = planning::verify(problem, solution);
  for (const std::string &error : errors) {
    // Not on the op: the whole step as a note would hide the message.
    emitError(step.getLoc()) << what << ": " << error;
  }
  return success(errors.empty());
}

std::string ProblemBuilder::unique(const Twine &name) {
  std::string base = name.str();
  std::string candidate = base;
  for (unsigned suffix = 1; !names.insert(candidate).second; ++suffix) {
    candidate = base + "." + std::to_string(suffix);
  }
  return candidate;
}

planning::TensorId ProblemBuilder::addTensor(Value value, const Twine &name,
                                             planning::TensorKind kind) {
  planning::Tensor tensor;
  StringAttr outputName = reserved.lookup(value);
  tensor.name = outputName ? outputName.str() : unique(name);
  tensor.bytes = tensorBytes(cast<RankedTensorType>(value.getType()));
  tensor.kind = kind;
  planning::TensorId id = out.problem.tensors.size();
  out.problem.tensors.push_back(std::move(tensor));
  out.solution.tensors.emplace_back();
  out.values.push_back(value);
  out.gradientOf.emplace_back();
  out.tensorOf[value] = id;
  return id;
}

FailureOr<planning::TensorId> ProblemBuilder::lookup(Operation *user,
                                                     Value value) {
  auto found = out.tensorOf.find(value);
  if (found == out.tensorOf.end()) {
    return user->emitOpError() << "reads a value of type '" << value.getType()
                               << "' that is no tensor of the step";
  }
  return found->second;
}

LogicalResult ProblemBuilder::addArguments() {
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = step.getArgAttrOfType<StringAttr>(number, "vdnn.name");
    auto role = step.getArgAttrOfType<StringAttr>(number, "vdnn.role");
    if (!isa<RankedTensorType>(argument.getType()) || !name || !role) {
      return step.emitOpError()
             << "argument " << number
             << " is no tensor with 'vdnn.name' and 'vdnn.role'";
    }
    planning::TensorKind kind;
    if (role.getValue() == "input") {
      kind = planning::TensorKind::Input;
    } else if (role.getValue() == "parameter") {
      kind = planning::TensorKind::Parameter;
    } else if (role.getValue() == "state") {
      kind = planning::TensorKind::State;
    } else {
      return step.emitOpError()
             << "argument '" << name.getValue() << "' has the role '"
             << role.getValue()
             << "', expected 'input', 'parameter' or 'state'";
    }
    if (names.contains(name.getValue())) {
      return step.emitOpError()
             << "has two arguments named '" << name.getValue() << "'";
    }
    planning::TensorId id = addTensor(argument, name.getValue(), kind);
    if (kind != planning::TensorKind::Input) {
      out.problem.tensors[id].liveIn = true;
      out.problem.tensors[id].liveOut = true;
      persistent[name.getValue()] = id;
    }
    out.problem.tensors[id].staged =
        static_cast<bool>(step.getArgAttr(number, "vdnn.staged"));
    if (auto decision =
            step.getArgAttrOfType<DecisionAttr>(number, "vdnn.decision")) {
      out.solution.tensors[id].residence = toResidence(decision.getValue());
    }
    if (auto reason =
            step.getArgAttrOfType<StringAttr>(number, "vdnn.reason")) {
      out.solution.tensors[id].reason = reason.str();
    }
  }
  return success();
}

LogicalResult ProblemBuilder::tie(unsigned result, planning::TensorId tensor,
                                  StringRef name) {
  auto old = persistent.find(name);
  if (old == persistent.end()) {
    return step.emitOpError()
           << "result " << result << " updates '" << name
           << "', which is no parameter or state among the arguments";
  }
  if (old->second == tensor) {
    return success();
  }
  planning::Tensor &updated = out.problem.tensors[tensor];
  if (updated.liveIn || updated.liveOut || updated.tiedTo ||
      updated.kind == planning::TensorKind::Input) {
    return step.emitOpError()
           << "result " << result << ", the new value of '" << name
           << "', is a value that stays for another reason too; run "
              "'vdnn-assign-layouts' first";
  }
  planning::Tensor &before = out.problem.tensors[old->second];
  updated.kind = before.kind;
  updated.liveOut = true;
  updated.tiedTo = old->second;
  before.liveOut = false;
  return success();
}

/// Users ask for outputs by name, so inner values of the same name give way.
void ProblemBuilder::reserveOutputs() {
  Operation *terminator = step.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (number >= step.getNumResults()) {
      return;
    }
    auto name = step.getResultAttrOfType<StringAttr>(number, "vdnn.name");
    auto role = step.getResultAttrOfType<StringAttr>(number, "vdnn.role");
    if (!name || !role || role.getValue() != "output" ||
        !names.insert(name.getValue()).second) {
      continue;
    }
    reservedResults.insert(number);
    Value value = operand.get();
    while (Operation *op = value.getDefiningOp()) {
      if (!isViewOp(op)) {
        break;
      }
      value = op->getOperand(0);
    }
    reserved.insert({value, name});
  }
}

LogicalResult ProblemBuilder::addResults(Operation *terminator) {
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto name = step.getResultAttrOfType<StringAttr>(number, "vdnn.name");
    auto role = step.getResultAttrOfType<StringAttr>(number, "vdnn.role");
    FailureOr<planning::TensorId> id = lookup(terminator, operand.get());
    if (failed(id)) {
      return failure();
    }
    if (!name || !role ||
        (role.getValue() != "output" && role.getValue() != "update")) {
      return step.emitOpError()
             << "result " << number
             << " lacks 'vdnn.name' or a 'vdnn.role' of 'output' or 'update'";
    }
    out.results.push_back(*id);
    if (role.getValue() == "update") {
      if (failed(tie(number, *id, name.getValue()))) {
        return failure();
      }
      continue;
    }
    planning::Tensor &tensor = out.problem.tensors[*id];
    if (tensor.liveIn || tensor.liveOut ||
        tensor.kind == planning::TensorKind::Input) {
      return step.emitOpError()
             << "output '" << name.getValue() << "' is the tensor '"
             << tensor.name
             << "' itself; run 'vdnn-assign-layouts' to give it a value of its "
                "own";
    }
    tensor.kind = planning::TensorKind::Output;
    tensor.liveOut = true;
    // A value that was copied back by hand gets its name only now.
    if (tensor.name != name.getValue()) {
      names.erase(tensor.name);
      tensor.name = reservedResults.contains(number) ? name.str()
                                                     : unique(name.getValue());
    }
  }
  return success();
}

/// The transfer ops count, not what was once decided: people move and remove
/// them.
void ProblemBuilder::readResidences() {
  std::vector<bool> transferred(out.problem.tensors.size(), false);
  for (const planning::Transfer &transfer : out.solution.transfers) {
    transferred[transfer.tensor] = true;
  }
  for (planning::TensorId id = 0; id < out.problem.tensors.size(); ++id) {
    planning::TensorDecision &decision = out.solution.tensors[id];
    bool offloaded = decision.residence == planning::Residence::Offload;
    if (offloaded != transferred[id] &&
        decision.residence != planning::Residence::Recompute) {
      decision.residence = transferred[id] ? planning::Residence::Offload
                                           : planning::Residence::Keep;
      decision.reason = "by hand";
    }
  }
}

LogicalResult ProblemBuilder::finish() {
  for (planning::Transfer &transfer : out.solution.transfers) {
    if (transfer.neededAt == UINT32_MAX) {
      return step.emitOpError()
             << "tensor '" << out.problem.tensors[transfer.tensor].name
             << "' leaves the device and is not released, copied back and "
                "read again";
    }
  }
  readResidences();
  // An op that reads a persistent tensor and writes its new value computes in
  // place: the new value must lie where the old one lay.
  for (planning::Op &op : out.problem.ops) {
    for (planning::TensorId written : op.writes) {
      std::optional<planning::TensorId> tied =
          out.problem.tensors[written].tiedTo;
      if (tied && llvm::is_contained(op.reads, *tied) &&
          llvm::none_of(op.inPlace, [&](planning::InPlacePair pair) {
            return pair.from == *tied && pair.to == written;
          })) {
        op.inPlace.push_back({*tied, written});
      }
    }
  }
  llvm::sort(out.solution.transfers, [](const planning::Transfer &a,
                                        const planning::Transfer &b) {
    return std::tie(a.offloadAt, a.tensor) < std::tie(b.offloadAt, b.tensor);
  });
  out.hasSolution = withKernel == out.problem.ops.size();
  if (out.hasSolution) {
    out.solution.choice.assign(out.problem.ops.size(), 0);
  } else if (withKernel > 0) {
    return step.emitOpError("has kernels on some of its ops only; run "
                            "'vdnn-plan-transfers' first");
  }
  auto module = step->getParentOfType<ModuleOp>();
  if (module && module->hasAttr("vdnn.target")) {
    FailureOr<Target> target = getTarget(module);
    if (failed(target)) {
      return failure();
    }
    out.problem.link = target->link;
    out.problem.alignment = target->alignment;
    if (target->budget != 0) {
      // What the host arena will hold is not known yet, but it is no more than
      // all tensors.
      uint64_t all = 0;
      for (const planning::Tensor &tensor : out.problem.tensors) {
        all += tensor.bytes;
      }
      uint64_t overhead = target->getOverhead(all);
      out.problem.deviceBudget =
          target->budget > overhead ? target->budget - overhead : 0;
    }
    if (target->hostBudget != 0) {
      out.problem.hostBudget = target->hostBudget;
    }
  }
  std::vector<std::string> errors = planning::check(out.problem);
  for (const std::string &error : errors) {
    step.emitOpError() << "cannot be planned: " << error;
  }
  return success(errors.empty());
}

FailureOr<PlanningProblem> ProblemBuilder::build() {
  if (!llvm::hasSingleElement(step.getBody())) {
    return step.emitOpError("is not one block of straight code");
  }
  if (failed(addArguments())) {
    return failure();
  }
  reserveOutputs();
  for (Operation &op : step.getBody().front()) {
    if (failed(addOp(&op))) {
      return failure();
    }
  }
  if (failed(finish())) {
    return failure();
  }
  return std::move(out);
}

FailureOr<PlanningProblem> vdnn::buildPlanningProblem(func::FuncOp step,
                                                      bool allowUnknownCost) {
  return ProblemBuilder(step, allowUnknownCost).build();
}
