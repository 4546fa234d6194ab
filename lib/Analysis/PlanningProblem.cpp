//===- PlanningProblem.cpp - a step in the IR -> the planners' problem and
//solution ---------------------===//

#include "vdnn/Analysis/PlanningProblem.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace vdnn;

static planning::OpClass convert(OpClass opClass) {
  switch (opClass) {
  case OpClass::Convolution:
    return planning::OpClass::Convolution;
  case OpClass::Pool:
    return planning::OpClass::Pool;
  case OpClass::Norm:
    return planning::OpClass::Norm;
  case OpClass::Activation:
    return planning::OpClass::Activation;
  case OpClass::FullyConnected:
    return planning::OpClass::FullyConnected;
  case OpClass::Dropout:
    return planning::OpClass::Dropout;
  case OpClass::Loss:
    return planning::OpClass::Loss;
  case OpClass::Update:
    return planning::OpClass::Update;
  case OpClass::Other:
    return planning::OpClass::Other;
  }
  llvm_unreachable("unknown class of an op");
}

static planning::Residence convert(Decision decision) {
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

namespace {

/// Walks a step once, in order, and turns what it meets into tensors, ops and
/// transfers.
class ProblemBuilder {
public:
  ProblemBuilder(func::FuncOp step, bool allowUnknownCost)
      : step(step), allowUnknownCost(allowUnknownCost) {}

  FailureOr<PlanningProblem> build();

private:
  LogicalResult addArguments();
  LogicalResult addOp(Operation *op);
  LogicalResult addCompute(ComputeOp op);
  LogicalResult addKernels(Operation *op, planning::Op &planned);
  void addInPlace(ComputeOp op, planning::Op &planned);
  LogicalResult addTransfer(Operation *op);
  LogicalResult addResults(Operation *terminator);
  LogicalResult tie(unsigned result, planning::TensorId tensor, StringRef name);
  void readResidences();
  LogicalResult finish();

  planning::TensorId addTensor(Value value, const Twine &name,
                               planning::TensorKind kind);
  std::string unique(const Twine &name);
  FailureOr<planning::TensorId> lookup(Operation *user, Value value);

  func::FuncOp step;
  bool allowUnknownCost;
  PlanningProblem out;
  unsigned constants = 0;
  unsigned withKernel = 0;
  llvm::StringSet<> names;
  /// Arguments by name: whose new value an update is.
  llvm::StringMap<planning::TensorId> persistent;
  /// Transfers of `out.solution` by the host value, and whether their copy back
  /// has begun.
  DenseMap<Value, size_t> onHost;
  /// Transfers by the copied-back value, until its first reader is met.
  DenseMap<planning::TensorId, size_t> awaited;
};

} // namespace

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
  tensor.name = unique(name);
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
    if (auto decision =
            step.getArgAttrOfType<DecisionAttr>(number, "vdnn.decision")) {
      out.solution.tensors[id].residence = convert(decision.getValue());
    }
    if (auto reason =
            step.getArgAttrOfType<StringAttr>(number, "vdnn.reason")) {
      out.solution.tensors[id].reason = reason.str();
    }
  }
  return success();
}

LogicalResult ProblemBuilder::addOp(Operation *op) {
  if (isa<OffloadOp, ReleaseOp, PrefetchOp, BarrierOp>(op)) {
    return addTransfer(op);
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    planning::TensorId id =
        addTensor(constant.getResult(), "constant." + Twine(constants++),
                  planning::TensorKind::State);
    out.problem.tensors[id].liveIn = true;
    out.problem.tensors[id].liveOut = true;
    if (auto reason = op->getAttrOfType<StringAttr>("vdnn.reason")) {
      out.solution.tensors[id].reason = reason.str();
    }
    return success();
  }
  if (isViewOp(op)) {
    FailureOr<planning::TensorId> id = lookup(op, op->getOperand(0));
    if (failed(id)) {
      return failure();
    }
    out.tensorOf[op->getResult(0)] = *id;
    // A gradient that is computed under another shape is the viewed tensor.
    if (auto parameter = op->getAttrOfType<StringAttr>("vdnn.gradient_of");
        parameter && out.gradientOf[*id].empty()) {
      out.gradientOf[*id] = parameter.str();
      out.problem.tensors[*id].kind = planning::TensorKind::Gradient;
    }
    return success();
  }
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    return addCompute(compute);
  }
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    return addResults(op);
  }
  return op->emitOpError(
      "is not an op of a step: expected compute and transfer ops only");
}

LogicalResult ProblemBuilder::addKernels(Operation *op, planning::Op &planned) {
  if (auto algorithm = op->getAttrOfType<StringAttr>("vdnn.algorithm")) {
    auto workspace = op->getAttrOfType<IntegerAttr>("vdnn.workspace");
    auto time = op->getAttrOfType<IntegerAttr>("vdnn.time_ns");
    if (!workspace || !time || workspace.getInt() < 0 || time.getInt() < 0) {
      return op->emitOpError("has 'vdnn.algorithm' without 'vdnn.workspace' "
                             "and 'vdnn.time_ns' of at least 0");
    }
    planned.choices.push_back({algorithm.str(),
                               static_cast<uint64_t>(workspace.getInt()),
                               time.getInt()});
    ++withKernel;
    return success();
  }
  auto choices = op->getAttrOfType<ArrayAttr>("vdnn.choices");
  if (!choices) {
    if (!allowUnknownCost) {
      return op->emitOpError(
          "has no 'vdnn.choices'; run 'vdnn-select-kernels' first");
    }
    planned.choices.push_back({});
    return success();
  }
  for (Attribute attribute : choices) {
    auto choice = dyn_cast<DictionaryAttr>(attribute);
    auto algorithm =
        choice ? choice.getAs<StringAttr>("algorithm") : StringAttr();
    auto workspace =
        choice ? choice.getAs<IntegerAttr>("workspace") : IntegerAttr();
    auto time = choice ? choice.getAs<IntegerAttr>("time_ns") : IntegerAttr();
    if (!algorithm || !workspace || !time || workspace.getInt() < 0 ||
        time.getInt() < 0) {
      return op->emitOpError("has a 'vdnn.choices' entry without 'algorithm', "
                             "'workspace' and 'time_ns' of at least 0");
    }
    planned.choices.push_back({algorithm.str(),
                               static_cast<uint64_t>(workspace.getInt()),
                               time.getInt()});
  }
  if (planned.choices.empty()) {
    return op->emitOpError("has an empty 'vdnn.choices'");
  }
  return success();
}

void ProblemBuilder::addInPlace(ComputeOp op, planning::Op &planned) {
  for (auto [operand, result] : op.getInPlacePairs()) {
    planning::TensorId from = planned.reads[operand];
    planning::TensorId to = planned.writes[result];
    // Another operand that views the same bytes under another shape may be read
    // at other positions than this one writes.
    bool clash = false;
    for (Value other : op->getOperands()) {
      clash |= out.tensorOf.lookup(other) == from &&
               other.getType() != op->getOperand(operand).getType();
    }
    if (!clash &&
        out.problem.tensors[from].bytes == out.problem.tensors[to].bytes) {
      planned.inPlace.push_back({from, to});
    }
  }
}

LogicalResult ProblemBuilder::addCompute(ComputeOp op) {
  planning::Op planned;
  planning::OpId position = out.problem.ops.size();
  StringRef mnemonic = op->getName().stripDialect();
  for (Value operand : op->getOperands()) {
    FailureOr<planning::TensorId> id = lookup(op, operand);
    if (failed(id)) {
      return failure();
    }
    planned.reads.push_back(*id);
    if (auto transfer = awaited.find(*id); transfer != awaited.end()) {
      out.solution.transfers[transfer->second].neededAt = position;
      awaited.erase(transfer);
    }
  }
  auto resultNames = op->getAttrOfType<ArrayAttr>("vdnn.names");
  auto gradients = op->getAttrOfType<ArrayAttr>("vdnn.gradients");
  auto decisions = op->getAttrOfType<ArrayAttr>("vdnn.decisions");
  auto reasons = op->getAttrOfType<ArrayAttr>("vdnn.reasons");
  for (const ArrayAttr &list : {resultNames, gradients, decisions, reasons}) {
    if (list && list.size() != op->getNumResults()) {
      return op->emitOpError()
             << "has an attribute of " << list.size() << " entries for its "
             << op->getNumResults() << " results";
    }
  }
  for (OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber();
    StringAttr given =
        resultNames ? dyn_cast<StringAttr>(resultNames[number]) : StringAttr();
    std::string gradientOf;
    if (auto one = op->getAttrOfType<StringAttr>("vdnn.gradient_of");
        one && number == 0) {
      gradientOf = one.str();
    } else if (gradients) {
      if (auto name = dyn_cast<StringAttr>(gradients[number])) {
        gradientOf = name.str();
      }
    }
    std::string name = mnemonic.str() + "." + std::to_string(position) + "." +
                       std::to_string(number);
    if (given && !given.getValue().empty()) {
      name = given.str();
    } else if (!gradientOf.empty()) {
      name = gradientOf + ".grad";
    }
    planning::TensorId id =
        addTensor(result, name,
                  gradientOf.empty() ? planning::TensorKind::Activation
                                     : planning::TensorKind::Gradient);
    out.gradientOf[id] = gradientOf;
    planned.writes.push_back(id);
    if (decisions) {
      if (auto decision = dyn_cast<DecisionAttr>(decisions[number])) {
        out.solution.tensors[id].residence = convert(decision.getValue());
      }
    }
    if (reasons) {
      if (auto reason = dyn_cast<StringAttr>(reasons[number])) {
        out.solution.tensors[id].reason = reason.str();
      }
    }
  }
  planned.name = planned.writes.empty()
                     ? mnemonic.str() + "." + std::to_string(position)
                     : out.problem.tensors[planned.writes.front()].name + " (" +
                           mnemonic.str() + ")";
  planned.opClass = convert(op.getOpClass());
  if (auto layer = op->getAttrOfType<IntegerAttr>("vdnn.layer")) {
    planned.layer = layer.getInt();
  }
  if (auto phase = op->getAttrOfType<StringAttr>("vdnn.phase")) {
    planned.phase = phase.getValue() == "backward" ? planning::Phase::Backward
                    : phase.getValue() == "update" ? planning::Phase::Update
                                                   : planning::Phase::Forward;
  }
  addInPlace(op, planned);
  if (failed(addKernels(op, planned))) {
    return failure();
  }
  out.problem.ops.push_back(std::move(planned));
  out.ops.push_back(op);
  return success();
}

LogicalResult ProblemBuilder::addTransfer(Operation *op) {
  planning::OpId position = out.problem.ops.size();
  if (auto offload = dyn_cast<OffloadOp>(op)) {
    FailureOr<planning::TensorId> id = lookup(op, offload.getX());
    if (failed(id)) {
      return failure();
    }
    planning::Transfer transfer;
    transfer.tensor = *id;
    transfer.offloadAt = position;
    transfer.releaseAt = transfer.prefetchAt = transfer.neededAt = UINT32_MAX;
    onHost[offload.getHost()] = out.solution.transfers.size();
    onHost[offload.getDone()] = out.solution.transfers.size();
    out.solution.transfers.push_back(transfer);
  } else if (auto release = dyn_cast<ReleaseOp>(op)) {
    auto found = onHost.find(release.getDone());
    if (found == onHost.end()) {
      return op->emitOpError("waits for a token that is of no 'vdnn.offload'");
    }
    planning::Transfer &transfer = out.solution.transfers[found->second];
    if (out.tensorOf.lookup(release.getX()) != transfer.tensor) {
      return op->emitOpError(
          "releases another tensor than the one its token copies");
    }
    if (transfer.releaseAt != UINT32_MAX) {
      return op->emitOpError("releases a tensor for the second time");
    }
    transfer.releaseAt = position;
  } else if (auto prefetch = dyn_cast<PrefetchOp>(op)) {
    auto found = onHost.find(prefetch.getHost());
    if (found == onHost.end()) {
      return op->emitOpError("copies back what no 'vdnn.offload' wrote");
    }
    planning::Transfer &transfer = out.solution.transfers[found->second];
    if (transfer.releaseAt == UINT32_MAX) {
      return op->emitOpError("copies back a tensor that has not been released");
    }
    if (transfer.prefetchAt != UINT32_MAX) {
      return op->emitOpError("copies a tensor back for the second time; "
                             "offload it again in between");
    }
    transfer.prefetchAt = position;
    out.tensorOf[prefetch.getX()] = transfer.tensor;
    awaited[transfer.tensor] = found->second;
  } else {
    out.solution.barriers.push_back(position);
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
    names.erase(tensor.name);
    tensor.name = unique(name.getValue());
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
      out.problem.deviceBudget = target->budget > target->overheadBytes
                                     ? target->budget - target->overheadBytes
                                     : 0;
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
