//===- Search.h - exact packing of small instances ------------------------===//

#ifndef VDNN_LIB_PLANNING_SEARCH_H
#define VDNN_LIB_PLANNING_SEARCH_H

#include "Skyline.h"

namespace vdnn::planning {

/// Whether blocks fit below a capacity, by depth-first search over packings in
/// which every block rests on 0 or on another one and blocks are placed in
/// order of their offsets. (Every packing can be pushed down into such a one.)
class Search {
public:
  Search(const std::vector<Block> &blocks, uint32_t sections);

  enum class Outcome { Found, Impossible, GaveUp };

  /// `best`: which blocks to try first, best first. Visits at most `nodes`
  /// nodes. Found: `offsets` holds the packing.
  Outcome fit(uint64_t limit, const std::vector<uint32_t> &best,
              uint64_t nodes);

  std::vector<uint64_t> offsets;

private:
  /// Unplaced blocks that only touch sections [first, last), connected in time.
  struct Component {
    uint32_t first = 0;
    uint32_t last = 0;
    std::vector<uint32_t> blocks;
  };
  struct Undo {
    uint64_t *where;
    uint64_t value;
  };
  /// How far the logs had grown.
  struct Mark {
    size_t values;
    size_t blocks;
  };

  /// Places all blocks of a component at (offset, rank) or later; false, with
  /// all undone, if that is impossible.
  bool solve(const Component &component, uint64_t offset, uint32_t rank);
  bool branch(const Component &component, uint64_t offset, uint32_t rank);
  /// The blocks of a component that are not placed yet, in connected parts.
  std::vector<Component> split(const Component &component) const;
  bool place(uint32_t id, uint64_t offset, const Component &within);
  bool sumFits(uint32_t section, uint64_t offset) const;
  bool lowestFits(uint32_t section, uint64_t offset) const;
  Mark mark() const { return {log.size(), order.size()}; }
  void undo(Mark mark);
  void set(uint64_t &where, uint64_t value);

  const std::vector<Block> &blocks;
  uint32_t sections;
  /// Per block, those that live at the same time.
  std::vector<std::vector<uint32_t>> neighbours;
  /// Per block, the sections in which its neighbours live.
  std::vector<std::pair<uint32_t, uint32_t>> reach;
  /// Per section, its blocks.
  std::vector<std::vector<uint32_t>> members;

  uint64_t capacity = 0;
  uint64_t nodesLeft = 0;
  bool gaveUp = false;
  std::vector<uint32_t> rankOf;
  std::vector<bool> placed;
  /// Per block, its lowest offset above what has been placed.
  std::vector<uint64_t> lowest;
  /// Per section: the highest top, the sum of the sizes still to be placed, and
  /// how many unplaced blocks live in it and the one before.
  std::vector<uint64_t> floor;
  std::vector<uint64_t> remaining;
  std::vector<uint64_t> crossing;
  std::vector<Undo> log;
  /// The blocks in the order in which they were placed.
  std::vector<uint32_t> order;
};

} // namespace vdnn::planning

#endif
