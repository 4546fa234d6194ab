//===- Executor.cpp -------------------------------------------------------===//

#include "runtime/exec/Executor.h"

#include "runtime/exec/Layout.h"
#include "runtime/support/Format.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>

namespace vdnn::rt {

using schedule::CommandKind;
using schedule::Role;

bool isPersistent(const schedule::TensorT &tensor) {
  return tensor.role == Role::Parameter || tensor.role == Role::State;
}

bool isConverted(const schedule::TensorT &tensor) {
  return isPersistent(tensor) && tensor.initial &&
         tensor.initial->kind == schedule::InitialKind::Converted;
}

bool isSaved(const schedule::TensorT &tensor) {
  return isPersistent(tensor) && !isConstant(tensor) && !isConverted(tensor);
}

bool isStaged(const schedule::TensorT &tensor) { return tensor.staging >= 0; }

bool isConstant(const schedule::TensorT &tensor) {
  return tensor.role == Role::State && tensor.name.starts_with("constant.");
}

bool isReserved(const schedule::TensorT &tensor) {
  return tensor.role == Role::Input &&
         (tensor.name == "vdnn.rate" || tensor.name == "vdnn.step" ||
          tensor.name == "vdnn.seed");
}

bool isTraining(const schedule::ScheduleT &schedule) {
  for (const auto &tensor : schedule.tensors) {
    if (tensor->role == Role::Gradient ||
        (isPersistent(*tensor) && tensor->exit != tensor->entry)) {
      return true;
    }
  }
  return false;
}

std::vector<Violation> findViolations(const schedule::ScheduleT &schedule,
                                      const Device &device) {
  std::vector<Violation> violations = check(schedule);
  if (!violations.empty() || !device.computes()) {
    return violations;
  }
  const schedule::DeviceT &target = *schedule.target;
  if (target.kind == "model") {
    return {{"P11", "the plan is for '" + target.name +
                        "', which exists only as a cost model: run it with "
                        "--device sim, or plan for this device"}};
  }
  if (target.kind == device.kind() && target.fingerprint.empty()) {
    return {{"P11", "the plan does not say which machine it is made for (its "
                    "target's fingerprint is empty), this device is '" +
                        device.fingerprint() +
                        "'; plan again on this machine"}};
  }
  violations = checkDevice(schedule, device.kind(), device.fingerprint());
  for (const auto &buffer : schedule.buffers) {
    if (buffer->arena == schedule::Arena::Device &&
        buffer->offset % device.alignment() != 0) {
      violations.push_back(
          {"P2", format("buffer '%s' at offset %llu of the device arena is not "
                        "aligned to the %llu bytes that '%s' needs; plan again "
                        "for this device",
                        buffer->name.c_str(),
                        static_cast<unsigned long long>(buffer->offset),
                        static_cast<unsigned long long>(device.alignment()),
                        device.kind().c_str())});
    }
  }
  return violations;
}

Status admit(const schedule::ScheduleT &schedule, const Device &device) {
  std::vector<Violation> violations = findViolations(schedule, device);
  if (violations.empty()) {
    return {};
  }
  std::string list = toString(violations, violations.size());
  list.pop_back(); // the last line feed
  return Error{
      format("the plan breaks invariants in %zu places and is refused\n",
             violations.size()) +
      list};
}

Result<std::unique_ptr<Executor>>
Executor::create(schedule::ScheduleT schedule, std::unique_ptr<Device> device) {
  if (Status status = admit(schedule, *device); !status) {
    return status.error();
  }
  std::unique_ptr<Executor> executor(
      new Executor(std::move(schedule), std::move(device)));
  if (Status status = executor->prepare(); !status) {
    return status.error();
  }
  return executor;
}

/// Refuses before anything runs what would run out of memory on the way: the
/// libraries take theirs as their kernels are first used.
static Status checkRoom(const schedule::ScheduleT &schedule,
                        const DeviceMemory &memory) {
  if (memory.totalBytes == 0 || memory.ownBytes == 0) {
    return {};
  }
  auto number = [](uint64_t bytes) {
    return format("%llu bytes (", static_cast<unsigned long long>(bytes)) +
           formatBytes(bytes) + ")";
  };
  uint64_t own = std::min(memory.ownBytes, schedule.overhead_bytes);
  uint64_t libraries = schedule.overhead_bytes - own;
  uint64_t free =
      memory.totalBytes - std::min(memory.usedBytes, memory.totalBytes);
  if (libraries <= free && schedule.device_arena <= free - libraries) {
    return {};
  }
  return Error{
      "the plan does not fit on the device as it is: the arena takes " +
      number(schedule.device_arena) + ", libraries " + number(libraries) +
      " beside what this process holds already, and " + number(free) + " of " +
      formatBytes(memory.totalBytes) +
      " are free; end what else uses the device, or plan with a --budget of at "
      "most " +
      std::to_string(free + own)};
}

Status Executor::prepare() {
  if (Status status = checkRoom(schedule_, device_->memory()); !status) {
    return status;
  }
  std::vector<schedule::StreamT> streams;
  for (const auto &stream : schedule_.streams) {
    streams.push_back(*stream);
  }
  if (Status status =
          device_->allocate(schedule_.device_arena, schedule_.host_arena,
                            streams, schedule_.event_count);
      !status) {
    return status;
  }
  for (uint32_t i = 0; i < schedule_.tensors.size(); ++i) {
    if (isStaged(*schedule_.tensors[i])) {
      staged_.push_back(i);
    }
  }
  ends_.resize(streams.size());
  findReusedInputs();
  // An input that nobody sets is what the host arena holds, staged or not.
  if (Status status = enterStaged(); !status) {
    return status;
  }
  launches_.resize(schedule_.commands.size());
  for (uint32_t i = 0; i < schedule_.commands.size(); ++i) {
    if (schedule_.commands[i]->kind != CommandKind::Launch) {
      continue;
    }
    if (Status status = prepareLaunch(i); !status) {
      const schedule::CommandT &command = *schedule_.commands[i];
      return Error{format("command %u ('%s', from '%s'): ", i,
                          schedule_.kernels[command.kernel]->kind.c_str(),
                          command.location.c_str()) +
                   status.message()};
    }
  }
  return {};
}

/// The host fills an input before each step, so a plan may put other values in
/// its place once it has been read.
void Executor::findReusedInputs() {
  revisions_.resize(schedule_.tensors.size());
  for (uint32_t i = 0; i < schedule_.tensors.size(); ++i) {
    const schedule::TensorT &tensor = *schedule_.tensors[i];
    if (tensor.role != Role::Input) {
      continue;
    }
    touch(i);
    const schedule::BufferT &input =
        *schedule_.buffers[isStaged(tensor) ? tensor.staging : tensor.entry];
    auto overwrites = [&](const schedule::Operand &operand) {
      const schedule::BufferT &buffer = *schedule_.buffers[operand.buffer()];
      return buffer.arena == input.arena &&
             buffer.offset < input.offset + input.bytes &&
             input.offset < buffer.offset + buffer.bytes;
    };
    if (std::any_of(schedule_.commands.begin(), schedule_.commands.end(),
                    [&](const auto &command) {
                      return std::any_of(command->writes.begin(),
                                         command->writes.end(), overwrites);
                    })) {
      reused_.push_back(i);
    }
  }
}

void Executor::touch(uint32_t tensor) {
  static std::atomic<uint64_t> last = 0;
  revisions_[tensor] = ++last;
}

Status Executor::prepareLaunch(uint32_t index) {
  const schedule::CommandT &command = *schedule_.commands[index];
  Launch &launch = launches_[index];
  auto reads = schedule::typesOf(schedule_, command.reads);
  auto writes = schedule::typesOf(schedule_, command.writes);
  for (const schedule::Operand &operand : command.reads) {
    launch.reads.push_back(schedule_.buffers[operand.buffer()]->offset);
  }
  for (const schedule::Operand &operand : command.writes) {
    launch.writes.push_back(schedule_.buffers[operand.buffer()]->offset);
  }
  launch.arguments.reads = launch.reads;
  launch.arguments.writes = launch.writes;
  if (command.workspace >= 0) {
    const schedule::BufferT &workspace = *schedule_.buffers[command.workspace];
    launch.arguments.workspace = workspace.offset;
    launch.arguments.workspaceBytes = workspace.bytes;
  }
  return device_->prepare(index, *schedule_.kernels[command.kernel],
                          {reads, writes}, command.in_place,
                          launch.arguments.workspaceBytes);
}

Status Executor::steps(uint64_t count, const std::function<Status()> &beside) {
  if (failed_) {
    return Error{"an earlier step failed and left its values undefined: load "
                 "the plan again"};
  }
  Status status = runSteps(count, beside);
  failed_ = !status;
  return status;
}

Status Executor::runSteps(uint64_t count,
                          const std::function<Status()> &beside) {
  for (Observer *observer : observers_) {
    if (Status status = observer->stepBegins(schedule_, *device_); !status) {
      return status;
    }
  }
  for (uint64_t step = 0; step < count; ++step) {
    if (Status status = runStep(); !status) {
      // The command's own error is the one to report; what was queued still
      // has to end before anybody reads memory.
      static_cast<void>(device_->synchronize().ok());
      return status;
    }
  }
  for (uint32_t input : reused_) {
    touch(input);
  }
  Status status = beside ? runBeside(beside) : Status();
  if (Status ended = device_->synchronize(); !ended) {
    return ended;
  }
  if (!status) {
    return status;
  }
  endNs_ = beside && !ends_.empty()
               ? *std::max_element(ends_.begin(), ends_.end())
               : device_->nowNs();
  for (Observer *observer : observers_) {
    if (Status status = observer->stepEnds(schedule_, *device_); !status) {
      return status;
    }
  }
  return {};
}

/// Each stream notes when it is done: this thread looks only after `beside`. A
/// captured step ends on the first stream, where the others are done at once.
Status Executor::runBeside(const std::function<Status()> &beside) {
  for (uint32_t stream = 0; stream < ends_.size(); ++stream) {
    Status status = device_->callback(
        stream, [this, stream] { ends_[stream] = device_->nowNs(); });
    if (!status) {
      return status;
    }
  }
  for (uint32_t number = 0; number < staged_.size(); ++number) {
    if (Status status = device_->awaitMark(number); !status) {
      return status;
    }
  }
  return beside();
}

/// Queues one step.
Status Executor::runStep() {
  bool captures = capture_ && device_->canCapture() &&
                  std::none_of(observers_.begin(), observers_.end(),
                               std::mem_fn(&Observer::seesCommands));
  if (!captures || !warm_) {
    warm_ = true;
    return submitStep();
  }
  if (!captured_) {
    if (Status status = device_->synchronize(); !status) {
      return status;
    }
    if (Status status = device_->capture([this] { return submitStep(); });
        !status) {
      return status;
    }
    captured_ = true;
  }
  return device_->replay();
}

Status Executor::submitStep() {
  for (uint32_t i = 0; i < schedule_.commands.size(); ++i) {
    if (Status status = submit(i); !status) {
      return status;
    }
  }
  return {};
}

Status Executor::submit(uint32_t index) {
  const schedule::CommandT &command = *schedule_.commands[index];
  for (Observer *observer : observers_) {
    if (!observer->seesCommands()) {
      continue;
    }
    if (Status status = observer->before(schedule_, *device_, index); !status) {
      return status;
    }
  }
  Status status;
  switch (command.kind) {
  case CommandKind::Launch:
    status = submitLaunch(index, command);
    break;
  case CommandKind::Copy:
    status = submitCopy(command);
    break;
  case CommandKind::Record:
    status =
        device_->record(command.stream, static_cast<uint32_t>(command.event));
    break;
  case CommandKind::Wait:
    status =
        device_->wait(command.stream, static_cast<uint32_t>(command.event));
    break;
  }
  if (!status) {
    return Error{
        format("command %u ('%s'): ", index, command.location.c_str()) +
        status.message()};
  }
  for (Observer *observer : observers_) {
    if (!observer->seesCommands()) {
      continue;
    }
    if (Status result = observer->after(schedule_, *device_, index); !result) {
      return result;
    }
  }
  return {};
}

Status Executor::submitLaunch(uint32_t index,
                              const schedule::CommandT &command) {
  return device_->launch(command.stream, index, launches_[index].arguments);
}

Status Executor::submitCopy(const schedule::CommandT &command) {
  const schedule::BufferT &source =
      *schedule_.buffers[command.reads[0].buffer()];
  const schedule::BufferT &destination =
      *schedule_.buffers[command.writes[0].buffer()];
  if (destination.arena == schedule::Arena::Host) {
    return device_->copyToHost(command.stream, destination.offset,
                               source.offset, source.bytes);
  }
  if (Status status = device_->copyToDevice(command.stream, destination.offset,
                                            source.offset, source.bytes);
      !status) {
    return status;
  }
  for (uint32_t number = 0; number < staged_.size(); ++number) {
    if (schedule_.tensors[staged_[number]]->staging ==
        static_cast<int32_t>(command.reads[0].buffer())) {
      return device_->mark(command.stream, number);
    }
  }
  return {};
}

//===--- values -----------------------------------------------------------===//

std::optional<uint32_t> Executor::find(const std::string &name) const {
  for (uint32_t i = 0; i < schedule_.tensors.size(); ++i) {
    if (schedule_.tensors[i]->name == name) {
      return i;
    }
  }
  return std::nullopt;
}

std::span<std::byte> Executor::inputBytes(uint32_t tensor) {
  touch(tensor);
  return inputRange(tensor);
}

std::span<std::byte> Executor::inputRange(uint32_t tensor) {
  const schedule::TensorT &input = *schedule_.tensors[tensor];
  int32_t buffer = isStaged(input) ? input.staging : input.entry;
  return {device_->hostArena() + schedule_.buffers[buffer]->offset,
          input.bytes};
}

Status Executor::enterStaged() {
  for (uint32_t index : staged_) {
    const schedule::BufferT &entry =
        *schedule_.buffers[schedule_.tensors[index]->entry];
    if (Status status = device_->upload(entry.offset, inputRange(index));
        !status) {
      return status;
    }
  }
  return {};
}

Status Executor::write(uint32_t index, const HostTensor &value) {
  const schedule::TensorT &tensor = *schedule_.tensors[index];
  if (tensor.entry < 0) {
    return Error{"tensor '" + tensor.name +
                 "' has no value when a step begins"};
  }
  if (value.element != tensor.type->element ||
      value.shape != tensor.type->shape) {
    return Error{"tensor '" + tensor.name + "' takes " +
                 formatShape(tensor.type->shape) + " of " +
                 elementName(tensor.type->element) + ", got " +
                 formatShape(value.shape) + " of " +
                 elementName(value.element)};
  }
  const schedule::BufferT &buffer = *schedule_.buffers[tensor.entry];
  touch(index);
  if (isStaged(tensor)) {
    // For the next step, and from there for all that follow.
    std::span<std::byte> staging = inputRange(index);
    fromRowMajor(*tensor.type, value.data, staging);
    return device_->upload(buffer.offset, staging);
  }
  if (buffer.arena == schedule::Arena::Host) {
    fromRowMajor(*tensor.type, value.data,
                 {device_->hostArena() + buffer.offset, tensor.bytes});
    return {};
  }
  if (tensor.type->layout == schedule::Layout::RowMajor) {
    return device_->upload(buffer.offset, value.data);
  }
  std::vector<std::byte> bytes(tensor.bytes);
  fromRowMajor(*tensor.type, value.data, bytes);
  return device_->upload(buffer.offset, bytes);
}

Result<HostTensor> Executor::read(uint32_t index) {
  const schedule::TensorT &tensor = *schedule_.tensors[index];
  if (tensor.exit < 0) {
    return Error{"tensor '" + tensor.name + "' has no value when a step ends"};
  }
  const schedule::BufferT &buffer = *schedule_.buffers[tensor.exit];
  std::vector<std::byte> bytes(tensor.bytes);
  if (buffer.arena == schedule::Arena::Host) {
    std::memcpy(bytes.data(), device_->hostArena() + buffer.offset,
                bytes.size());
  } else if (Status status = device_->download(buffer.offset, bytes); !status) {
    return status.error();
  }
  std::vector<std::byte> rowMajor(tensor.bytes);
  toRowMajor(*tensor.type, bytes, rowMajor);
  return makeHostTensor(tensor.name, tensor.type->element, tensor.type->shape,
                        std::move(rowMajor));
}

} // namespace vdnn::rt
