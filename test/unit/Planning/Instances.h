//===- Instances.h - packing instances from files and seeds ---------------===//

#ifndef VDNN_TEST_UNIT_PLANNING_INSTANCES_H
#define VDNN_TEST_UNIT_PLANNING_INSTANCES_H

#include "vdnn/Planning/Packer.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

namespace vdnn::planning::test {

/// Lines "id,lower,upper,size" after a header; empty if the file cannot be
/// read.
inline std::vector<Interval> readInstance(const std::string &path) {
  std::vector<Interval> intervals;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    std::string id;
    Interval interval;
    fields >> id >> interval.begin >> interval.end >> interval.bytes;
    intervals.push_back(interval);
  }
  return intervals;
}

/// Lifetimes like those of a training step: most are short, some reach from the
/// first half into the second.
inline std::vector<Interval> randomInstance(uint32_t seed, uint32_t count,
                                            uint32_t times, uint32_t largest) {
  std::mt19937 random(seed);
  std::vector<Interval> intervals;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t begin = random() % times;
    uint32_t end =
        random() % 2 ? begin + random() % 4 : std::max(begin, times - begin);
    intervals.push_back(
        {begin, std::min(end, times), random() % (largest + 1)});
  }
  return intervals;
}

/// What is wrong with a packing, or nothing. A sweep over the births and
/// deaths; live ranges stand in order of their offsets.
inline std::string findFault(const std::vector<Interval> &intervals,
                             const Packing &packing, uint64_t alignment) {
  struct Edge {
    uint32_t time;
    bool birth;
    size_t interval;
    auto operator<=>(const Edge &) const = default;
  };
  std::vector<Edge> edges;
  uint64_t peak = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Interval &x = intervals[i];
    if (packing.offsets[i] % alignment != 0) {
      return "interval " + std::to_string(i) + " is not aligned";
    }
    if (x.bytes > 0 && x.begin < x.end) {
      edges.push_back({x.begin, true, i});
      edges.push_back({x.end, false, i});
      peak = std::max(peak, packing.offsets[i] + x.bytes);
    }
  }
  if ((peak + alignment - 1) / alignment * alignment != packing.peak) {
    return "peak " + std::to_string(packing.peak) +
           " is not that of the offsets, " + std::to_string(peak);
  }
  std::sort(edges.begin(), edges.end());
  std::set<std::pair<uint64_t, size_t>> live;
  auto endOf = [&](const auto &entry) {
    return entry.first + intervals[entry.second].bytes;
  };
  for (const Edge &edge : edges) {
    std::pair entry(packing.offsets[edge.interval], edge.interval);
    if (!edge.birth) {
      live.erase(entry);
      continue;
    }
    auto at = live.insert(entry).first;
    bool clash =
        (at != live.begin() && endOf(*std::prev(at)) > entry.first) ||
        (std::next(at) != live.end() && endOf(entry) > std::next(at)->first);
    if (clash) {
      return "interval " + std::to_string(edge.interval) +
             " overlaps another one";
    }
  }
  return {};
}

} // namespace vdnn::planning::test

#endif
