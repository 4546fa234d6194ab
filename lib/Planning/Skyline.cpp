//===- Skyline.cpp - places rectangles from the bottom up -----------------===//
//
// The skyline is the highest top per section, kept as segments of equal height.
// Only blocks that lie inside a lowest segment can lie lowest next; if there is
// none, the segment can never be used at its height and rises to its lower
// neighbour. Segments of the same height are apart in time, so it does not
// matter which of them comes first.
//
//===----------------------------------------------------------------------===//

#include "Skyline.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace vdnn::planning {

BlockIndex::BlockIndex(const std::vector<Block> &blocks)
    : count(blocks.size()), firsts(count), place(count) {
  Level leaves;
  leaves.blocks.resize(count);
  std::iota(leaves.blocks.begin(), leaves.blocks.end(), 0u);
  std::stable_sort(leaves.blocks.begin(), leaves.blocks.end(),
                   [&](uint32_t a, uint32_t b) {
                     return blocks[a].first < blocks[b].first;
                   });
  for (uint32_t p = 0; p < count; ++p) {
    firsts[p] = blocks[leaves.blocks[p]].first;
    place[leaves.blocks[p]] = p;
  }
  for (size_t length = 1;; length *= 2) {
    Level level;
    level.blocks = levels.empty() ? leaves.blocks : levels.back().blocks;
    for (size_t begin = 0; length > 1 && begin < count; begin += length) {
      size_t middle = std::min<size_t>(begin + length / 2, count);
      size_t end = std::min<size_t>(begin + length, count);
      std::inplace_merge(
          level.blocks.begin() + begin, level.blocks.begin() + middle,
          level.blocks.begin() + end, [&](uint32_t a, uint32_t b) {
            return blocks[a].last < blocks[b].last;
          });
    }
    level.lasts.resize(count);
    level.position.resize(count);
    for (uint32_t p = 0; p < count; ++p) {
      level.lasts[p] = blocks[level.blocks[p]].last;
      level.position[level.blocks[p]] = p;
    }
    level.minima.resize(2 * size_t(count));
    levels.push_back(std::move(level));
    if (length >= count) {
      break;
    }
  }
}

void BlockIndex::reset(const std::vector<uint32_t> &rank) {
  size_t length = 1;
  for (Level &level : levels) {
    for (size_t begin = 0; begin < count; begin += length) {
      size_t leaves = std::min<size_t>(length, count - begin);
      uint32_t *tree = level.minima.data() + 2 * begin;
      for (size_t i = 0; i < leaves; ++i) {
        tree[leaves + i] = rank[level.blocks[begin + i]];
      }
      for (size_t i = leaves; i-- > 1;) {
        tree[i] = std::min(tree[2 * i], tree[2 * i + 1]);
      }
    }
    length *= 2;
  }
}

uint32_t BlockIndex::bestOfNode(size_t level, uint32_t begin, uint32_t end,
                                uint32_t last) const {
  const Level &node = levels[level];
  auto lasts = node.lasts.begin();
  size_t leaves = end - begin;
  size_t low = leaves;
  size_t high = leaves + (std::upper_bound(lasts + begin, lasts + end, last) -
                          (lasts + begin));
  const uint32_t *tree = node.minima.data() + 2 * size_t(begin);
  uint32_t best = None;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2) {
      best = std::min(best, tree[low++]);
    }
    if (high % 2) {
      best = std::min(best, tree[--high]);
    }
  }
  return best;
}

uint32_t BlockIndex::best(uint32_t first, uint32_t last) const {
  uint32_t begin =
      std::lower_bound(firsts.begin(), firsts.end(), first) - firsts.begin();
  uint32_t end = std::lower_bound(firsts.begin() + begin, firsts.end(), last) -
                 firsts.begin();
  uint32_t best = None;
  // Cover [begin, end) with the largest aligned runs.
  while (begin < end) {
    size_t level = 0;
    while (level + 1 < levels.size()) {
      uint32_t length = uint32_t(1) << (level + 1);
      if (begin % length != 0 || std::min(begin + length, count) > end) {
        break;
      }
      ++level;
    }
    uint32_t stop = std::min(begin + (uint32_t(1) << level), count);
    best = std::min(best, bestOfNode(level, begin, stop, last));
    begin = stop;
  }
  return best;
}

void BlockIndex::take(uint32_t block) {
  uint32_t length = 1;
  for (Level &level : levels) {
    uint32_t begin = place[block] / length * length;
    size_t leaves = std::min(length, count - begin);
    uint32_t *tree = level.minima.data() + 2 * size_t(begin);
    size_t i = leaves + level.position[block] - begin;
    tree[i] = None;
    for (i /= 2; i >= 1; i /= 2) {
      tree[i] = std::min(tree[2 * i], tree[2 * i + 1]);
    }
    length *= 2;
  }
}

namespace {

/// The segments, each known by its first section.
class Segments {
public:
  explicit Segments(uint32_t sections)
      : sections(sections), next(sections), previous(sections),
        height(sections, Absorbed) {
    insert(0, sections, sections, 0);
  }

  struct Segment {
    uint32_t first;
    uint32_t last;
    uint64_t height;
  };

  /// A lowest segment.
  Segment lowest() {
    for (;; queue.pop()) {
      auto [low, first] = queue.top();
      if (height[first] == low) {
        return {first, next[first], low};
      }
    }
  }

  /// Raises [first, last) inside `segment`.
  void raise(const Segment &segment, uint32_t first, uint32_t last,
             uint64_t top) {
    uint32_t before = previous[segment.first];
    if (segment.first < first) {
      insert(segment.first, first, before, segment.height);
      before = segment.first;
    }
    insert(first, last, before, top);
    if (last < segment.last) {
      insert(last, segment.last, first, segment.height);
    }
    join(first);
  }

  /// To its lower neighbour; false if there is none.
  bool level(const Segment &segment) {
    uint64_t top = Absorbed;
    if (uint32_t before = previous[segment.first]; before != sections) {
      top = height[before];
    }
    if (segment.last < sections) {
      top = std::min(top, height[segment.last]);
    }
    if (top == Absorbed) {
      return false;
    }
    raise(segment, segment.first, segment.last, top);
    return true;
  }

private:
  static constexpr uint64_t Absorbed = UINT64_MAX;

  void insert(uint32_t first, uint32_t last, uint32_t before, uint64_t at) {
    next[first] = last;
    previous[first] = before;
    height[first] = at;
    if (last < sections) {
      previous[last] = first;
    }
    queue.emplace(at, first);
  }

  /// Joins a segment with neighbours of its height.
  void join(uint32_t first) {
    uint32_t before = previous[first];
    if (before != sections && height[before] == height[first]) {
      absorb(before, first);
      first = before;
    }
    if (next[first] < sections && height[next[first]] == height[first]) {
      absorb(first, next[first]);
    }
  }

  void absorb(uint32_t left, uint32_t right) {
    next[left] = next[right];
    height[right] = Absorbed;
    if (next[left] < sections) {
      previous[next[left]] = left;
    }
    queue.emplace(height[left], left);
  }

  uint32_t sections;
  std::vector<uint32_t> next;
  std::vector<uint32_t> previous;
  std::vector<uint64_t> height;
  std::priority_queue<std::pair<uint64_t, uint32_t>,
                      std::vector<std::pair<uint64_t, uint32_t>>,
                      std::greater<>>
      queue;
};

} // namespace

std::optional<std::vector<uint64_t>>
Skyline::place(const std::vector<uint32_t> &order, uint64_t limit) {
  std::vector<uint32_t> rank(order.size());
  for (uint32_t r = 0; r < order.size(); ++r) {
    rank[order[r]] = r;
  }
  index.reset(rank);
  Segments segments(sections);
  std::vector<uint64_t> offsets(blocks.size(), 0);
  for (size_t placed = 0; placed < blocks.size();) {
    auto segment = segments.lowest();
    uint32_t best = index.best(segment.first, segment.last);
    if (best == BlockIndex::None) {
      if (!segments.level(segment)) {
        return std::nullopt;
      }
      continue;
    }
    uint32_t id = order[best];
    const Block &block = blocks[id];
    if (segment.height + block.size >= limit) {
      return std::nullopt;
    }
    offsets[id] = segment.height;
    index.take(id);
    segments.raise(segment, block.first, block.last,
                   segment.height + block.size);
    ++placed;
  }
  return offsets;
}

} // namespace vdnn::planning
