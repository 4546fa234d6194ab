//===- Context.cpp - facts and messages -----------------------------------===//

#include "runtime/check/Context.h"

#include <algorithm>

namespace vdnn::rt::check_detail {

using namespace schedule;

Context::Context(const ScheduleT &schedule)
    : schedule(schedule), uses(schedule.buffers.size()),
      places(schedule.buffers.size()) {
  auto addUse = [&](BufferId id, CommandId command,
                    std::vector<CommandId> Uses::*kind) {
    std::vector<CommandId> &list = uses[id].*kind;
    if (list.empty() || list.back() != command) {
      list.push_back(command);
    }
    // Few streams, so a linear search is the fast one.
    std::vector<CommandId> &last = uses[id].last;
    uint32_t stream = schedule.commands[command]->stream;
    auto found = std::find_if(last.begin(), last.end(), [&](CommandId other) {
      return schedule.commands[other]->stream == stream;
    });
    if (found == last.end()) {
      last.push_back(command);
    } else {
      *found = command;
    }
  };
  for (CommandId id = 0; id < schedule.commands.size(); ++id) {
    const CommandT &command = *schedule.commands[id];
    for (const Operand &operand : command.reads) {
      addUse(operand.buffer(), id, &Uses::reads);
    }
    for (const Operand &operand : command.writes) {
      addUse(operand.buffer(), id, &Uses::writes);
    }
    if (command.workspace >= 0) {
      addUse(command.workspace, id, &Uses::workspaceOf);
    }
  }
  for (uint32_t id = 0; id < schedule.tensors.size(); ++id) {
    const TensorT &tensor = *schedule.tensors[id];
    if (tensor.entry >= 0) {
      places[tensor.entry].entryOf = id;
    }
    if (tensor.exit >= 0) {
      places[tensor.exit].exitOf = id;
    }
    if (tensor.staging >= 0) {
      places[tensor.staging].stagingOf = id;
    }
  }
}

bool Context::isPersistent(uint32_t tensor) const {
  Role role = schedule.tensors[tensor]->role;
  return role == Role::Parameter || role == Role::State;
}

CommandId Context::writer(BufferId id) const {
  const Uses &u = uses[id];
  if (places[id].entryOf != kNone) {
    return kNone;
  }
  if (!u.writes.empty()) {
    return u.writes.front();
  }
  return u.workspaceOf.empty() ? kNone : u.workspaceOf.front();
}

void Context::report(const char *invariant, std::string message) {
  violations.push_back({invariant, std::move(message)});
}

void Context::reportRange(Arena arena, const char *invariant,
                          std::string message) {
  if (arena == Arena::Host) {
    report("P12", std::string("as ") + invariant + " on the host: " + message);
  } else {
    report(invariant, std::move(message));
  }
}

const char *arenaName(Arena arena) {
  return arena == Arena::Device ? "device" : "host";
}

std::string rangeText(uint64_t begin, uint64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

std::string Context::describeBuffer(BufferId id) const {
  const BufferT &b = buffer(id);
  std::string name = b.name;
  if (name.empty() && b.tensor >= 0) {
    name = schedule.tensors[b.tensor]->name;
  }
  return "buffer '" + name + "' (" + std::to_string(id) + ", " +
         arenaName(b.arena) + " " + rangeText(b.offset, b.offset + b.bytes) +
         ")";
}

std::string Context::describeCommand(CommandId id) const {
  const CommandT &c = command(id);
  std::string what;
  switch (c.kind) {
  case CommandKind::Launch:
    what = "launch " + schedule.kernels[c.kernel]->kind;
    break;
  case CommandKind::Copy:
    what = "copy";
    break;
  case CommandKind::Record:
    what = "record of event " + std::to_string(c.event);
    break;
  case CommandKind::Wait:
    what = "wait for event " + std::to_string(c.event);
    break;
  }
  std::string location = c.location.empty() ? "" : " '" + c.location + "'";
  return "command " + std::to_string(id) + " (" + what + location + " on '" +
         stream(id).name + "')";
}

std::string Context::describeTensor(uint32_t id) const {
  return "tensor '" + schedule.tensors[id]->name + "'";
}

} // namespace vdnn::rt::check_detail
