//===- Ordering.h - the fewest events that keep commands from racing ------===//

#ifndef VDNN_LIB_PLANNING_ORDERING_H
#define VDNN_LIB_PLANNING_ORDERING_H

#include <cstdint>
#include <optional>
#include <vector>

namespace vdnn::planning {

/// A range that a node touches.
struct Access {
  uint32_t arena = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  bool isWrite = false;
};

/// Work on a stream. Nodes stand in an order in which they would be right if
/// each ran alone.
struct OrderNode {
  uint32_t stream = 0;
  std::vector<Access> accesses;
  /// Earlier nodes of the same step that must have finished, for other reasons
  /// than a range.
  std::vector<uint32_t> after;
};

/// "Before its node, the node's stream waits": for `source`, or, where there is
/// none, for all that `sourceStream` did in earlier steps.
struct OrderWait {
  uint32_t sourceStream = 0;
  std::optional<uint32_t> source;
};

/// Per node, the waits that order every two nodes that touch a range in
/// conflict (or are ordered by `after`) as they stand in `nodes`, when the step
/// runs again and again and nothing but stream order connects its runs. No wait
/// can be dropped.
std::vector<std::vector<OrderWait>>
orderNodes(const std::vector<OrderNode> &nodes, uint32_t streamCount);

} // namespace vdnn::planning

#endif
