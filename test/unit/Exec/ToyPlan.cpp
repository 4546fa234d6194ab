//===- ToyPlan.cpp --------------------------------------------------------===//

#include "ToyPlan.h"

using namespace vdnn::schedule;

namespace vdnn::test {

namespace {

/// Adds entries to a schedule, one call each; returns their numbers.
class Builder {
public:
  Builder() {
    schedule.version = kVersion;
    schedule.model = "toy";
    schedule.target = std::make_unique<DeviceT>();
    schedule.target->kind = "cpu";
    schedule.target->fingerprint = "fake 1"; // FakeDevice's
    stream("compute", StreamKind::Compute);
    stream("d2h", StreamKind::DeviceToHost);
    stream("h2d", StreamKind::HostToDevice);
    vectorType = type({4});
    scalarType = type({});
  }

  uint32_t type(std::vector<int64_t> shape) {
    auto entry = std::make_unique<TypeT>();
    entry->shape = std::move(shape);
    schedule.types.push_back(std::move(entry));
    return static_cast<uint32_t>(schedule.types.size() - 1);
  }

  void stream(const char *name, StreamKind kind) {
    auto entry = std::make_unique<StreamT>();
    entry->name = name;
    entry->kind = kind;
    schedule.streams.push_back(std::move(entry));
  }

  int32_t tensor(const char *name, Role role, uint32_t type) {
    auto entry = std::make_unique<TensorT>();
    entry->name = name;
    entry->role = role;
    entry->type = std::make_unique<TypeT>(*schedule.types[type]);
    entry->bytes = *typeBytes(*entry->type);
    schedule.tensors.push_back(std::move(entry));
    return static_cast<int32_t>(schedule.tensors.size() - 1);
  }

  int32_t buffer(int32_t tensor, Arena arena, uint64_t offset) {
    auto entry = std::make_unique<BufferT>();
    entry->tensor = tensor;
    entry->name = schedule.tensors[tensor]->name;
    entry->arena = arena;
    entry->offset = offset;
    entry->bytes = schedule.tensors[tensor]->bytes;
    entry->alignment = 4;
    uint64_t &peak =
        arena == Arena::Device ? schedule.device_arena : schedule.host_arena;
    peak = std::max(peak, offset + entry->bytes);
    schedule.buffers.push_back(std::move(entry));
    return static_cast<int32_t>(schedule.buffers.size() - 1);
  }

  CommandT &command(CommandKind kind, uint32_t stream) {
    schedule.commands.push_back(std::make_unique<CommandT>());
    schedule.commands.back()->kind = kind;
    schedule.commands.back()->stream = stream;
    schedule.commands.back()->predicted_ns = kind == CommandKind::Launch ? 100
                                             : kind == CommandKind::Copy ? 50
                                                                         : 0;
    return *schedule.commands.back();
  }

  Operand operand(int32_t buffer) const {
    return {static_cast<uint32_t>(buffer),
            schedule.buffers[buffer]->bytes == 4 ? scalarType : vectorType};
  }

  CommandT &launch(const char *kind, std::initializer_list<int32_t> reads,
                   int32_t write) {
    auto kernel = std::make_unique<KernelT>();
    kernel->kind = kind;
    schedule.kernels.push_back(std::move(kernel));
    CommandT &launch = command(CommandKind::Launch, 0);
    launch.kernel = static_cast<int32_t>(schedule.kernels.size() - 1);
    launch.location = kind;
    for (int32_t read : reads) {
      launch.reads.push_back(operand(read));
    }
    launch.writes.push_back(operand(write));
    return launch;
  }

  void copy(uint32_t stream, int32_t source, int32_t destination) {
    CommandT &copy = command(CommandKind::Copy, stream);
    copy.reads.push_back(operand(source));
    copy.writes.push_back(operand(destination));
  }

  /// Orders what comes later on `to` after what came before on `from`.
  void order(uint32_t from, uint32_t to) {
    auto event = static_cast<int32_t>(schedule.event_count++);
    command(CommandKind::Record, from).event = event;
    command(CommandKind::Wait, to).event = event;
  }

  ScheduleT schedule;
  uint32_t vectorType = 0;
  uint32_t scalarType = 0;
};

enum : uint32_t { kCompute = 0, kToHost = 1, kToDevice = 2 };

} // namespace

static ScheduleT makeToyPlan(bool staged) {
  Builder b;
  int32_t x = b.tensor("x", Role::Input, b.vectorType);
  int32_t rate = b.tensor("vdnn.rate", Role::Input, b.scalarType);
  int32_t w = b.tensor("w", Role::Parameter, b.vectorType);
  int32_t act = b.tensor("act", Role::Activation, b.vectorType);
  int32_t grad = b.tensor("grad", Role::Gradient, b.vectorType);
  int32_t loss = b.tensor("loss", Role::Output, b.scalarType);
  b.schedule.tensors[grad]->gradient_of = w;
  b.schedule.tensors[act]->decision = Decision::Offload;
  b.schedule.tensors[w]->initial = std::make_unique<InitialT>();
  b.schedule.tensors[w]->initial->kind = InitialKind::Normal;
  b.schedule.tensors[w]->initial->b = 1;

  int32_t xHost = b.buffer(x, Arena::Host, 0);
  int32_t rateHost = b.buffer(rate, Arena::Host, 16);
  int32_t lossHost = b.buffer(loss, Arena::Host, 20);
  int32_t actHost = b.buffer(act, Arena::Host, 24);
  int32_t wOld = b.buffer(w, Arena::Device, 0);
  int32_t wNew = b.buffer(w, Arena::Device, 0);
  int32_t rateDevice = b.buffer(rate, Arena::Device, 16);
  int32_t lossDevice = b.buffer(loss, Arena::Device, 20);
  int32_t xDevice = b.buffer(x, Arena::Device, staged ? 56 : 24);
  int32_t actBefore = b.buffer(act, Arena::Device, 40);
  int32_t actAfter = b.buffer(act, Arena::Device, 24);    // where x was
  int32_t gradDevice = b.buffer(grad, Arena::Device, 40); // where act was
  b.schedule.tensors[x]->entry = staged ? xDevice : xHost;
  int32_t xNext = -1;
  if (staged) {
    xNext = b.buffer(x, Arena::Device, 56);
    b.schedule.tensors[x]->exit = xNext;
    b.schedule.tensors[x]->staging = xHost;
  }
  b.schedule.tensors[rate]->entry = rateHost;
  b.schedule.tensors[loss]->exit = lossHost;
  b.schedule.tensors[w]->entry = wOld;
  b.schedule.tensors[w]->exit = wNew;

  b.order(kCompute, kToDevice); // the ranges that the copies write were read by
                                // the step before
  b.copy(kToDevice, rateHost, rateDevice);
  if (!staged) {
    b.copy(kToDevice, xHost, xDevice);
  }
  b.order(kToDevice, kCompute);
  b.launch("add", {xDevice, wOld}, actBefore);
  if (staged) {
    b.order(kCompute, kToDevice);
    b.copy(kToDevice, xHost, xNext);
  }
  b.order(kCompute, kToHost);
  b.copy(kToHost, actBefore, actHost);
  b.launch("sum", {actBefore}, lossDevice);
  b.order(kCompute, kToHost);
  b.copy(kToHost, lossDevice, lossHost);
  b.order(kToHost, kToDevice);
  b.copy(kToDevice, actHost, actAfter);
  b.order(kToDevice, kCompute);
  b.launch("halve", {actAfter}, gradDevice);
  b.launch("update", {wOld, gradDevice, rateDevice}, wNew).in_place = {{0, 0}};
  return std::move(b.schedule);
}

ScheduleT makeToyPlan() { return makeToyPlan(/*staged=*/false); }

ScheduleT makeStagedToyPlan() { return makeToyPlan(/*staged=*/true); }

ScheduleT makeToyInference() {
  Builder b;
  int32_t x = b.tensor("x", Role::Input, b.vectorType);
  int32_t w = b.tensor("w", Role::Parameter, b.vectorType);
  int32_t y = b.tensor("y", Role::Output, b.vectorType);
  int32_t xHost = b.buffer(x, Arena::Host, 0);
  int32_t yHost = b.buffer(y, Arena::Host, 16);
  int32_t wDevice = b.buffer(w, Arena::Device, 0);
  int32_t xDevice = b.buffer(x, Arena::Device, 16);
  int32_t yDevice = b.buffer(y, Arena::Device, 32);
  b.schedule.tensors[w]->initial = std::make_unique<InitialT>();
  b.schedule.tensors[x]->entry = xHost;
  b.schedule.tensors[y]->exit = yHost;
  b.schedule.tensors[w]->entry = b.schedule.tensors[w]->exit = wDevice;
  b.order(kCompute, kToDevice);
  b.copy(kToDevice, xHost, xDevice);
  b.order(kToHost, kCompute); // y was copied out by the step before
  b.order(kToDevice, kCompute);
  b.launch("add", {xDevice, wDevice}, yDevice);
  b.order(kCompute, kToHost);
  b.copy(kToHost, yDevice, yHost);
  return std::move(b.schedule);
}

void addConverted(ScheduleT &plan, const std::string &name, uint32_t source) {
  auto tensor = std::make_unique<TensorT>();
  tensor->name = name;
  tensor->role = Role::State;
  tensor->type = std::make_unique<TypeT>(*plan.tensors[source]->type);
  tensor->type->element = ElementType::BF16;
  tensor->bytes = plan.tensors[source]->bytes / 2;
  tensor->initial = std::make_unique<InitialT>();
  tensor->initial->kind = InitialKind::Converted;
  tensor->initial->source = static_cast<int32_t>(source);
  tensor->entry = tensor->exit = static_cast<int32_t>(plan.buffers.size());
  auto buffer =
      std::make_unique<BufferT>(*plan.buffers[plan.tensors[source]->entry]);
  buffer->name = name;
  buffer->tensor = static_cast<int32_t>(plan.tensors.size());
  buffer->bytes = tensor->bytes;
  buffer->offset = (plan.device_arena + 3) / 4 * 4;
  plan.device_arena = buffer->offset + buffer->bytes;
  plan.types.push_back(std::make_unique<TypeT>(*tensor->type));
  int32_t exit = plan.tensors[source]->exit;
  for (const auto &command : plan.commands) {
    for (const Operand &operand : command->writes) {
      if (static_cast<int32_t>(operand.buffer()) == exit) {
        // The launch that changes the source changes it too.
        auto after = std::make_unique<BufferT>(*buffer);
        after->name = name + ".new";
        tensor->exit = tensor->entry + 1;
        command->writes.emplace_back(
            static_cast<uint32_t>(tensor->exit),
            static_cast<uint32_t>(plan.types.size() - 1));
        plan.buffers.push_back(std::move(buffer));
        buffer = std::move(after);
        break;
      }
    }
  }
  plan.buffers.push_back(std::move(buffer));
  plan.tensors.push_back(std::move(tensor));
}

} // namespace vdnn::test
