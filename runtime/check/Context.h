//===- Context.h - what all rule groups know about a schedule -------------===//

#ifndef VDNN_RUNTIME_CHECK_CONTEXT_H
#define VDNN_RUNTIME_CHECK_CONTEXT_H

#include "runtime/check/Check.h"

#include <cstdint>
#include <string>
#include <vector>

namespace vdnn::rt::check_detail {

using CommandId = uint32_t;
using BufferId = uint32_t;
inline constexpr uint32_t kNone = ~uint32_t(0);

/// All uses of one buffer within a step, in submission order.
struct Uses {
  std::vector<CommandId> writes;
  std::vector<CommandId> reads;
  /// Launches that use it as workspace: they write and read it.
  std::vector<CommandId> workspaceOf;
  /// The last use on each stream: whatever comes after all of these comes after
  /// every use.
  std::vector<CommandId> last;
};

/// What a buffer is to the tensor that it holds.
struct Place {
  uint32_t entryOf = kNone;
  uint32_t exitOf = kNone;
  uint32_t stagingOf = kNone;
};

/// Facts of a structurally sound schedule, which must outlive this, and the
/// violations found so far.
class Context {
public:
  explicit Context(const schedule::ScheduleT &schedule);

  const schedule::ScheduleT &schedule;
  std::vector<Uses> uses;
  std::vector<Place> places;
  std::vector<Violation> violations;

  const schedule::BufferT &buffer(BufferId id) const {
    return *schedule.buffers[id];
  }
  const schedule::CommandT &command(CommandId id) const {
    return *schedule.commands[id];
  }
  const schedule::StreamT &stream(CommandId id) const {
    return *schedule.streams[command(id).stream];
  }

  /// Where the tensor of a buffer keeps its value from one step to the next.
  bool isPersistent(uint32_t tensor) const;

  /// Whether an exit is the next step's entry: of persistent tensors, and of
  /// inputs whose next value comes in during the step.
  bool isCarried(uint32_t tensor) const {
    return isPersistent(tensor) || schedule.tensors[tensor]->staging >= 0;
  }

  /// The command that gives the buffer its value, or kNone: an entry buffer, or
  /// one without a writer.
  CommandId writer(BufferId id) const;

  /// Whether a command is a launch that may give other bits in every run.
  bool isNondeterministic(CommandId id) const {
    return command(id).kind == schedule::CommandKind::Launch &&
           schedule.kernels[command(id).kernel]->nondeterministic;
  }

  void report(const char *invariant, std::string message);

  /// Reports a rule about ranges: `invariant` on the device, P12 on the host.
  void reportRange(schedule::Arena arena, const char *invariant,
                   std::string message);

  /// "buffer 'conv1.out' (3, device [0, 4096))"
  std::string describeBuffer(BufferId id) const;
  /// "command 12 (launch conv 'layer1.conv' on 'compute')"
  std::string describeCommand(CommandId id) const;
  /// "tensor 'x'"
  std::string describeTensor(uint32_t id) const;
};

/// "device" or "host".
const char *arenaName(schedule::Arena arena);

/// "[16, 32)"
std::string rangeText(uint64_t begin, uint64_t end);

} // namespace vdnn::rt::check_detail

#endif
