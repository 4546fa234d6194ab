//===- PlanBuilder.h - small plans that read like plans -------------------===//
//
//   PlanBuilder plan;
//   plan.device("a", 64, 0);                   // tensor 'a' of 64 bytes and
//   its buffer at offset 0 plan.launch("conv1", {"x"}, {"a"});        // on
//   'compute' uint32_t done = plan.record("compute"); plan.wait("d2h", done);
//   plan.copy("d2h", "a", "a.host");
//
// Buffers are named; the part of a name before the first '.' is its tensor's.
// Streams 'compute', 'd2h' and 'h2d' are there.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_TEST_UNIT_CHECK_PLANBUILDER_H
#define VDNN_TEST_UNIT_CHECK_PLANBUILDER_H

#include "runtime/schedule/Schedule.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace vdnn::rt::test {

class PlanBuilder {
public:
  using Names = std::vector<std::string>;

  PlanBuilder();

  void stream(const std::string &name, schedule::StreamKind kind);

  /// A tensor with one place, or one more place of a tensor that is there.
  /// Bytes are a multiple of four.
  void device(const std::string &buffer, uint64_t bytes, uint64_t offset);
  void host(const std::string &buffer, uint64_t bytes, uint64_t offset);
  void workspace(const std::string &buffer, uint64_t bytes, uint64_t offset);

  /// Parts of persistent, input and output tensors, whose buffers are there.
  void persistent(const std::string &entry, const std::string &exit);
  void input(const std::string &entry);
  void output(const std::string &exit);
  void staged(const std::string &entry, const std::string &exit,
              const std::string &staging);

  /// In place: pairs of positions in `reads` and `writes`.
  void launch(const std::string &location, const Names &reads,
              const Names &writes,
              const std::vector<std::pair<uint32_t, uint32_t>> &inPlace = {},
              const std::string &workspace = "",
              const std::string &stream = "compute");
  void copy(const std::string &stream, const std::string &from,
            const std::string &to);
  /// Returns the event.
  uint32_t record(const std::string &stream);
  void wait(const std::string &stream, uint32_t event);

  /// The schedule, its header made to fit its body.
  schedule::ScheduleT finish() const;

private:
  void buffer(const std::string &name, uint64_t bytes, uint64_t offset,
              schedule::Arena arena, bool holdsTensor);
  schedule::CommandT &command(schedule::CommandKind kind,
                              const std::string &stream,
                              const std::string &location);
  std::vector<schedule::Operand> operands(const Names &names) const;

  schedule::ScheduleT schedule_;
  std::unordered_map<std::string, uint32_t> buffers_;
  std::unordered_map<std::string, uint32_t> tensors_;
};

/// Makes the header's arenas as long as the buffers need.
void fitHeader(schedule::ScheduleT &schedule);

/// Finds by name; the name must be there.
schedule::BufferT &bufferNamed(schedule::ScheduleT &schedule,
                               const std::string &name);
int32_t bufferIndex(const schedule::ScheduleT &schedule,
                    const std::string &name);
schedule::TensorT &tensorNamed(schedule::ScheduleT &schedule,
                               const std::string &name);
/// A launch by its location, a copy by "from->to".
size_t commandIndex(const schedule::ScheduleT &schedule,
                    const std::string &location);
schedule::CommandT &commandNamed(schedule::ScheduleT &schedule,
                                 const std::string &location);

inline void setBuffer(schedule::Operand &operand, uint32_t buffer) {
  operand = {buffer, operand.type()};
}
inline void setType(schedule::Operand &operand, uint32_t type) {
  operand = {operand.buffer(), type};
}

/// Gives a launch a kernel of its own that is nondeterministic.
void markNondeterministic(schedule::ScheduleT &schedule,
                          const std::string &location);

void eraseCommand(schedule::ScheduleT &schedule, size_t index);
/// The command ends at place `to` of the list without it.
void moveCommand(schedule::ScheduleT &schedule, size_t from, size_t to);

/// One training step of two layers with an offload, a prefetch, reuse of
/// ranges, an update in place, a workspace, an input and an output. Every event
/// of it is needed. See PlanBuilder.cpp for its picture.
schedule::ScheduleT trainingStep();

/// A step whose input is staged: its first launch alone reads it, and the next
/// step's value is copied in beside the second one. Every event is needed.
schedule::ScheduleT stagedStep();

/// `layers` layers that take turns in two device ranges, each offloaded to its
/// own place: as many commands, buffers and events as the plan of a deep
/// network.
schedule::ScheduleT deepPlan(unsigned layers);

} // namespace vdnn::rt::test

#endif
