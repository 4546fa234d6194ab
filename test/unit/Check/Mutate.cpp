//===- Mutate.cpp - small changes that may break a plan -------------------===//

#include "Mutate.h"

#include "PlanBuilder.h"

namespace vdnn::rt::test {

using namespace schedule;

static constexpr uint32_t kNone = ~uint32_t(0);

/// The command before or behind `index` on its stream, or kNone.
static uint32_t neighbour(const ScheduleT &schedule, uint32_t index,
                          int direction) {
  for (int64_t i = int64_t(index) + direction;
       i >= 0 && i < int64_t(schedule.commands.size()); i += direction) {
    if (schedule.commands[i]->stream == schedule.commands[index]->stream) {
      return static_cast<uint32_t>(i);
    }
  }
  return kNone;
}

static uint32_t swapPartner(const ScheduleT &schedule, uint32_t index) {
  for (uint32_t i = index + 1; i < schedule.buffers.size(); ++i) {
    if (schedule.buffers[i]->arena == schedule.buffers[index]->arena &&
        schedule.buffers[i]->offset != schedule.buffers[index]->offset) {
      return i;
    }
  }
  return kNone;
}

static Operand &operandOf(CommandT &command, uint32_t number) {
  return number < command.reads.size()
             ? command.reads[number]
             : command.writes[number - command.reads.size()];
}

/// The next buffer of a tensor that could stand in for this one by its size, or
/// kNone.
static uint32_t standIn(const ScheduleT &schedule, uint32_t index) {
  size_t count = schedule.buffers.size();
  const BufferT &wanted = *schedule.buffers[index];
  for (size_t i = 1; i < count; ++i) {
    const BufferT &other = *schedule.buffers[(index + i) % count];
    if (other.tensor >= 0 && other.arena == wanted.arena &&
        other.bytes == wanted.bytes) {
      return (index + i) % count;
    }
  }
  return kNone;
}

static uint32_t otherExit(const ScheduleT &schedule, const TensorT &tensor) {
  for (uint32_t i = 0; i < schedule.buffers.size(); ++i) {
    const BufferT &buffer = *schedule.buffers[i];
    if (static_cast<int32_t>(i) != tensor.exit &&
        buffer.tensor == schedule.buffers[tensor.exit]->tensor &&
        buffer.bytes == schedule.buffers[tensor.exit]->bytes) {
      return i;
    }
  }
  return kNone;
}

static ElementType otherElement(ElementType element) {
  switch (elementBytes(element)) {
  case 1:
    return element == ElementType::I8 ? ElementType::U8 : ElementType::I8;
  case 2:
    return element == ElementType::I16 ? ElementType::F16 : ElementType::I16;
  case 4:
    return element == ElementType::I32 ? ElementType::F32 : ElementType::I32;
  default:
    return element == ElementType::I64 ? ElementType::F64 : ElementType::I64;
  }
}

static void addOperandMutants(const ScheduleT &schedule, uint32_t index,
                              std::vector<Mutant> &mutants) {
  CommandT &command = *schedule.commands[index];
  for (uint32_t i = 0; i < command.in_place.size(); ++i) {
    mutants.push_back({Mutation::DropInPlace, index, i});
  }
  for (uint32_t i = 0; i < command.reads.size() + command.writes.size(); ++i) {
    if (standIn(schedule, operandOf(command, i).buffer()) != kNone) {
      mutants.push_back({Mutation::SwapOperand, index, i});
    }
    mutants.push_back({Mutation::ChangeElement, index, i});
  }
}

std::vector<Mutant> enumerateMutants(const ScheduleT &schedule) {
  std::vector<Mutant> mutants;
  for (uint32_t i = 0; i < schedule.commands.size(); ++i) {
    if (schedule.commands[i]->kind == CommandKind::Record) {
      mutants.push_back({Mutation::DropRecord, i});
      if (neighbour(schedule, i, -1) != kNone) {
        mutants.push_back({Mutation::MoveRecordEarlier, i});
      }
    } else if (schedule.commands[i]->kind == CommandKind::Wait) {
      mutants.push_back({Mutation::DropWait, i});
      if (neighbour(schedule, i, 1) != kNone) {
        mutants.push_back({Mutation::MoveWaitLater, i});
      }
    } else {
      addOperandMutants(schedule, i, mutants);
    }
  }
  for (uint32_t i = 0; i < schedule.tensors.size(); ++i) {
    if (schedule.tensors[i]->exit >= 0) {
      if (uint32_t other = otherExit(schedule, *schedule.tensors[i]);
          other != kNone) {
        mutants.push_back({Mutation::MoveExit, i, other});
      }
    }
  }
  for (uint32_t i = 0; i < schedule.buffers.size(); ++i) {
    const BufferT &buffer = *schedule.buffers[i];
    if (buffer.bytes == 0) {
      continue;
    }
    mutants.push_back({Mutation::ShiftUp, i});
    if (buffer.offset >= buffer.alignment) {
      mutants.push_back({Mutation::ShiftDown, i});
    }
    if (uint32_t partner = swapPartner(schedule, i); partner != kNone) {
      mutants.push_back({Mutation::Swap, i, partner});
    }
    mutants.push_back({Mutation::Shrink, i});
  }
  return mutants;
}

ScheduleT applyMutant(const ScheduleT &schedule, const Mutant &mutant) {
  ScheduleT mutated = schedule;
  switch (mutant.mutation) {
  case Mutation::DropRecord:
  case Mutation::DropWait:
    eraseCommand(mutated, mutant.index);
    return mutated;
  case Mutation::MoveRecordEarlier:
    moveCommand(mutated, mutant.index, neighbour(schedule, mutant.index, -1));
    return mutated;
  case Mutation::MoveWaitLater:
    moveCommand(mutated, mutant.index, neighbour(schedule, mutant.index, 1));
    return mutated;
  case Mutation::ShiftUp:
    mutated.buffers[mutant.index]->offset +=
        mutated.buffers[mutant.index]->alignment;
    break;
  case Mutation::ShiftDown:
    mutated.buffers[mutant.index]->offset -=
        mutated.buffers[mutant.index]->alignment;
    break;
  case Mutation::Swap:
    std::swap(mutated.buffers[mutant.index]->offset,
              mutated.buffers[mutant.other]->offset);
    break;
  case Mutation::Shrink:
    mutated.buffers[mutant.index]->bytes /= 2;
    break;
  case Mutation::DropInPlace:
    mutated.commands[mutant.index]->in_place.erase(
        mutated.commands[mutant.index]->in_place.begin() + mutant.other);
    return mutated;
  case Mutation::SwapOperand: {
    Operand &operand = operandOf(*mutated.commands[mutant.index], mutant.other);
    setBuffer(operand, standIn(schedule, operand.buffer()));
    return mutated;
  }
  case Mutation::ChangeElement: {
    Operand &operand = operandOf(*mutated.commands[mutant.index], mutant.other);
    auto type = std::make_unique<TypeT>(*mutated.types[operand.type()]);
    type->element = otherElement(type->element);
    setType(operand, mutated.types.size());
    mutated.types.push_back(std::move(type));
    return mutated;
  }
  case Mutation::MoveExit:
    mutated.tensors[mutant.index]->exit = static_cast<int32_t>(mutant.other);
    return mutated;
  }
  fitHeader(mutated);
  return mutated;
}

std::string describe(const ScheduleT &schedule, const Mutant &mutant) {
  static constexpr const char *kNames[] = {
      "drop record",   "drop wait",    "move record earlier", "move wait later",
      "shift up",      "shift down",   "swap ranges",         "shrink range",
      "drop in place", "swap operand", "change element",      "move exit"};
  std::string text = kNames[static_cast<int>(mutant.mutation)];
  if (mutant.mutation <= Mutation::MoveWaitLater) {
    const CommandT &command = *schedule.commands[mutant.index];
    return text + ": command " + std::to_string(mutant.index) + " (event " +
           std::to_string(command.event) + " on '" +
           schedule.streams[command.stream]->name + "')";
  }
  if (mutant.mutation == Mutation::MoveExit) {
    return text + ": tensor '" + schedule.tensors[mutant.index]->name +
           "' to buffer '" + schedule.buffers[mutant.other]->name + "' (" +
           std::to_string(mutant.other) + ")";
  }
  if (mutant.mutation >= Mutation::DropInPlace) {
    return text + " " + std::to_string(mutant.other) + ": command " +
           std::to_string(mutant.index) + " ('" +
           schedule.commands[mutant.index]->location + "')";
  }
  text += ": buffer '" + schedule.buffers[mutant.index]->name + "' (" +
          std::to_string(mutant.index) + ")";
  if (mutant.mutation == Mutation::Swap) {
    text += " and '" + schedule.buffers[mutant.other]->name + "' (" +
            std::to_string(mutant.other) + ")";
  }
  return text;
}

} // namespace vdnn::rt::test
