//===- ProblemOps.cpp - compute and transfer ops in the planners' problem -===//

#include "ProblemBuilder.h"

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
    planned.choices.push_back(
        {algorithm.str(), static_cast<uint64_t>(workspace.getInt()),
         time.getInt(), op->hasAttr("vdnn.nondeterministic")});
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
    planned.choices.push_back(
        {algorithm.str(), static_cast<uint64_t>(workspace.getInt()),
         time.getInt(), choice.contains("nondeterministic")});
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
        out.solution.tensors[id].residence = toResidence(decision.getValue());
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
