//===- Export.cpp - command ops -> the schedule ---------------------------===//

#include "vdnn/Target/Export.h"
#include "vdnn/Target/Kernel.h"

#include "runtime/check/Check.h"

#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;
using namespace vdnn;

FailureOr<PlanOp> vdnn::getPlan(ModuleOp module) {
  auto plans = module.getOps<PlanOp>();
  if (!llvm::hasSingleElement(plans)) {
    return module.emitError()
           << "has " << std::distance(plans.begin(), plans.end())
           << " plans, expected one 'vdnn.plan'";
  }
  return *plans.begin();
}

namespace {

class Exporter {
public:
  explicit Exporter(PlanOp plan) : plan(plan) {}

  FailureOr<schedule::ScheduleT> run() {
    addHeader();
    addStreams();
    numberSymbols();
    // Tensors and buffers first: commands refer to them wherever they stand.
    for (TensorOp op : tensorOps) {
      addTensor(op);
    }
    for (BufferOp op : bufferOps) {
      addBuffer(op);
    }
    if (!valid) {
      return failure();
    }
    for (Operation &op : plan.getBody().front()) {
      addCommand(&op);
    }
    if (!valid) {
      return failure();
    }
    prove();
    if (!valid) {
      return failure();
    }
    return std::move(out);
  }

private:
  /// At the location only: a report on the op would print the whole plan below
  /// each violation.
  InFlightDiagnostic report(Operation *op) {
    valid = false;
    return emitError(op->getLoc()) << "'" << op->getName() << "' op ";
  }
  std::string text(StringRef name);
  int64_t integer(StringRef name);
  double number(StringRef name);

  void addHeader();
  void addStreams();
  void numberSymbols();
  void addCommand(Operation *op);
  void addTensor(TensorOp op);
  void addBuffer(BufferOp op);
  void addLaunch(LaunchOp op);
  void addCopy(CopyOp op);
  void addEvent(Operation *op, schedule::CommandKind kind, StreamKind stream,
                int64_t event);
  void prove();

  /// The number of a tensor or buffer, or -1 for no name; a name of nothing is
  /// reported on `user`.
  int32_t find(Operation *user, const llvm::StringMap<int32_t> &table,
               FlatSymbolRefAttr name);
  uint32_t addType(Type type);
  uint64_t toBytes(Operation *op, int64_t value);

  PlanOp plan;
  schedule::ScheduleT out;
  bool valid = true;
  llvm::StringMap<int32_t> tensors;
  llvm::StringMap<int32_t> buffers;
  std::vector<TensorOp> tensorOps;
  std::vector<BufferOp> bufferOps;
  llvm::DenseMap<Type, uint32_t> types;
};

} // namespace

std::string Exporter::text(StringRef name) {
  auto value = plan->getAttrOfType<StringAttr>(name);
  if (!value) {
    report(plan) << "lacks the text '" << name << "'";
    return {};
  }
  return value.str();
}

int64_t Exporter::integer(StringRef name) {
  auto value = plan->getAttrOfType<IntegerAttr>(name);
  if (!value || !value.getType().isSignlessInteger(64) || value.getInt() < 0) {
    report(plan) << "lacks the integer '" << name << "' of at least 0";
    return 0;
  }
  return value.getInt();
}

double Exporter::number(StringRef name) {
  auto value = plan->getAttrOfType<FloatAttr>(name);
  if (!value) {
    report(plan) << "lacks the number '" << name << "'";
    return 0;
  }
  return value.getValueAsDouble();
}

uint64_t Exporter::toBytes(Operation *op, int64_t value) {
  if (value < 0) {
    report(op) << "has a negative number of bytes: " << value;
    return 0;
  }
  return static_cast<uint64_t>(value);
}

void Exporter::addHeader() {
  out.version = schedule::kVersion;
  out.producer = "vdnn-opt";
  out.model = plan.getSymName().str();
  out.target = std::make_unique<schedule::DeviceT>();
  out.target->kind = text("target_kind");
  out.target->name = text("target_name");
  out.target->fingerprint = text("target_fingerprint");
  out.link = std::make_unique<schedule::LinkT>();
  out.link->device_to_host_bytes_per_second = number("link_device_to_host");
  out.link->host_to_device_bytes_per_second = number("link_host_to_device");
  out.link->duplex_factor = number("link_duplex_factor");
  out.link->latency_ns = integer("link_latency_ns");
  out.allow_nondeterministic =
      plan->getAttrOfType<UnitAttr>("allow_nondeterministic") != nullptr;
  out.budget = integer("budget");
  out.host_budget = integer("host_budget");
  out.overhead_bytes = integer("overhead");
  out.device_arena = integer("device_arena");
  out.host_arena = integer("host_arena");
  int64_t events = integer("event_count");
  if (events > std::numeric_limits<uint32_t>::max()) {
    report(plan) << "has an 'event_count' of " << events
                 << ", expected one of 32 bits";
  }
  out.event_count = events;
  out.summary = std::make_unique<schedule::SummaryT>();
  out.summary->policy = text("policy");
  out.summary->sync = text("sync");
  out.summary->lower_bound_bytes = integer("lower_bound");
  out.summary->average_bytes = integer("average");
  out.summary->offloaded_bytes = integer("offloaded");
  out.summary->prefetched_bytes = integer("prefetched");
  out.summary->predicted_step_ns = integer("step_ns");
}

/// Streams have the numbers of their kinds.
void Exporter::addStreams() {
  constexpr std::pair<const char *, schedule::StreamKind> Streams[] = {
      {"compute", schedule::StreamKind::Compute},
      {"d2h", schedule::StreamKind::DeviceToHost},
      {"h2d", schedule::StreamKind::HostToDevice}};
  for (auto [name, kind] : Streams) {
    auto stream = std::make_unique<schedule::StreamT>();
    stream->name = name;
    stream->kind = kind;
    out.streams.push_back(std::move(stream));
  }
}

void Exporter::numberSymbols() {
  for (TensorOp op : plan.getBody().getOps<TensorOp>()) {
    tensors.try_emplace(op.getSymName(), tensorOps.size());
    tensorOps.push_back(op);
  }
  for (BufferOp op : plan.getBody().getOps<BufferOp>()) {
    buffers.try_emplace(op.getSymName(), bufferOps.size());
    bufferOps.push_back(op);
  }
}

int32_t Exporter::find(Operation *user, const llvm::StringMap<int32_t> &table,
                       FlatSymbolRefAttr name) {
  if (!name) {
    return -1;
  }
  auto found = table.find(name.getValue());
  if (found == table.end()) {
    report(user) << "names '" << name.getValue()
                 << "', which is not in the plan";
    return -1;
  }
  return found->second;
}

uint32_t Exporter::addType(Type type) {
  auto [entry, isNew] = types.try_emplace(type, out.types.size());
  if (isNew) {
    out.types.push_back(std::make_unique<schedule::TypeT>(toType(type)));
  }
  return entry->second;
}

static bool isPlanType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    return false;
  }
  Type element = tensor.getElementType();
  return element.isF64() || element.isF32() || element.isF16() ||
         element.isBF16() || element.isSignlessInteger(1) ||
         llvm::any_of(std::array{64, 32, 16, 8}, [&](unsigned width) {
           return element.isSignlessInteger(width) ||
                  element.isUnsignedInteger(width);
         });
}

void Exporter::addTensor(TensorOp op) {
  auto tensor = std::make_unique<schedule::TensorT>();
  tensor->name = op.getSymName().str();
  tensor->role = static_cast<schedule::Role>(op.getRole());
  if (!isPlanType(op.getType())) {
    report(op) << "has the type '" << op.getType()
               << "', expected a tensor of static shape";
    return;
  }
  tensor->type = std::make_unique<schedule::TypeT>(toType(op.getType()));
  tensor->bytes = toBytes(op, op.getBytes());
  tensor->decision = static_cast<schedule::Decision>(op.getDecision());
  tensor->reason = op.getReason().str();
  tensor->entry = find(op, buffers, op.getEntryAttr());
  tensor->exit = find(op, buffers, op.getExitAttr());
  tensor->staging = find(op, buffers, op.getStagingAttr());
  tensor->gradient_of = find(op, tensors, op.getGradientOfAttr());
  if (InitialAttr initial = op.getInitialAttr()) {
    tensor->initial = std::make_unique<schedule::InitialT>();
    tensor->initial->kind =
        static_cast<schedule::InitialKind>(initial.getKind());
    tensor->initial->a = initial.getA();
    tensor->initial->b = initial.getB();
    if (StringAttr source = initial.getSource()) {
      tensor->initial->source =
          find(op, tensors, FlatSymbolRefAttr::get(source));
    }
  }
  out.tensors.push_back(std::move(tensor));
}

void Exporter::addBuffer(BufferOp op) {
  auto buffer = std::make_unique<schedule::BufferT>();
  buffer->name = op.getSymName().str();
  buffer->tensor = find(op, tensors, op.getTensorAttr());
  buffer->arena = static_cast<schedule::Arena>(op.getArena());
  buffer->offset = toBytes(op, op.getOffset());
  buffer->bytes = toBytes(op, op.getBytes());
  buffer->alignment = toBytes(op, op.getAlignment());
  out.buffers.push_back(std::move(buffer));
}

/// Whether a region is a scalar program: one block of ops that each make one
/// number.
static bool isScalarProgram(Region &region) {
  auto isScalar = [](Type type) { return type.isIntOrFloat(); };
  if (!llvm::hasSingleElement(region) ||
      !llvm::all_of(region.getArgumentTypes(), isScalar) ||
      !region.front().mightHaveTerminator() ||
      !isa<YieldOp>(region.front().getTerminator())) {
    return false;
  }
  return llvm::all_of(region.front().without_terminator(), [&](Operation &op) {
    return op.getNumResults() == 1 && isScalar(op.getResult(0).getType()) &&
           op.getNumRegions() == 0 &&
           llvm::is_contained({"arith", "math"},
                              op.getName().getDialectNamespace());
  });
}

void Exporter::addLaunch(LaunchOp op) {
  if (!op.getBody().empty() && !isScalarProgram(op.getBody())) {
    report(op) << "has a program that is not one block of scalar ops";
    return;
  }
  auto command = std::make_unique<schedule::CommandT>();
  command->kind = schedule::CommandKind::Launch;
  command->stream = static_cast<uint32_t>(op.getStream());
  command->kernel = out.kernels.size();
  out.kernels.push_back(std::make_unique<schedule::KernelT>(toKernel(op)));
  auto operands = [&](ArrayAttr names, ArrayAttr views,
                      std::vector<schedule::Operand> &list) {
    for (auto [name, view] : llvm::zip_equal(names, views)) {
      Type type = cast<TypeAttr>(view).getValue();
      auto reference = dyn_cast<FlatSymbolRefAttr>(name);
      if (!isPlanType(type) || !reference) {
        report(op) << "has an operand that is no buffer with a tensor type of "
                      "static shape";
        return;
      }
      int32_t buffer = find(op, buffers, reference);
      list.emplace_back(buffer, addType(type));
    }
  };
  operands(op.getReads(), op.getReadTypes(), command->reads);
  operands(op.getWrites(), op.getWriteTypes(), command->writes);
  command->workspace = find(op, buffers, op.getWorkspaceAttr());
  if (std::optional<ArrayRef<int64_t>> pairs = op.getInPlace()) {
    for (size_t i = 0; i + 1 < pairs->size(); i += 2) {
      int64_t read = (*pairs)[i];
      int64_t write = (*pairs)[i + 1];
      if (read < 0 || read >= static_cast<int64_t>(command->reads.size()) ||
          write < 0 || write >= static_cast<int64_t>(command->writes.size())) {
        report(op) << "computes in place at positions (" << read << ", "
                   << write << "), which it does not have";
        continue;
      }
      command->in_place.emplace_back(read, write);
    }
  }
  command->predicted_ns = op.getPredictedNs();
  command->location = op.getLocation().str();
  out.commands.push_back(std::move(command));
}

void Exporter::addCopy(CopyOp op) {
  auto command = std::make_unique<schedule::CommandT>();
  command->kind = schedule::CommandKind::Copy;
  command->stream = static_cast<uint32_t>(op.getStream());
  int32_t source = find(op, buffers, op.getSourceAttr());
  int32_t destination = find(op, buffers, op.getDestinationAttr());
  if (source < 0 || destination < 0) {
    return;
  }
  FlatSymbolRefAttr tensor = bufferOps[source].getTensorAttr();
  int32_t number = find(op, tensors, tensor);
  if (number < 0) {
    report(op) << "copies a buffer that holds no tensor";
    return;
  }
  // A copy moves bytes; its type is that of the tensor.
  uint32_t type = addType(tensorOps[number].getType());
  command->reads.emplace_back(source, type);
  command->writes.emplace_back(destination, type);
  command->predicted_ns = op.getPredictedNs();
  command->location = op.getLocation().str();
  out.commands.push_back(std::move(command));
}

void Exporter::addEvent(Operation *op, schedule::CommandKind kind,
                        StreamKind stream, int64_t event) {
  if (event < 0 || event >= static_cast<int64_t>(out.event_count)) {
    report(op) << "has the event " << event << ", expected one below "
               << out.event_count;
    return;
  }
  auto command = std::make_unique<schedule::CommandT>();
  command->kind = kind;
  command->stream = static_cast<uint32_t>(stream);
  command->event = event;
  out.commands.push_back(std::move(command));
}

void Exporter::addCommand(Operation *op) {
  if (isa<TensorOp, BufferOp>(op)) {
    return;
  }
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    addLaunch(launch);
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    addCopy(copy);
  } else if (auto record = dyn_cast<RecordOp>(op)) {
    addEvent(op, schedule::CommandKind::Record, record.getStream(),
             record.getEvent());
  } else if (auto wait = dyn_cast<WaitOp>(op)) {
    addEvent(op, schedule::CommandKind::Wait, wait.getStream(),
             wait.getEvent());
  } else {
    report(op) << "is no op of a plan";
  }
}

void Exporter::prove() {
  for (const rt::Violation &violation : rt::check(out)) {
    report(plan) << "breaks invariant " << violation.invariant << ": "
                 << violation.message;
  }
}

FailureOr<schedule::ScheduleT> vdnn::exportSchedule(PlanOp plan) {
  return Exporter(plan).run();
}
