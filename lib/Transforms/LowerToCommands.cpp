//===- LowerToCommands.cpp - transfer form -> the plan --------------------===//

#include "vdnn/Transforms/LowerToCommands.h"
#include "vdnn/Target/Kernel.h"
#include "vdnn/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

namespace vdnn {
#define GEN_PASS_DEF_LOWERTOCOMMANDS
#include "vdnn/Transforms/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

static StreamKind convert(planning::StreamId stream) {
  switch (stream) {
  case planning::StreamId::Compute:
    return StreamKind::Compute;
  case planning::StreamId::DeviceToHost:
    return StreamKind::DeviceToHost;
  case planning::StreamId::HostToDevice:
    return StreamKind::HostToDevice;
  }
  llvm_unreachable("unknown stream");
}

static Role convert(planning::TensorKind kind) {
  switch (kind) {
  case planning::TensorKind::Input:
    return Role::Input;
  case planning::TensorKind::Output:
    return Role::Output;
  case planning::TensorKind::Parameter:
    return Role::Parameter;
  case planning::TensorKind::State:
    return Role::State;
  case planning::TensorKind::Gradient:
    return Role::Gradient;
  case planning::TensorKind::Activation:
    return Role::Activation;
  }
  llvm_unreachable("unknown kind of a tensor");
}

namespace {

class PlanWriter {
public:
  PlanWriter(ModuleOp module, const LoweredStep &lowered)
      : module(module), step(lowered.step), target(lowered.target),
        planned(lowered.planned), problem(planned.problem),
        program(lowered.program), statistics(lowered.statistics),
        builder(module.getContext()) {}

  void write() {
    nameSymbols();
    builder.setInsertionPointToEnd(module.getBody());
    StringAttr model = module.getSymNameAttr();
    auto plan = builder.create<PlanOp>(
        module.getLoc(), model ? model : builder.getStringAttr("model"));
    writeHeader(plan);
    Block *body = builder.createBlock(&plan.getBody());
    builder.setInsertionPointToEnd(body);
    for (planning::TensorId id = 0; id < problem.tensors.size(); ++id) {
      if (!problem.tensors[id].tiedTo) {
        writeTensor(id);
      }
    }
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      writeBuffer(b);
    }
    for (const planning::PlannedCommand &command : program.commands) {
      writeCommand(command);
    }
  }

private:
  void nameSymbols();
  void writeHeader(PlanOp plan);
  void writeTensor(planning::TensorId id);
  void writeBuffer(size_t number);
  void writeCommand(const planning::PlannedCommand &command);
  void writeLaunch(const planning::PlannedCommand &command);

  std::string unique(const std::string &name);
  /// The tensor of the model that a planned tensor is a value of.
  planning::TensorId getOrigin(planning::TensorId id) const {
    while (problem.tensors[id].tiedTo) {
      id = *problem.tensors[id].tiedTo;
    }
    return id;
  }
  FlatSymbolRefAttr ref(const std::string &name) {
    return FlatSymbolRefAttr::get(module.getContext(), name);
  }
  FlatSymbolRefAttr refBuffer(uint32_t number) {
    return ref(bufferNames[number]);
  }
  FlatSymbolRefAttr refBuffer(std::optional<uint32_t> number) {
    return number ? refBuffer(*number) : FlatSymbolRefAttr();
  }
  IntegerAttr integer(int64_t value) {
    return builder.getI64IntegerAttr(value);
  }
  InitialAttr rename(InitialAttr initial);
  InitialAttr getInitial(planning::TensorId id);
  Type getModelType(planning::TensorId id);

  ModuleOp module;
  func::FuncOp step;
  const Target &target;
  const PlanningProblem &planned;
  const planning::Problem &problem;
  const planning::Program &program;
  const planning::Statistics &statistics;
  OpBuilder builder;
  llvm::StringSet<> symbols;
  std::vector<std::string> tensorNames;
  /// Per tensor of the model, the tensor that holds its value at the end of the
  /// step, if another one.
  std::vector<std::optional<planning::TensorId>> newValue;
  std::vector<std::string> bufferNames;
};

} // namespace

std::string PlanWriter::unique(const std::string &name) {
  std::string candidate = name;
  for (unsigned suffix = 1; !symbols.insert(candidate).second; ++suffix) {
    candidate = name + "." + std::to_string(suffix);
  }
  return candidate;
}

/// Tensors keep the names of the model; buffers, which share their table of
/// symbols, give way.
void PlanWriter::nameSymbols() {
  tensorNames.resize(problem.tensors.size());
  newValue.resize(problem.tensors.size());
  for (planning::TensorId id = 0; id < problem.tensors.size(); ++id) {
    if (problem.tensors[id].tiedTo) {
      newValue[getOrigin(id)] = id;
    }
  }
  for (planning::TensorId id = 0; id < problem.tensors.size(); ++id) {
    if (!problem.tensors[id].tiedTo) {
      tensorNames[id] = unique(problem.tensors[id].name);
    }
  }
  for (const planning::PlacedBuffer &buffer : program.buffers) {
    std::string prefix =
        buffer.place == planning::Place::Device ? "device:" : "host:";
    bufferNames.push_back(unique(prefix + buffer.name));
  }
}

void PlanWriter::writeHeader(PlanOp plan) {
  auto text = [&](StringRef name, StringRef value) {
    plan->setAttr(name, builder.getStringAttr(value));
  };
  auto bytes = [&](StringRef name, int64_t value) {
    plan->setAttr(name, integer(value));
  };
  auto number = [&](StringRef name, double value) {
    plan->setAttr(name, builder.getF64FloatAttr(value));
  };
  text("target_kind", target.kind);
  text("target_name", target.name);
  text("target_fingerprint", target.fingerprint);
  number("link_device_to_host", target.link.deviceToHostBytesPerSecond);
  number("link_host_to_device", target.link.hostToDeviceBytesPerSecond);
  number("link_duplex_factor", target.link.duplexFactor);
  bytes("link_latency_ns", target.link.latencyNs);
  if (target.allowNondeterministic) {
    plan->setAttr("allow_nondeterministic", builder.getUnitAttr());
  }
  bytes("budget", target.budget);
  bytes("host_budget", target.hostBudget);
  bytes("overhead", target.getOverhead(program.hostPeak));
  bytes("device_arena", program.devicePeak);
  bytes("host_arena", program.hostPeak);
  bytes("event_count", program.eventCount);
  for (StringRef name : {"policy", "sync"}) {
    auto value = step->getAttrOfType<StringAttr>(("vdnn." + name).str());
    text(name, value ? value.getValue() : "by hand");
  }
  bytes("lower_bound", program.deviceLowerBound);
  bytes("average", statistics.averageDeviceBytes);
  bytes("offloaded", statistics.offloadedBytes);
  bytes("prefetched", statistics.prefetchedBytes);
  bytes("step_ns", statistics.stepNs);
}

/// The source of a converted value as the plan names it.
InitialAttr PlanWriter::rename(InitialAttr initial) {
  for (BlockArgument argument : step.getArguments()) {
    if (step.getArgAttr(argument.getArgNumber(), "vdnn.name") ==
        initial.getSource()) {
      return InitialAttr::get(builder.getStringAttr(
          tensorNames[planned.tensorOf.lookup(argument)]));
    }
  }
  return initial;
}

InitialAttr PlanWriter::getInitial(planning::TensorId id) {
  if (auto argument = dyn_cast<BlockArgument>(planned.values[id])) {
    auto initial = step.getArgAttrOfType<InitialAttr>(argument.getArgNumber(),
                                                      "vdnn.initial");
    return initial && initial.getSource() ? rename(initial) : initial;
  }
  auto constant = planned.values[id].getDefiningOp<ConstantOp>();
  return constant ? getConstantInitial(constant) : InitialAttr();
}

/// An output may be a view, and a gradient may be one to the update that reads
/// it; users see the view's type.
Type PlanWriter::getModelType(planning::TensorId id) {
  auto type = cast<RankedTensorType>(planned.values[id].getType());
  const std::string &parameter = planned.gradientOf[id];
  if (!parameter.empty() && isFreeReorder(type)) {
    for (planning::TensorId other = 0; other < problem.tensors.size();
         ++other) {
      if (problem.tensors[other].name == parameter) {
        auto viewed = cast<RankedTensorType>(planned.values[other].getType());
        return isFreeReorder(viewed) ? viewed.clone(type.getElementType())
                                     : type;
      }
    }
  }
  if (problem.tensors[id].kind == planning::TensorKind::Output) {
    for (auto [number, tensor] : llvm::enumerate(planned.results)) {
      if (tensor == id) {
        return step.getResultTypes()[number];
      }
    }
  }
  return type;
}

void PlanWriter::writeTensor(planning::TensorId id) {
  const planning::Tensor &tensor = problem.tensors[id];
  // The new value of a persistent tensor is the same tensor, one step later.
  std::optional<uint32_t> exit =
      program.exit[newValue[id] ? *newValue[id] : id];
  FlatSymbolRefAttr gradientOf;
  if (!planned.gradientOf[id].empty()) {
    gradientOf = ref(planned.gradientOf[id]);
  }
  const planning::TensorDecision &decision = planned.solution.tensors[id];
  builder.create<TensorOp>(
      step.getLoc(), tensorNames[id], convert(tensor.kind), getModelType(id),
      tensor.bytes, toDecision(decision.residence), decision.reason,
      refBuffer(program.entry[id]), refBuffer(exit),
      refBuffer(program.staging[id]), gradientOf, getInitial(id));
}

void PlanWriter::writeBuffer(size_t number) {
  const planning::PlacedBuffer &buffer = program.buffers[number];
  FlatSymbolRefAttr tensor;
  if (buffer.tensor) {
    tensor = ref(tensorNames[getOrigin(*buffer.tensor)]);
  }
  builder.create<BufferOp>(
      step.getLoc(), bufferNames[number], tensor,
      buffer.place == planning::Place::Device ? Arena::Device : Arena::Host,
      buffer.offset, buffer.bytes, problem.alignment);
}

void PlanWriter::writeLaunch(const planning::PlannedCommand &command) {
  Operation *op = planned.ops[*command.op];
  auto refs = [&](const std::vector<uint32_t> &buffers) {
    SmallVector<Attribute> list;
    for (uint32_t buffer : buffers) {
      list.push_back(refBuffer(buffer));
    }
    return builder.getArrayAttr(list);
  };
  auto algorithm = op->getAttrOfType<StringAttr>("vdnn.algorithm");
  if (algorithm && algorithm.getValue().empty()) {
    algorithm = nullptr;
  }
  SmallVector<int64_t> inPlace;
  for (auto [read, written] : command.inPlace) {
    inPlace.append({read, written});
  }
  auto launch = builder.create<LaunchOp>(
      step.getLoc(),
      StreamKindAttr::get(module.getContext(), convert(command.stream)),
      builder.getStringAttr(op->getName().stripDialect()), algorithm,
      op->hasAttr("vdnn.nondeterministic") ? builder.getUnitAttr() : UnitAttr(),
      getKernelAttributes(op), refs(command.reads),
      builder.getTypeArrayAttr(SmallVector<Type>(op->getOperandTypes())),
      refs(command.writes),
      builder.getTypeArrayAttr(SmallVector<Type>(op->getResultTypes())),
      refBuffer(command.workspace),
      inPlace.empty() ? DenseI64ArrayAttr()
                      : builder.getDenseI64ArrayAttr(inPlace),
      integer(command.durationNs),
      builder.getStringAttr(problem.ops[*command.op].name));
  if (op->getNumRegions() == 1) {
    IRMapping mapping;
    op->getRegion(0).cloneInto(&launch.getBody(), mapping);
  }
}

void PlanWriter::writeCommand(const planning::PlannedCommand &command) {
  StreamKind stream = convert(command.stream);
  switch (command.kind) {
  case planning::CommandKind::Launch:
    return writeLaunch(command);
  case planning::CommandKind::Copy: {
    uint32_t source = command.reads.front();
    std::optional<planning::TensorId> tensor = program.buffers[source].tensor;
    builder.create<CopyOp>(
        step.getLoc(), stream, bufferNames[source],
        bufferNames[command.writes.front()], command.durationNs,
        tensor ? StringRef(problem.tensors[*tensor].name) : StringRef());
    return;
  }
  case planning::CommandKind::Record:
    builder.create<RecordOp>(step.getLoc(), stream, command.event);
    return;
  case planning::CommandKind::Wait:
    builder.create<WaitOp>(step.getLoc(), stream, command.event);
    return;
  }
}

FailureOr<LoweredStep> vdnn::lowerStep(ModuleOp module) {
  FailureOr<func::FuncOp> step = getStep(module);
  if (failed(step)) {
    return failure();
  }
  FailureOr<Target> target = getTarget(module);
  if (failed(target)) {
    return failure();
  }
  FailureOr<PlanningProblem> planned =
      buildPlanningProblem(*step, /*allowUnknownCost=*/false);
  if (failed(planned)) {
    return failure();
  }
  if (!planned->hasSolution) {
    return step->emitError(
        "is not in transfer form; run 'vdnn-plan-transfers' first");
  }
  if (failed(verifySolution(*step, planned->problem, planned->solution,
                            "has transfers that cannot be"))) {
    return failure();
  }
  LoweredStep lowered{*step, std::move(*target), std::move(*planned), {}, {}};
  lowered.program =
      planning::buildProgram(lowered.planned.problem, lowered.planned.solution);
  lowered.statistics =
      planning::measure(lowered.planned.problem, lowered.program);
  return lowered;
}

void vdnn::writePlan(ModuleOp module, LoweredStep &lowered) {
  PlanWriter(module, lowered).write();
  lowered.step->erase();
  lowered.step = nullptr;
  module->removeAttr("vdnn.target");
}

namespace {
struct LowerToCommandsPass
    : vdnn::impl::LowerToCommandsBase<LowerToCommandsPass> {
  void runOnOperation() override {
    FailureOr<LoweredStep> lowered = lowerStep(getOperation());
    if (failed(lowered) || failed(checkBudgets(*lowered))) {
      return signalPassFailure();
    }
    writePlan(getOperation(), *lowered);
  }
};
} // namespace
