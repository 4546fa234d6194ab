//===- Mutate.h - small changes that may break a plan ---------------------===//

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
  DropInPlace,   // one pair of a launch
  SwapOperand,   // another buffer of equal size, of the same arena
  ChangeElement, // an operand's elements, to another type of equal size
  MoveExit,      // of a tensor, to another of its buffers, or to its entry
};

struct Mutant {
  Mutation mutation;
  uint32_t index;     // command, buffer, or tensor of MoveExit
  uint32_t other = 0; // buffer of Swap and MoveExit; pair of DropInPlace;
                      // operand, reads first
};

/// All mutants, in a fixed order. A swap is made with the next buffer of the
/// arena that lies elsewhere.
std::vector<Mutant> enumerateMutants(const schedule::ScheduleT &schedule);

/// The header's arenas are made to fit, so that they do not give the change
/// away.
schedule::ScheduleT applyMutant(const schedule::ScheduleT &schedule,
                                const Mutant &mutant);

std::string describe(const schedule::ScheduleT &schedule, const Mutant &mutant);

} // namespace vdnn::rt::test

#endif
