//===- Oracle.h - whether a plan can go wrong, found by running it --------===//
//
// An abstract interpreter. Every byte carries the value it belongs to and its
// place in that value; commands take time, so that copies and kernels overlap;
// events are CUDA's (a wait means the latest record submitted before it, or
// nothing). It replays several steps under many interleavings of the streams
// and compares what every command reads with what the program order of the
// original plan gives. It knows nothing of happens-before, and shares nothing
// with the checker.
//
// It can prove harm, never harmlessness.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_TEST_UNIT_CHECK_ORACLE_H
#define VDNN_TEST_UNIT_CHECK_ORACLE_H

#include "runtime/schedule/Schedule.h"

#include <optional>
#include <string>

namespace vdnn::rt::test {

struct OracleOptions {
  unsigned steps = 2;
  /// Interleavings with random priorities, besides one for every order of
  /// priority among few streams.
  unsigned randomRuns = 8;
  uint64_t seed = 1;
};

/// What went wrong in some interleaving, or nothing.
std::optional<std::string> findHarm(const schedule::ScheduleT &schedule,
                                    const OracleOptions &options = {});

} // namespace vdnn::rt::test

#endif
