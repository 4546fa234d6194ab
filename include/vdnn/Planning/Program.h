//===- Program.h - a solution as commands on streams, with addresses ------===//

#ifndef VDNN_PLANNING_PROGRAM_H
#define VDNN_PLANNING_PROGRAM_H

#include "vdnn/Planning/Solution.h"

#include <string>

namespace vdnn::planning {

enum class Place { Device, Host };
enum class StreamId : uint32_t {
  Compute = 0,
  DeviceToHost = 1,
  HostToDevice = 2
};

/// A range that holds one value of one tensor (or a workspace). Buffers that
/// share a range in place keep their own entry with the same offset.
struct PlacedBuffer {
  std::string name;
  /// None: a workspace.
  std::optional<TensorId> tensor;
  Place place = Place::Device;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// Positions of the compute stream during which the range is taken.
  uint32_t begin = 0;
  uint32_t end = 0;
};

enum class CommandKind { Launch, Copy, Record, Wait };

struct PlannedCommand {
  CommandKind kind = CommandKind::Launch;
  StreamId stream = StreamId::Compute;
  /// Launch: the op.
  std::optional<OpId> op;
  /// Launch: one buffer per read and write of the op, in that order. Copy:
  /// source, destination.
  std::vector<uint32_t> reads;
  std::vector<uint32_t> writes;
  /// Launch: a buffer.
  std::optional<uint32_t> workspace;
  /// Launch: pairs (position in reads, position in writes) computed in place.
  std::vector<std::pair<uint32_t, uint32_t>> inPlace;
  /// Record, Wait.
  uint32_t event = 0;
  /// Predicted duration alone, ns.
  int64_t durationNs = 0;
};

struct Program {
  std::vector<PlacedBuffer> buffers;
  std::vector<PlannedCommand> commands;
  uint32_t eventCount = 0;
  /// Where the last buffer of an arena ends, and what no packing can go below.
  uint64_t devicePeak = 0;
  uint64_t deviceLowerBound = 0;
  uint64_t hostPeak = 0;
  uint64_t hostLowerBound = 0;
  /// Per tensor: the buffer at the beginning (host for inputs, device for
  /// parameters, states and staged inputs) and at the end of a step, and the
  /// one on the host that a staged input's next value comes from.
  std::vector<std::optional<uint32_t>> entry;
  std::vector<std::optional<uint32_t>> exit;
  std::vector<std::optional<uint32_t>> staging;
};

/// A program is right for a step that runs again and again with no barrier
/// between its runs: only the order of commands on a stream and the events,
/// recorded once per run, connect them. Commands stand in submission order:
/// records before their waits.
///
/// Chooses in-place results, lifetimes, addresses, streams and the fewest
/// events. Inputs are copied in from the host before their first use, staged
/// ones after their last use for the next step, outputs out to the host after
/// their producer. The problem and solution have been checked.
Program buildProgram(const Problem &problem, const Solution &solution);

} // namespace vdnn::planning

#endif
