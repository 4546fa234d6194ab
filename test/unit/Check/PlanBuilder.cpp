//===- PlanBuilder.cpp - small plans that read like plans -----------------===//

#include "PlanBuilder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace vdnn::rt::test {

using namespace schedule;

template <typename T, typename Match>
static size_t findIn(const std::vector<std::unique_ptr<T>> &table,
                     const std::string &name, Match match) {
  auto found = std::find_if(table.begin(), table.end(),
                            [&](const auto &item) { return match(*item); });
  if (found == table.end()) {
    std::fprintf(stderr, "the plan has no '%s'\n", name.c_str());
    std::abort();
  }
  return found - table.begin();
}

PlanBuilder::PlanBuilder() {
  schedule_.version = kVersion;
  schedule_.target = std::make_unique<DeviceT>();
  schedule_.target->kind = "cpu";
  schedule_.target->fingerprint = "test";
  schedule_.kernels.push_back(std::make_unique<KernelT>());
  schedule_.kernels[0]->kind = "conv";
  stream("compute", StreamKind::Compute);
  stream("d2h", StreamKind::DeviceToHost);
  stream("h2d", StreamKind::HostToDevice);
}

void PlanBuilder::stream(const std::string &name, StreamKind kind) {
  auto stream = std::make_unique<StreamT>();
  stream->name = name;
  stream->kind = kind;
  schedule_.streams.push_back(std::move(stream));
}

void PlanBuilder::buffer(const std::string &name, uint64_t bytes,
                         uint64_t offset, Arena arena, bool holdsTensor) {
  auto buffer = std::make_unique<BufferT>();
  buffer->name = name;
  buffer->arena = arena;
  buffer->offset = offset;
  buffer->bytes = bytes;
  buffer->alignment = holdsTensor ? 16 : 64;
  if (holdsTensor) {
    std::string tensorName = name.substr(0, name.find('.'));
    auto [found, isNew] =
        tensors_.insert({tensorName, schedule_.tensors.size()});
    buffer->tensor = found->second;
    if (isNew) {
      auto tensor = std::make_unique<TensorT>();
      tensor->name = tensorName;
      tensor->role = Role::Activation;
      tensor->bytes = bytes;
      tensor->type = std::make_unique<TypeT>();
      tensor->type->shape = {static_cast<int64_t>(bytes / 4)};
      // Types stand beside their tensors, so that one index serves both.
      schedule_.types.push_back(std::make_unique<TypeT>(*tensor->type));
      schedule_.tensors.push_back(std::move(tensor));
    }
  }
  buffers_[name] = schedule_.buffers.size();
  schedule_.buffers.push_back(std::move(buffer));
}

void PlanBuilder::device(const std::string &name, uint64_t bytes,
                         uint64_t offset) {
  buffer(name, bytes, offset, Arena::Device, /*holdsTensor=*/true);
}

void PlanBuilder::host(const std::string &name, uint64_t bytes,
                       uint64_t offset) {
  buffer(name, bytes, offset, Arena::Host, /*holdsTensor=*/true);
}

void PlanBuilder::workspace(const std::string &name, uint64_t bytes,
                            uint64_t offset) {
  buffer(name, bytes, offset, Arena::Device, /*holdsTensor=*/false);
}

void PlanBuilder::persistent(const std::string &entry,
                             const std::string &exit) {
  TensorT &tensor = *schedule_.tensors[bufferNamed(schedule_, entry).tensor];
  tensor.role = Role::Parameter;
  tensor.entry = bufferIndex(schedule_, entry);
  tensor.exit = bufferIndex(schedule_, exit);
}

void PlanBuilder::input(const std::string &entry) {
  TensorT &tensor = *schedule_.tensors[bufferNamed(schedule_, entry).tensor];
  tensor.role = Role::Input;
  tensor.entry = bufferIndex(schedule_, entry);
}

void PlanBuilder::output(const std::string &exit) {
  TensorT &tensor = *schedule_.tensors[bufferNamed(schedule_, exit).tensor];
  tensor.role = Role::Output;
  tensor.exit = bufferIndex(schedule_, exit);
}

void PlanBuilder::staged(const std::string &entry, const std::string &exit,
                         const std::string &staging) {
  input(entry);
  TensorT &tensor = *schedule_.tensors[bufferNamed(schedule_, entry).tensor];
  tensor.exit = bufferIndex(schedule_, exit);
  tensor.staging = bufferIndex(schedule_, staging);
}

CommandT &PlanBuilder::command(CommandKind kind, const std::string &stream,
                               const std::string &location) {
  auto command = std::make_unique<CommandT>();
  command->kind = kind;
  command->location = location;
  command->stream = findIn(schedule_.streams, stream,
                           [&](const StreamT &s) { return s.name == stream; });
  schedule_.commands.push_back(std::move(command));
  return *schedule_.commands.back();
}

std::vector<Operand> PlanBuilder::operands(const Names &names) const {
  std::vector<Operand> operands;
  for (const std::string &name : names) {
    uint32_t index = buffers_.at(name);
    operands.emplace_back(index, std::max(schedule_.buffers[index]->tensor, 0));
  }
  return operands;
}

void PlanBuilder::launch(
    const std::string &location, const Names &reads, const Names &writes,
    const std::vector<std::pair<uint32_t, uint32_t>> &inPlace,
    const std::string &workspace, const std::string &stream) {
  CommandT &c = command(CommandKind::Launch, stream, location);
  c.kernel = 0;
  c.reads = operands(reads);
  c.writes = operands(writes);
  for (auto [read, write] : inPlace) {
    c.in_place.emplace_back(read, write);
  }
  if (!workspace.empty()) {
    c.workspace = bufferIndex(schedule_, workspace);
  }
}

void PlanBuilder::copy(const std::string &stream, const std::string &from,
                       const std::string &to) {
  CommandT &c = command(CommandKind::Copy, stream, from + "->" + to);
  c.reads = operands({from});
  c.writes = operands({to});
}

uint32_t PlanBuilder::record(const std::string &stream) {
  command(CommandKind::Record, stream, "").event = schedule_.event_count;
  return schedule_.event_count++;
}

void PlanBuilder::wait(const std::string &stream, uint32_t event) {
  command(CommandKind::Wait, stream, "").event = event;
}

ScheduleT PlanBuilder::finish() const {
  ScheduleT schedule = schedule_;
  fitHeader(schedule);
  return schedule;
}

void fitHeader(ScheduleT &schedule) {
  schedule.device_arena = schedule.host_arena = 0;
  for (const auto &buffer : schedule.buffers) {
    uint64_t &arena = buffer->arena == Arena::Device ? schedule.device_arena
                                                     : schedule.host_arena;
    arena = std::max(arena, buffer->offset + buffer->bytes);
  }
}

int32_t bufferIndex(const ScheduleT &schedule, const std::string &name) {
  return findIn(schedule.buffers, name,
                [&](const BufferT &b) { return b.name == name; });
}

BufferT &bufferNamed(ScheduleT &schedule, const std::string &name) {
  return *schedule.buffers[bufferIndex(schedule, name)];
}

TensorT &tensorNamed(ScheduleT &schedule, const std::string &name) {
  return *schedule
              .tensors[findIn(schedule.tensors, name, [&](const TensorT &t) {
                return t.name == name;
              })];
}

size_t commandIndex(const ScheduleT &schedule, const std::string &location) {
  return findIn(schedule.commands, location,
                [&](const CommandT &c) { return c.location == location; });
}

CommandT &commandNamed(ScheduleT &schedule, const std::string &location) {
  return *schedule.commands[commandIndex(schedule, location)];
}

void markNondeterministic(ScheduleT &schedule, const std::string &location) {
  CommandT &command = commandNamed(schedule, location);
  schedule.kernels.push_back(
      std::make_unique<KernelT>(*schedule.kernels[command.kernel]));
  schedule.kernels.back()->nondeterministic = true;
  command.kernel = static_cast<int32_t>(schedule.kernels.size() - 1);
}

void eraseCommand(ScheduleT &schedule, size_t index) {
  schedule.commands.erase(schedule.commands.begin() + index);
}

void moveCommand(ScheduleT &schedule, size_t from, size_t to) {
  auto moved = std::move(schedule.commands[from]);
  eraseCommand(schedule, from);
  schedule.commands.insert(schedule.commands.begin() + to, std::move(moved));
}

// device  0        64    96     128            192            256 320   336
//         | weight | ws  |      | x            | act          | out          |
//         loss |
//                               | act.back     | relu         | grad         |
// host    | x.host | act.host | loss.host
ScheduleT trainingStep() {
  PlanBuilder plan;
  plan.device("weight.old", 64, 0);
  plan.device("weight.new", 64, 0);
  plan.workspace("ws", 32, 64);
  plan.host("x.host", 64, 0);
  plan.device("x.device", 64, 128);
  plan.device("act.made", 64, 192);
  plan.host("act.host", 64, 64);
  plan.device("act.back", 64, 128);
  plan.device("out", 64, 256);
  plan.device("relu", 64, 192);
  plan.device("grad", 64, 256);
  plan.device("loss.device", 16, 320);
  plan.host("loss.host", 16, 128);
  plan.persistent("weight.old", "weight.new");
  plan.input("x.host");
  plan.output("loss.host");

  plan.copy("h2d", "x.host", "x.device");
  uint32_t arrived = plan.record("h2d");
  plan.wait("compute", arrived);
  plan.launch("conv1", {"x.device", "weight.old"}, {"act.made"}, {}, "ws");
  uint32_t made = plan.record("compute");
  plan.wait("d2h", made);
  plan.copy("d2h", "act.made", "act.host");
  uint32_t offloaded = plan.record("d2h");
  plan.launch("conv2", {"act.made", "weight.old"}, {"out"});
  plan.wait("compute", offloaded);
  plan.launch("relu", {"out"}, {"relu"});
  plan.launch("loss", {"relu"}, {"loss.device"});
  uint32_t judged = plan.record("compute");
  plan.wait("h2d", offloaded);
  plan.copy("h2d", "act.host", "act.back");
  uint32_t back = plan.record("h2d");
  plan.wait("d2h", judged);
  plan.copy("d2h", "loss.device", "loss.host");
  plan.wait("compute", back);
  plan.launch("wgrad", {"act.back", "relu"}, {"grad"});
  // The next step's input arrives where the prefetched activation lies.
  uint32_t used = plan.record("compute");
  plan.wait("h2d", used);
  plan.launch("sgd", {"weight.old", "grad"}, {"weight.new"}, {{0, 0}});
  // The next step's loss may not be computed where this one is still read from;
  // its wait for the offload, which d2h makes after that copy, is enough.
  return plan.finish();
}

// device  0                 64     128     192    256
//         | x.now -> x.next | first | weight | loss |
// host    | x.staging       | loss.host |
ScheduleT stagedStep() {
  PlanBuilder plan;
  plan.device("x.now", 64, 0);
  plan.device("x.next", 64, 0);
  plan.host("x.staging", 64, 0);
  plan.device("first", 64, 64);
  plan.device("weight.old", 64, 128);
  plan.device("weight.new", 64, 128);
  plan.device("loss.device", 16, 192);
  plan.host("loss.host", 16, 64);
  plan.staged("x.now", "x.next", "x.staging");
  plan.persistent("weight.old", "weight.new");
  plan.output("loss.host");

  // What the step before has copied in.
  plan.wait("compute", plan.record("h2d"));
  plan.launch("first", {"x.now"}, {"first"});
  plan.wait("h2d", plan.record("compute"));
  plan.copy("h2d", "x.staging", "x.next");
  plan.wait("compute", plan.record("d2h"));
  plan.launch("second", {"first", "weight.old"}, {"weight.new", "loss.device"},
              {{1, 0}});
  plan.wait("d2h", plan.record("compute"));
  plan.copy("d2h", "loss.device", "loss.host");
  return plan.finish();
}

ScheduleT deepPlan(unsigned layers) {
  PlanBuilder plan;
  plan.host("x.host", 64, 0);
  plan.input("x.host");
  plan.device("x.device", 64, 128);
  plan.copy("h2d", "x.host", "x.device");
  plan.wait("compute", plan.record("h2d"));
  std::string before = "x.device";
  std::vector<uint32_t> offloaded;
  for (unsigned i = 0; i < layers; ++i) {
    std::string name = "a" + std::to_string(i);
    plan.device(name + ".device", 64, i % 2 * 64);
    plan.host(name + ".host", 64, 64 * (i + 1));
    if (i >= 2) {
      plan.wait("compute", offloaded[i - 2]);
    }
    plan.launch(name, {before}, {name + ".device"});
    uint32_t made = plan.record("compute");
    plan.wait("d2h", made);
    plan.copy("d2h", name + ".device", name + ".host");
    offloaded.push_back(plan.record("d2h"));
    before = name + ".device";
  }
  for (unsigned i = layers > 2 ? layers - 2 : 0; i < layers; ++i) {
    plan.wait("compute", offloaded[i]);
  }
  plan.wait("h2d", plan.record("compute"));
  return plan.finish();
}

} // namespace vdnn::rt::test
