//===- Mutate.h - small changes that may break a plan ----------------------------------------------------------===//

#ifndef VDNN_TEST_UNIT_CHECK_MUTATE_H
#define VDNN_TEST_UNIT_CHECK_MUTATE_H

#include "runtime/schedule/Schedule.h"

#include <string>
#include <vector>

namespace vdnn::rt::test {

enum class Mutation {
  DropRecord,
  DropWait,
  MoveRecordEarlier, // before the command that precedes it on its stream
  MoveWaitLater,     // behind the command that follows it on its stream
  ShiftUp,           // by the buffer's alignment
  ShiftDown,
  Swap, // offsets of two buffers of one arena
  Shrink,
};

struct Mutant {
  Mutation mutation;
  uint32_t index;     // command or buffer
  uint32_t other = 0; // of Swap
};

/// All mutants, in a fixed order. A swap is made with the next buffer of the arena that lies elsewhere.
std::vector<Mutant> enumerateMutants(const schedule::ScheduleT &schedule);

/// The header's arenas are made to fit, so that they do not give the change away.
schedule::ScheduleT applyMutant(const schedule::ScheduleT &schedule, const Mutant &mutant);

std::string describe(const schedule::ScheduleT &schedule, const Mutant &mutant);

} // namespace vdnn::rt::test

#endif
