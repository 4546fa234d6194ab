//===- Buffers.h - which ranges a solution needs, and when ----------------===//

#ifndef VDNN_LIB_PLANNING_BUFFERS_H
#define VDNN_LIB_PLANNING_BUFFERS_H

#include "vdnn/Planning/Packer.h"
#include "vdnn/Planning/Program.h"

namespace vdnn::planning {

/// The buffers of a program before they have addresses.
struct BufferPlan {
  std::vector<PlacedBuffer> buffers;
  /// Per buffer, its rectangle in the arena of its place; buffers in place
  /// share one.
  std::vector<uint32_t> rectangle;
  std::vector<Interval> device;
  std::vector<Interval> host;

  /// Per tensor: its device buffers in order of time, one more than it has
  /// transfers (none for an input that nothing reads; one on the host for what
  /// lives from step to step and no op touches).
  std::vector<std::vector<uint32_t>> residencies;
  /// Per tensor: the position at which each residency but the first serves its
  /// first op.
  std::vector<std::vector<OpId>> returns;
  /// Per transfer: its host buffer; an input returns from its entry.
  std::vector<uint32_t> hostSlot;
  /// Per tensor: where inputs wait and outputs go.
  std::vector<std::optional<uint32_t>> hostEntry;
  std::vector<std::optional<uint32_t>> hostExit;
  /// Per tensor, of staged inputs: where the next step's value waits, the range
  /// on the device that it is copied to (that of this step's value), and the op
  /// behind which.
  std::vector<std::optional<uint32_t>> staging;
  std::vector<std::optional<uint32_t>> nextValue;
  std::vector<OpId> stagedAfter;
  /// Per op.
  std::vector<std::optional<uint32_t>> workspace;
  /// Per op: pairs (position in reads, position in writes) that share a range.
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> inPlace;
  /// Per tensor: where an input's copy to the device is issued.
  std::vector<OpId> inputCopyAt;

  /// The buffer from which `op` reads a tensor.
  uint32_t bufferFor(TensorId tensor, OpId op) const;
};

/// Both arguments have been checked.
BufferPlan planBuffers(const Problem &problem, const Solution &solution);

/// Offsets for the rectangles of one arena, with a search for a better packing
/// where that takes no more than some 0.1 s.
Packing packArena(const Problem &problem,
                  const std::vector<Interval> &rectangles);

/// Live device bytes per position, aligned, each rectangle once: what a packing
/// without gaps takes.
std::vector<uint64_t> deviceProfile(const Problem &problem,
                                    const BufferPlan &plan);

} // namespace vdnn::planning

#endif
