//===- Ordering.cpp - the fewest events that keep commands from racing ----===//
//
// Two runs of the step are walked, one after the other. A map from ranges to
// their last writer and last readers gives what each node must come after.
// Vector clocks say what its stream knows to be over; a wait is added only for
// what the clock does not cover.
//
// The first run finds the waits within a step. What a stream knows about the
// nodes of its own step comes from such waits alone, so they are the same in
// every run, and each is needed: earlier waits do not cover it and later ones
// come too late. The second run replays them and adds the waits for the run
// before. Two runs are enough: a node comes after itself in every earlier run.
//
//===----------------------------------------------------------------------===//

#include "Ordering.h"

#include <algorithm>
#include <map>

namespace vdnn::planning {
namespace {

/// Per stream, how many of its nodes (over all runs) are over. Also used for
/// "the last node that must be over", as a count.
using Clock = std::vector<int64_t>;

void join(Clock &clock, const Clock &other) {
  for (size_t s = 0; s < clock.size(); ++s) {
    clock[s] = std::max(clock[s], other[s]);
  }
}

/// Who touched each byte of the arenas last.
class LastUses {
public:
  explicit LastUses(uint32_t streams) : streams(streams) {}

  /// Joins into `needed` what an access must come after, and notes it as the
  /// `count`-th node of its stream.
  void touch(const Access &access, uint32_t stream, int64_t count,
             Clock &needed) {
    if (access.begin >= access.end) {
      return;
    }
    auto &map = arenas[access.arena];
    auto first = split(map, access.begin);
    auto last = split(map, access.end);
    for (auto it = first; it != last; ++it) {
      Segment &segment = it->second;
      if (segment.writer >= 0) {
        int64_t &need = needed[segment.writer];
        need = std::max(need, segment.written);
      }
      if (access.isWrite) {
        join(needed, segment.read);
      } else {
        segment.read[stream] = count;
      }
    }
    if (access.isWrite) {
      map.erase(first, last);
      map[access.begin] = {int32_t(stream), count, Clock(streams, 0)};
    }
  }

private:
  struct Segment {
    int32_t writer = -1; ///< its stream
    int64_t written = 0;
    Clock read; ///< since the last write
  };
  using Map = std::map<uint64_t, Segment>;

  /// The segment that begins at `at`; segments reach to the beginning of the
  /// next one.
  Map::iterator split(Map &map, uint64_t at) const {
    auto next = map.lower_bound(at);
    if (next != map.end() && next->first == at) {
      return next;
    }
    Segment copy{-1, 0, Clock(streams, 0)};
    if (next != map.begin()) {
      copy = std::prev(next)->second;
    }
    return map.emplace_hint(next, at, std::move(copy));
  }

  uint32_t streams;
  std::map<uint32_t, Map> arenas;
};

class Orderer {
public:
  Orderer(const std::vector<OrderNode> &nodes, uint32_t streams)
      : nodes(nodes), streams(streams), lastUses(streams), perStep(streams, 0),
        known(streams, Clock(streams, 0)), after(nodes.size()),
        waits(nodes.size()), nodeOf(streams) {
    for (uint32_t n = 0; n < nodes.size(); ++n) {
      position.push_back(++perStep[nodes[n].stream]);
      nodeOf[nodes[n].stream].push_back(n);
    }
  }

  std::vector<std::vector<OrderWait>> run() {
    for (int64_t step : {0, 1}) {
      begin = Clock(streams, 0);
      for (uint32_t s = 0; s < streams; ++s) {
        begin[s] = step * perStep[s];
      }
      startKnowledge = known;
      for (uint32_t s = 0; s < streams; ++s) {
        startKnowledge[s][s] = begin[s];
      }
      for (uint32_t n = 0; n < nodes.size(); ++n) {
        visit(n, step);
      }
    }
    return std::move(waits);
  }

private:
  void visit(uint32_t n, int64_t step) {
    const OrderNode &node = nodes[n];
    int64_t count = begin[node.stream] + position[n];
    Clock needed(streams, 0);
    for (const Access &access : node.accesses) {
      lastUses.touch(access, node.stream, count, needed);
    }
    for (uint32_t before : node.after) {
      int64_t &need = needed[nodes[before].stream];
      need = std::max(need, begin[nodes[before].stream] + position[before]);
    }
    Clock &clock = known[node.stream];
    clock[node.stream] = count - 1;
    needed[node.stream] = 0;
    if (step == 0) {
      add(n, needed, clock);
    } else {
      for (const OrderWait &wait : waits[n]) {
        join(clock, after[*wait.source]);
      }
      add(n, needed, clock);
    }
    after[n] = clock;
    after[n][node.stream] = count;
    clock = after[n];
  }

  /// Adds the waits that `needed` asks for beyond `clock`, unless another of
  /// them covers them.
  void add(uint32_t n, const Clock &needed, Clock &clock) {
    std::vector<OrderWait> added;
    std::vector<Clock> sources;
    for (uint32_t s = 0; s < streams; ++s) {
      if (needed[s] <= clock[s]) {
        continue;
      }
      OrderWait wait{s, std::nullopt};
      if (needed[s] > begin[s]) {
        wait.source = nodeOf[s][needed[s] - begin[s] - 1];
      }
      sources.push_back(wait.source ? after[*wait.source] : startKnowledge[s]);
      added.push_back(wait);
    }
    // One at a time, so that two that cover each other do not both go.
    std::vector<bool> dropped(added.size(), false);
    for (size_t i = 0; i < added.size(); ++i) {
      for (size_t j = 0; j < added.size(); ++j) {
        if (j != i && !dropped[j] &&
            sources[j][added[i].sourceStream] >=
                needed[added[i].sourceStream]) {
          dropped[i] = true;
        }
      }
    }
    for (size_t i = 0; i < added.size(); ++i) {
      if (!dropped[i]) {
        waits[n].push_back(added[i]);
        join(clock, sources[i]);
      }
    }
  }

  const std::vector<OrderNode> &nodes;
  uint32_t streams;
  LastUses lastUses;
  Clock perStep;
  /// Per node, its number on its stream, from 1.
  std::vector<int64_t> position;
  /// Per stream, how many of its nodes earlier runs had.
  Clock begin;
  std::vector<Clock> known;
  std::vector<Clock> startKnowledge;
  /// Per node, what is known once it is over, in the current run.
  std::vector<Clock> after;
  std::vector<std::vector<OrderWait>> waits;
  std::vector<std::vector<uint32_t>> nodeOf;
};

} // namespace

std::vector<std::vector<OrderWait>>
orderNodes(const std::vector<OrderNode> &nodes, uint32_t streamCount) {
  return Orderer(nodes, streamCount).run();
}

} // namespace vdnn::planning
