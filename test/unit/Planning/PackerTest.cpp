//===- PackerTest.cpp - packings are valid, near the bound and repeatable -===//

#include "Instances.h"

#include <gtest/gtest.h>
#include <map>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

/// The smallest peak there is: each order, each interval as low as those placed
/// before allow. (Some order gives the optimum: that of the offsets of an
/// optimal packing in which everything has been pushed down.)
uint64_t smallestPeak(const std::vector<Interval> &intervals) {
  std::vector<size_t> order(intervals.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  uint64_t best = UINT64_MAX;
  do {
    std::vector<uint64_t> offset(intervals.size(), 0);
    uint64_t peak = 0;
    for (size_t at = 0; at < order.size(); ++at) {
      const Interval &x = intervals[order[at]];
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t before = 0; before < at; ++before) {
          const Interval &y = intervals[order[before]];
          uint64_t low = offset[order[before]];
          bool overlap = x.begin < y.end && y.begin < x.end && x.bytes > 0 &&
                         y.bytes > 0 && x.begin < x.end && y.begin < y.end &&
                         offset[order[at]] < low + y.bytes &&
                         low < offset[order[at]] + x.bytes;
          if (overlap) {
            offset[order[at]] = low + y.bytes;
            moved = true;
          }
        }
      }
      if (x.begin < x.end && x.bytes > 0) {
        peak = std::max(peak, offset[order[at]] + x.bytes);
      }
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Packer, NothingTakesNothing) {
  Packing packing = pack({}, 256);
  EXPECT_EQ(packing.peak, 0u);
  EXPECT_EQ(packing.lowerBound, 0u);
}

TEST(Packer, EmptyLifetimesAndSizesTakeNothing) {
  std::vector<Interval> intervals = {{0, 4, 0}, {3, 3, 100}, {0, 4, 1}};
  Packing packing = pack(intervals, 16);
  EXPECT_EQ(packing.peak, 16u);
  EXPECT_EQ(findFault(intervals, packing, 16), "");
}

TEST(Packer, LifetimesThatTouchShareARange) {
  Packing packing = pack({{0, 2, 10}, {2, 4, 10}}, 1);
  EXPECT_EQ(packing.peak, 10u);
}

TEST(Packer, EveryRangeIsAligned) {
  std::vector<Interval> intervals = randomInstance(5, 60, 40, 1000);
  Packing packing = pack(intervals, 256);
  EXPECT_EQ(findFault(intervals, packing, 256), "");
  EXPECT_EQ(packing.peak % 256, 0u);
}

TEST(Packer, SmallInstancesAreNearTheSmallestPeak) {
  uint32_t optimal = 0;
  uint32_t tight = 0;
  constexpr uint32_t Seeds = 300;
  for (uint32_t seed = 0; seed < Seeds; ++seed) {
    std::vector<Interval> intervals = randomInstance(seed, 2 + seed % 6, 8, 9);
    Packing packing = pack(intervals, 1);
    ASSERT_EQ(findFault(intervals, packing, 1), "") << "seed " << seed;
    uint64_t smallest = smallestPeak(intervals);
    ASSERT_LE(packing.lowerBound, smallest) << "seed " << seed;
    ASSERT_GE(packing.peak, smallest) << "seed " << seed;
    optimal += packing.peak == smallest;
    tight += packing.lowerBound == smallest;
  }
  RecordProperty("optimal", int(optimal));
  RecordProperty("boundIsTight", int(tight));
  EXPECT_EQ(optimal, Seeds);
}

TEST(Packer, RandomInstancesAreValid) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    uint64_t alignment = 1 + seed % 3;
    std::vector<Interval> intervals =
        randomInstance(seed, 10 + seed * 3, 10 + seed, 1 + seed * 7);
    Packing packing = pack(intervals, alignment);
    ASSERT_EQ(findFault(intervals, packing, alignment), "") << "seed " << seed;
    ASSERT_GE(packing.peak, packing.lowerBound);
  }
}

TEST(Packer, IsTheSameEveryTime) {
  std::vector<Interval> intervals = randomInstance(11, 500, 200, 10000);
  EXPECT_EQ(pack(intervals, 64).offsets, pack(intervals, 64).offsets);
}

/// The hard set of google/minimalloc. No greedy packing comes close to the
/// bound there; the search reaches it (or, where no packing may, comes close)
/// on those that take it few nodes.
TEST(Packer, MiniMallocInstances) {
  const std::map<char, double> allowed = {
      {'A', 0}, {'B', 0}, {'C', 0},    {'D', 0.13}, {'E', 0.19}, {'F', 0},
      {'G', 0}, {'H', 0}, {'I', 0.19}, {'J', 0.13}, {'K', 0}};
  for (auto [name, gapAllowed] : allowed) {
    std::vector<Interval> intervals = readInstance(
        std::string("test/data/packing/minimalloc/") + name + ".1048576.csv");
    ASSERT_FALSE(intervals.empty()) << name;
    Packing greedy = pack(intervals, 1);
    Packing searched = pack(intervals, 1, {.searchNodes = 60000});
    EXPECT_EQ(findFault(intervals, greedy, 1), "") << name;
    EXPECT_EQ(findFault(intervals, searched, 1), "") << name;
    auto gap = [](const Packing &packing) {
      return double(packing.peak) / double(packing.lowerBound) - 1;
    };
    std::printf("%c: %zu buffers, bound %llu; greedy %.1f %% over; then "
                "%.1f %% over, %s\n",
                name, intervals.size(), (unsigned long long)greedy.lowerBound,
                gap(greedy) * 100, gap(searched) * 100,
                searched.method.c_str());
    EXPECT_LE(gap(greedy), 0.19) << name;
    EXPECT_LE(gap(searched), gapAllowed) << name;
  }
}

TEST(Packer, SearchFindsTheSmallestPeakOfSmallInstances) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<Interval> intervals = randomInstance(seed, 3 + seed % 5, 6, 7);
    Packing packing = pack(intervals, 1, {.searchNodes = 10000});
    ASSERT_EQ(findFault(intervals, packing, 1), "") << "seed " << seed;
    ASSERT_EQ(packing.peak, smallestPeak(intervals)) << "seed " << seed;
  }
}

TEST(Packer, ThirtyThousandBuffersTakeSeconds) {
  std::vector<Interval> intervals = randomInstance(3, 30000, 20000, 100000);
  Packing packing = pack(intervals, 1);
  EXPECT_EQ(findFault(intervals, packing, 1), "");
}

} // namespace
