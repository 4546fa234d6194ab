//===- Mutate.cpp - small changes that may break a plan --------------------------------------------------------===//

#include "Mutate.h"

#include "PlanBuilder.h"

namespace vdnn::rt::test {

using namespace schedule;

static constexpr uint32_t kNone = ~uint32_t(0);

/// The command before or behind `index` on its stream, or kNone.
static uint32_t neighbour(const ScheduleT &schedule, uint32_t index, int direction) {
  for (int64_t i = int64_t(index) + direction; i >= 0 && i < int64_t(schedule.commands.size()); i += direction) {
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
    mutated.buffers[mutant.index]->offset += mutated.buffers[mutant.index]->alignment;
    break;
  case Mutation::ShiftDown:
    mutated.buffers[mutant.index]->offset -= mutated.buffers[mutant.index]->alignment;
    break;
  case Mutation::Swap:
    std::swap(mutated.buffers[mutant.index]->offset, mutated.buffers[mutant.other]->offset);
    break;
  case Mutation::Shrink:
    mutated.buffers[mutant.index]->bytes /= 2;
    break;
  }
  fitHeader(mutated);
  return mutated;
}

std::string describe(const ScheduleT &schedule, const Mutant &mutant) {
  static constexpr const char *kNames[] = {"drop record", "drop wait",  "move record earlier", "move wait later",
                                           "shift up",    "shift down", "swap ranges",         "shrink range"};
  std::string text = kNames[static_cast<int>(mutant.mutation)];
  if (mutant.mutation <= Mutation::MoveWaitLater) {
    const CommandT &command = *schedule.commands[mutant.index];
    return text + ": command " + std::to_string(mutant.index) + " (event " + std::to_string(command.event) + " on '" +
           schedule.streams[command.stream]->name + "')";
  }
  text += ": buffer '" + schedule.buffers[mutant.index]->name + "' (" + std::to_string(mutant.index) + ")";
  if (mutant.mutation == Mutation::Swap) {
    text += " and '" + schedule.buffers[mutant.other]->name + "' (" + std::to_string(mutant.other) + ")";
  }
  return text;
}

} // namespace vdnn::rt::test
