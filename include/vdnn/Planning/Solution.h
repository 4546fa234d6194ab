//===- Solution.h - what was decided: kernels, residence, transfers -------===//

#ifndef VDNN_PLANNING_SOLUTION_H
#define VDNN_PLANNING_SOLUTION_H

#include "vdnn/Planning/Problem.h"

namespace vdnn::planning {

enum class Residence { Keep, Offload, Recompute };

enum class Sync {
  Event, ///< streams wait for each other's events only where data or memory
         ///< require it
  Layer  ///< the paper's barrier: all streams meet at the end of every layer
         ///< that copies
};

/// One round trip of a tensor to the host; a tensor may make several, each
/// after the op for which it came back from the one before. An input is not
/// copied out, for the host still has it: its range is given up, and the copy
/// back comes from its entry. Positions are those of the compute stream: an
/// event "before op p".
struct Transfer {
  TensorId tensor = 0;
  /// The copy to the host is issued before this op, beside which it may run.
  /// Without barriers it may start even earlier, as soon as the tensor is
  /// written; likewise the copy back, as soon as its range is free. With
  /// barriers both wait for all ops before theirs.
  OpId offloadAt = 0;
  /// The tensor's range is free from here on: whoever takes it next waits for
  /// the copy.
  OpId releaseAt = 0;
  /// The copy back is issued before this op; the range is taken from here on.
  OpId prefetchAt = 0;
  /// The op that reads the tensor next; the compute stream waits for the copy
  /// before it.
  OpId neededAt = 0;
};

struct TensorDecision {
  Residence residence = Residence::Keep;
  /// For people: "offloaded: idle 41 ms, 96 MiB, copy hidden".
  std::string reason;
};

struct Solution {
  /// Per op, an index into its choices.
  std::vector<uint32_t> choice;
  /// Per tensor.
  std::vector<TensorDecision> tensors;
  /// Sorted by offloadAt, then tensor.
  std::vector<Transfer> transfers;
  /// Positions of barriers (sync=layer): all streams meet before this op.
  /// Sorted.
  std::vector<OpId> barriers;
};

/// Says what is wrong with a solution: a transfer whose positions are out of
/// order or that leaves an op without its operand, choices out of range. Empty:
/// nothing.
std::vector<std::string> verify(const Problem &problem,
                                const Solution &solution);

} // namespace vdnn::planning

#endif
