//===- MinCut.h - the cheapest way to split a graph between two terminals -===//

#ifndef VDNN_LIB_TRANSFORMS_MINCUT_H
#define VDNN_LIB_TRANSFORMS_MINCUT_H

#include <cstdint>
#include <vector>

namespace vdnn {

/// A directed graph with capacities, cut by Dinic's algorithm. Deterministic.
class MinCut {
public:
  static constexpr uint64_t Infinite = UINT64_MAX / 4;
  static constexpr uint32_t Source = 0;
  static constexpr uint32_t Sink = 1;

  MinCut() : edges_(2) {}

  uint32_t addNode();
  /// `from` on the source's side and `to` on the sink's costs `capacity`.
  void addEdge(uint32_t from, uint32_t to, uint64_t capacity);

  /// Per node, whether it is on the sink's side. Of several cheapest cuts, the
  /// one that leaves fewest nodes there.
  std::vector<bool> findSinkSide();

private:
  struct Edge {
    uint32_t to;
    uint32_t reverse; ///< position of the opposite edge in `edges_[to]`
    uint64_t capacity;
  };

  bool findLevels();
  uint64_t push(uint32_t start, uint64_t limit);

  std::vector<std::vector<Edge>> edges_;
  std::vector<uint32_t> level_;
  std::vector<uint32_t> next_;
};

} // namespace vdnn

#endif
