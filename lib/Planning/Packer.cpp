//===- Packer.cpp - a portfolio of bottom-up packings ---------------------===//

#include "vdnn/Planning/Packer.h"

#include "Search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace vdnn::planning {
namespace {

/// What the orders sort by.
struct Features {
  std::vector<uint64_t>
      load; ///< T: largest sum of live sizes during the lifetime
  std::vector<uint64_t> area; ///< A
};

/// Sizes in quanta, times as sections: between two births the live set only
/// shrinks, so only births matter.
struct Instance {
  std::vector<Block> blocks;
  /// Per block, the interval it stands for.
  std::vector<uint32_t> interval;
  std::vector<uint32_t> begin;
  std::vector<uint32_t> end;
  uint32_t sections = 0;
  std::vector<uint64_t> profile;
  uint64_t lowerBound = 0;
};

Instance makeInstance(const std::vector<Interval> &intervals,
                      uint64_t alignment) {
  Instance instance;
  std::vector<uint32_t> births;
  for (const Interval &interval : intervals) {
    if (interval.bytes > 0 && interval.begin < interval.end) {
      births.push_back(interval.begin);
    }
  }
  std::sort(births.begin(), births.end());
  births.erase(std::unique(births.begin(), births.end()), births.end());
  instance.sections = births.size();
  auto section = [&](uint32_t time) {
    return uint32_t(std::lower_bound(births.begin(), births.end(), time) -
                    births.begin());
  };
  std::vector<uint64_t> born(births.size() + 1), dead(births.size() + 1);
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    const Interval &interval = intervals[i];
    if (interval.bytes == 0 || interval.begin >= interval.end) {
      continue;
    }
    Block block{section(interval.begin), section(interval.end),
                (interval.bytes - 1) / alignment + 1};
    born[block.first] += block.size;
    dead[block.last] += block.size;
    instance.blocks.push_back(block);
    instance.interval.push_back(i);
    instance.begin.push_back(interval.begin);
    instance.end.push_back(interval.end);
  }
  instance.profile.resize(births.size());
  uint64_t live = 0;
  for (size_t s = 0; s < births.size(); ++s) {
    live += born[s];
    live -= dead[s];
    instance.profile[s] = live;
    instance.lowerBound = std::max(instance.lowerBound, live);
  }
  return instance;
}

/// Range maxima of the profile by a sparse table.
Features findFeatures(const Instance &instance) {
  std::vector<std::vector<uint64_t>> table{instance.profile};
  for (size_t width = 1; 2 * width <= instance.sections; width *= 2) {
    const std::vector<uint64_t> &last = table.back();
    std::vector<uint64_t> next(instance.sections - 2 * width + 1);
    for (size_t i = 0; i < next.size(); ++i) {
      next[i] = std::max(last[i], last[i + width]);
    }
    table.push_back(std::move(next));
  }
  Features features;
  for (const Block &block : instance.blocks) {
    uint32_t length = block.last - block.first;
    uint32_t level = std::bit_width(length) - 1;
    features.load.push_back(
        std::max(table[level][block.first],
                 table[level][block.last - (uint32_t(1) << level)]));
    features.area.push_back(block.size * length);
  }
  return features;
}

/// Sort keys of one block, smaller first.
using Key = std::array<uint64_t, 3>;

struct Order {
  const char *name;
  Key (*key)(const Instance &, const Features &, uint32_t);
};

/// Larger first.
constexpr uint64_t down(uint64_t value) { return ~value; }
uint64_t width(const Instance &i, uint32_t b) { return i.end[b] - i.begin[b]; }

// Each was the best one on some instance; those that most often reach the bound
// stand first.
constexpr Order Orders[] = {
    {"load, width, size",
     [](const Instance &i, const Features &f, uint32_t b) -> Key {
       return {down(f.load[b]), down(width(i, b)), down(i.blocks[b].size)};
     }},
    {"start, end descending",
     [](const Instance &i, const Features &, uint32_t b) -> Key {
       return {i.begin[b], down(i.end[b]), 0};
     }},
    {"load, area",
     [](const Instance &, const Features &f, uint32_t b) -> Key {
       return {down(f.load[b]), down(f.area[b]), 0};
     }},
    {"area",
     [](const Instance &, const Features &f, uint32_t b) -> Key {
       return {down(f.area[b]), 0, 0};
     }},
    {"size, width",
     [](const Instance &i, const Features &, uint32_t b) -> Key {
       return {down(i.blocks[b].size), down(width(i, b)), 0};
     }},
    {"width, size",
     [](const Instance &i, const Features &, uint32_t b) -> Key {
       return {down(width(i, b)), down(i.blocks[b].size), 0};
     }},
    {"width, area, load",
     [](const Instance &i, const Features &f, uint32_t b) -> Key {
       return {down(width(i, b)), down(f.area[b]), down(f.load[b])};
     }},
    {"end descending, start",
     [](const Instance &i, const Features &, uint32_t b) -> Key {
       return {down(i.end[b]), i.begin[b], 0};
     }},
    {"start, size",
     [](const Instance &i, const Features &, uint32_t b) -> Key {
       return {i.begin[b], down(i.blocks[b].size), 0};
     }},
    {"end descending, size",
     [](const Instance &i, const Features &, uint32_t b) -> Key {
       return {down(i.end[b]), down(i.blocks[b].size), 0};
     }},
    {"size class, load",
     [](const Instance &i, const Features &f, uint32_t b) -> Key {
       return {down(std::bit_width(i.blocks[b].size)), down(f.load[b]),
               down(width(i, b))};
     }},
};

/// Each solves some hard instances in a few nodes on which the others take
/// millions.
constexpr Order SearchOrders[] = {
    {"load, width, area",
     [](const Instance &i, const Features &f, uint32_t b) -> Key {
       return {down(f.load[b]), down(width(i, b)), down(f.area[b])};
     }},
    {"load, area, width",
     [](const Instance &i, const Features &f, uint32_t b) -> Key {
       return {down(f.load[b]), down(f.area[b]), down(width(i, b))};
     }},
    {"width, area, load",
     [](const Instance &i, const Features &f, uint32_t b) -> Key {
       return {down(width(i, b)), down(f.area[b]), down(f.load[b])};
     }},
    {"end descending, width, area",
     [](const Instance &i, const Features &f, uint32_t b) -> Key {
       return {down(i.end[b]), down(width(i, b)), down(f.area[b])};
     }},
};

std::vector<uint32_t> sorted(const Instance &instance, const Features &features,
                             const Order &order) {
  size_t count = instance.blocks.size();
  std::vector<Key> keys(count);
  for (uint32_t b = 0; b < count; ++b) {
    keys[b] = order.key(instance, features, b);
  }
  std::vector<uint32_t> result(count);
  std::iota(result.begin(), result.end(), 0u);
  std::sort(result.begin(), result.end(), [&](uint32_t a, uint32_t b) {
    return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
  });
  return result;
}

uint64_t peakOf(const Instance &instance, const std::vector<uint64_t> &offset) {
  uint64_t peak = 0;
  for (size_t b = 0; b < offset.size(); ++b) {
    peak = std::max(peak, offset[b] + instance.blocks[b].size);
  }
  return peak;
}

} // namespace

namespace {

/// Tries capacities from the bound up, each under several orders in turn with
/// ever more nodes: how long a search takes depends heavily on the order, and a
/// tight capacity prunes best. The offsets of a packing below `best`, or none.
class Ladder {
public:
  Ladder(const Instance &instance, const Features &features, uint64_t best,
         uint64_t nodes)
      : instance(instance), best(best), nodes(nodes),
        search(instance.blocks, instance.sections) {
    for (const Order &order : SearchOrders) {
      orders.push_back(sorted(instance, features, order));
    }
  }

  std::optional<std::vector<uint64_t>> run() {
    constexpr uint64_t PerMille[] = {0, 10, 30, 60, 100};
    for (uint64_t more : PerMille) {
      uint64_t capacity =
          instance.lowerBound + instance.lowerBound * more / 1000;
      if (capacity >= best) {
        break;
      }
      // Most to the bound, but never all.
      if (fit(capacity, (nodes - used) / 3)) {
        return std::move(search.offsets);
      }
    }
    return std::nullopt;
  }

  const char *method = "";

private:
  bool fit(uint64_t capacity, uint64_t share) {
    uint64_t stop = used + share;
    for (uint64_t turn = std::max<uint64_t>(share / 32, 64); used < stop;
         turn *= 2) {
      for (size_t o = 0; o < orders.size() && used < stop; ++o) {
        uint64_t limit = std::min(turn, stop - used);
        auto outcome = search.fit(capacity, orders[o], limit);
        used += limit;
        if (outcome != Search::Outcome::GaveUp) {
          method = SearchOrders[o].name;
          return outcome == Search::Outcome::Found;
        }
      }
    }
    return false;
  }

  const Instance &instance;
  uint64_t best;
  uint64_t nodes;
  uint64_t used = 0;
  Search search;
  std::vector<std::vector<uint32_t>> orders;
};

} // namespace

Packing pack(const std::vector<Interval> &intervals, uint64_t alignment,
             const PackOptions &options) {
  Instance instance = makeInstance(intervals, alignment);
  Packing packing;
  packing.offsets.assign(intervals.size(), 0);
  packing.lowerBound = instance.lowerBound * alignment;
  packing.method = "empty";
  if (instance.blocks.empty()) {
    return packing;
  }
  Features features = findFeatures(instance);
  Skyline skyline(instance.blocks, instance.sections);
  uint64_t best = UINT64_MAX;
  auto take = [&](const std::vector<uint64_t> &offsets, std::string method) {
    best = peakOf(instance, offsets);
    packing.method = std::move(method);
    for (size_t b = 0; b < offsets.size(); ++b) {
      packing.offsets[instance.interval[b]] = offsets[b] * alignment;
    }
  };
  for (const Order &order : Orders) {
    auto offsets = skyline.place(sorted(instance, features, order), best);
    if (!offsets) {
      continue;
    }
    take(*offsets, order.name);
    if (best == instance.lowerBound) {
      break;
    }
  }
  if (best > instance.lowerBound && options.searchNodes > 0) {
    Ladder ladder(instance, features, best, options.searchNodes);
    if (auto offsets = ladder.run()) {
      take(*offsets, std::string("search: ") + ladder.method);
    }
  }
  packing.peak = best * alignment;
  return packing;
}

} // namespace vdnn::planning
