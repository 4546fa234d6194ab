//===- Oracle.h - runs a program in hostile orders ------------------------===//

#ifndef VDNN_TEST_UNIT_PLANNING_ORACLE_H
#define VDNN_TEST_UNIT_PLANNING_ORACLE_H

#include "vdnn/Planning/Program.h"

#include <random>

namespace vdnn::planning::test {

/// Each method returns what went wrong first, or nothing.
class Oracle {
public:
  Oracle(const Problem &problem, const Program &program, uint32_t steps = 2);

  /// The shape of the program: events, streams, ranges that overlap while both
  /// are in use.
  std::string checkForm() const;
  /// In submission order.
  std::string runInOrder() const;
  /// Streams advance at random.
  std::string runRandomly(std::mt19937 &random) const;
  /// Once per command: only what must precede it runs first, then the command,
  /// then the rest. Finds every pair of commands that conflict and are not
  /// ordered.
  std::string runEachEarly() const;

private:
  struct Instance {
    uint32_t step;
    uint32_t command;
  };
  class Machine;

  void computeValues();
  std::string replay(const std::vector<Instance> &order) const;

  const Problem &problem;
  const Program &program;
  uint32_t steps;
  /// Per step and tensor, what sequential execution gives.
  std::vector<std::vector<uint64_t>> values;
};

} // namespace vdnn::planning::test

#endif
