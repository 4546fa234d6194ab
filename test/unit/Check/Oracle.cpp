//===- Oracle.cpp - tries interleavings -----------------------------------===//

#include "Oracle.h"
#include "Replay.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace vdnn::rt::test {

std::optional<std::string> findHarm(const schedule::ScheduleT &schedule,
                                    const OracleOptions &options) {
  Replay replay(schedule, options.steps);
  std::vector<uint32_t> rank(schedule.streams.size());
  std::iota(rank.begin(), rank.end(), 0);
  auto byRank = [&](const std::vector<uint32_t> &ready) {
    return *std::min_element(
        ready.begin(), ready.end(),
        [&](uint32_t a, uint32_t b) { return rank[a] < rank[b]; });
  };
  // One stream far ahead of another: almost every missing order shows under
  // some order of priority.
  constexpr size_t kMaxPermutations = 24;
  for (size_t i = 0; i < kMaxPermutations; ++i) {
    if (auto harm = replay.run(byRank)) {
      return harm;
    }
    if (!std::next_permutation(rank.begin(), rank.end())) {
      break;
    }
  }
  // Commands begin as soon as they can and end as late as they can, or
  // priorities change now and then.
  std::mt19937_64 random(options.seed);
  for (unsigned i = 0; i < options.randomRuns; ++i) {
    std::shuffle(rank.begin(), rank.end(), random);
    bool lazy = i % 2 == 0;
    auto pick = [&](const std::vector<uint32_t> &ready) {
      if (random() % 64 == 0) {
        std::shuffle(rank.begin(), rank.end(), random);
      }
      if (lazy) {
        std::vector<uint32_t> starting;
        std::copy_if(ready.begin(), ready.end(), std::back_inserter(starting),
                     [&](uint32_t stream) { return !replay.running(stream); });
        if (!starting.empty()) {
          return byRank(starting);
        }
      }
      return byRank(ready);
    };
    if (auto harm = replay.run(pick)) {
      return harm;
    }
  }
  return std::nullopt;
}

} // namespace vdnn::rt::test
