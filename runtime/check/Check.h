//===- Check.h - proves that a schedule may run ---------------------------===//
//
// The judge between compiler and runtime: from the schedule alone, and sharing
// no code with the planner, it proves that a step can run again and again
// without a race, without reading anything but what its commands name, and
// within the arenas it declares. docs/invariants.md states the invariants P1 to
// P12; the comments in schedule.fbs are the semantics.
//
// Takes time n log n in commands and buffers. All functions are thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_CHECK_CHECK_H
#define VDNN_RUNTIME_CHECK_CHECK_H

#include "runtime/schedule/Schedule.h"

#include <string>
#include <vector>

namespace vdnn::rt {

/// One broken invariant.
struct Violation {
  /// "P1" to "P12"; "P0" where the schedule is not even structurally sound, and
  /// nothing else was looked at.
  std::string invariant;
  /// Both parties with their ranges, and what is missing between them. One
  /// line.
  std::string message;
};

/// Checks every invariant except P11. Empty: the schedule may run on the device
/// that it was made for.
std::vector<Violation> check(const schedule::ScheduleT &schedule);

/// P11: whether a device of this kind and fingerprint is the one that the
/// schedule was made for.
std::vector<Violation> checkDevice(const schedule::ScheduleT &schedule,
                                   const std::string &kind,
                                   const std::string &fingerprint);

/// "P3: ..." one violation a line, at most `limit` of them, then how many more
/// there are.
std::string toString(const std::vector<Violation> &violations,
                     size_t limit = 20);

} // namespace vdnn::rt

#endif
