//===- Skyline.h - places rectangles from the bottom up -------------------===//

#ifndef VDNN_LIB_PLANNING_SKYLINE_H
#define VDNN_LIB_PLANNING_SKYLINE_H

#include <cstdint>
#include <optional>
#include <vector>

namespace vdnn::planning {

/// A rectangle over sections [first, last) of the time axis, `size` high.
/// Neither is ever empty.
struct Block {
  uint32_t first = 0;
  uint32_t last = 0;
  uint64_t size = 0;
};

/// Finds the best ranked of the blocks not yet taken that lie inside a span. A
/// tree over the blocks by `first`; each node knows its blocks by `last`, with
/// the best rank of each range of them. O(n log n) memory, O(log² n) per call.
class BlockIndex {
public:
  static constexpr uint32_t None = UINT32_MAX;

  explicit BlockIndex(const std::vector<Block> &blocks);

  /// Makes all blocks available; `rank` is a permutation, small is good.
  void reset(const std::vector<uint32_t> &rank);
  /// The best rank of a block inside [first, last), or None.
  uint32_t best(uint32_t first, uint32_t last) const;
  void take(uint32_t block);

private:
  uint32_t bestOfNode(size_t level, uint32_t begin, uint32_t end,
                      uint32_t last) const;

  uint32_t count;
  /// `first` of each block, ascending, and where in this order a block stands.
  std::vector<uint32_t> firsts;
  std::vector<uint32_t> place;
  /// Level 0 are single blocks; on level k, runs of 2^k blocks are sorted by
  /// `last`.
  struct Level {
    std::vector<uint32_t> lasts;
    std::vector<uint32_t> blocks;
    /// Where on this level the block stands.
    std::vector<uint32_t> position;
    /// Per run of length m, from twice its beginning on: a bottom-up tree of
    /// minima with m leaves.
    std::vector<uint32_t> minima;
  };
  std::vector<Level> levels;
};

/// Places blocks under one order after the other.
class Skyline {
public:
  Skyline(const std::vector<Block> &blocks, uint32_t sections)
      : blocks(blocks), sections(sections), index(blocks) {}

  /// Places the block that can lie lowest next, ties by `order` (a permutation
  /// of the blocks, best first), until all lie. The offset per block, or none
  /// if the peak would not stay below `limit`.
  std::optional<std::vector<uint64_t>> place(const std::vector<uint32_t> &order,
                                             uint64_t limit);

private:
  const std::vector<Block> &blocks;
  uint32_t sections;
  BlockIndex index;
};

} // namespace vdnn::planning

#endif
