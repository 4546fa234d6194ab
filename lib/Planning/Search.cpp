//===- Search.cpp - exact packing of small instances ----------------------===//

#include "Search.h"

#include <algorithm>

namespace vdnn::planning {

Search::Search(const std::vector<Block> &blocks, uint32_t sections)
    : blocks(blocks), sections(sections), neighbours(blocks.size()),
      reach(blocks.size()), members(sections) {
  for (uint32_t a = 0; a < blocks.size(); ++a) {
    for (uint32_t b = a + 1; b < blocks.size(); ++b) {
      if (blocks[a].first < blocks[b].last &&
          blocks[b].first < blocks[a].last) {
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
      }
    }
    reach[a] = {blocks[a].first, blocks[a].last};
    for (uint32_t b : neighbours[a]) {
      reach[a].first = std::min(reach[a].first, blocks[b].first);
      reach[a].second = std::max(reach[a].second, blocks[b].last);
    }
    for (uint32_t s = blocks[a].first; s < blocks[a].last; ++s) {
      members[s].push_back(a);
    }
  }
}

Search::Outcome Search::fit(uint64_t limit, const std::vector<uint32_t> &best,
                            uint64_t nodes) {
  capacity = limit;
  nodesLeft = nodes;
  gaveUp = false;
  rankOf.resize(blocks.size());
  for (uint32_t r = 0; r < best.size(); ++r) {
    rankOf[best[r]] = r;
  }
  placed.assign(blocks.size(), false);
  lowest.assign(blocks.size(), 0);
  offsets.assign(blocks.size(), 0);
  floor.assign(sections, 0);
  remaining.assign(sections, 0);
  crossing.assign(sections + 1, 0);
  log.clear();
  order.clear();
  for (const Block &block : blocks) {
    for (uint32_t s = block.first; s < block.last; ++s) {
      remaining[s] += block.size;
      crossing[s] += s > block.first;
    }
  }
  Component all{0, sections, best};
  for (uint32_t s = 0; s < sections; ++s) {
    if (remaining[s] > capacity) {
      return Outcome::Impossible;
    }
  }
  if (solve(all, 0, 0)) {
    return Outcome::Found;
  }
  return gaveUp ? Outcome::GaveUp : Outcome::Impossible;
}

void Search::set(uint64_t &where, uint64_t value) {
  log.push_back({&where, where});
  where = value;
}

void Search::undo(Mark mark) {
  while (log.size() > mark.values) {
    *log.back().where = log.back().value;
    log.pop_back();
  }
  while (order.size() > mark.blocks) {
    placed[order.back()] = false;
    order.pop_back();
  }
}

std::vector<Search::Component> Search::split(const Component &component) const {
  std::vector<Component> parts;
  std::vector<uint32_t> partOf(component.last - component.first);
  for (uint32_t s = component.first; s < component.last; ++s) {
    if (remaining[s] == 0) {
      continue;
    }
    if (crossing[s] == 0 || parts.empty()) {
      parts.push_back({s, s, {}});
    }
    parts.back().last = s + 1;
    partOf[s - component.first] = parts.size() - 1;
  }
  for (uint32_t block : component.blocks) {
    if (!placed[block]) {
      parts[partOf[blocks[block].first - component.first]].blocks.push_back(
          block);
    }
  }
  return parts;
}

/// Whether what is still to be placed in a section fits, when nothing is placed
/// below `offset` any more.
bool Search::sumFits(uint32_t section, uint64_t offset) const {
  return remaining[section] == 0 ||
         std::max(floor[section], offset) + remaining[section] <= capacity;
}

/// The same if the gap below the lowest that any block of the section can lie
/// is counted, too.
bool Search::lowestFits(uint32_t section, uint64_t offset) const {
  uint64_t bottom = std::max(floor[section], offset);
  uint64_t least = UINT64_MAX;
  for (uint32_t block : members[section]) {
    if (!placed[block]) {
      least = std::min(least, lowest[block]);
      if (least <= bottom) {
        return true;
      }
    }
  }
  return remaining[section] == 0 || least + remaining[section] <= capacity;
}

/// False if what is left can no longer fit.
bool Search::place(uint32_t id, uint64_t offset, const Component &within) {
  const Block &block = blocks[id];
  uint64_t top = offset + block.size;
  placed[id] = true;
  order.push_back(id);
  offsets[id] = offset;
  for (uint32_t s = block.first; s < block.last; ++s) {
    set(floor[s], top);
    set(remaining[s], remaining[s] - block.size);
    if (s > block.first) {
      set(crossing[s], crossing[s] - 1);
    }
  }
  for (uint32_t other : neighbours[id]) {
    if (!placed[other] && lowest[other] < top) {
      if (top + blocks[other].size > capacity) {
        return false;
      }
      set(lowest[other], top);
    }
  }
  for (uint32_t s = within.first; s < within.last; ++s) {
    if (!sumFits(s, offset)) {
      return false;
    }
  }
  // Elsewhere no block has moved.
  for (uint32_t s = reach[id].first; s < reach[id].second; ++s) {
    if (!lowestFits(s, offset)) {
      return false;
    }
  }
  return true;
}

bool Search::solve(const Component &component, uint64_t offset, uint32_t rank) {
  Mark start = mark();
  // Parts that no unplaced block connects do not depend on each other: if one
  // cannot be solved, the others cannot help.
  for (const Component &part : split(component)) {
    if (!branch(part, offset, rank)) {
      undo(start);
      return false;
    }
  }
  return true;
}

bool Search::branch(const Component &component, uint64_t offset,
                    uint32_t rank) {
  if (nodesLeft == 0) {
    gaveUp = true;
    return false;
  }
  --nodesLeft;
  // A block above the lowest possible top leaves a gap that a block would fill:
  // some other packing has it filled.
  uint64_t leastTop = UINT64_MAX;
  for (uint32_t block : component.blocks) {
    leastTop = std::min(leastTop,
                        std::max(lowest[block], offset) + blocks[block].size);
  }
  std::vector<std::pair<uint64_t, uint32_t>> candidates;
  for (uint32_t i = 0; i < component.blocks.size(); ++i) {
    uint32_t block = component.blocks[i];
    std::pair at(lowest[block], rankOf[block]);
    if (lowest[block] < leastTop && at >= std::pair(offset, rank)) {
      // Components keep their blocks in order of rank.
      candidates.emplace_back(lowest[block], i);
    }
  }
  std::sort(candidates.begin(), candidates.end());
  for (auto [at, i] : candidates) {
    uint32_t block = component.blocks[i];
    Mark start = mark();
    bool alone = std::all_of(neighbours[block].begin(), neighbours[block].end(),
                             [&](uint32_t other) { return placed[other]; });
    if (place(block, at, component) && solve(component, at, rankOf[block])) {
      return true;
    }
    undo(start);
    // Where nothing else lives at its time, no other place of the block can
    // help.
    if (gaveUp || alone) {
      return false;
    }
  }
  return false;
}

} // namespace vdnn::planning
