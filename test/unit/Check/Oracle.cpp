//===- Oracle.cpp - replays interleavings
//----------------------------------------------------------------------===//

#include "Oracle.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace vdnn::rt::test {

using namespace schedule;

namespace {

using Value = uint64_t;

/// Bytes of an arena between two boundaries of ranges: they always hold parts
/// of one value.
struct Cell {
  Value value = 0;
  int64_t place = 0; // of its first byte within the value
};

/// Cells [begin, end) of both arenas, numbered through, and the address of the
/// range's first byte.
struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
  int64_t address = 0;

  bool overlaps(const Range &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// A place that the host fills before a step or reads after it.
struct HostPlace {
  Range range;
  uint32_t buffer;
  bool filled; // or read
  std::vector<uint32_t> touching;
};

class Replay {
public:
  Replay(const ScheduleT &schedule, unsigned steps)
      : s_(schedule), steps_(steps) {
    buildCells();
    buildCommands();
    buildHostPlaces();
    buildValues();
  }

  /// `pick(candidates)` chooses the stream that goes on.
  template <typename Pick>
  std::optional<std::string> run(Pick pick) {
    reset();
    while (!harm_) {
      hostActs();
      std::vector<uint32_t> ready;
      for (uint32_t stream = 0; stream < s_.streams.size(); ++stream) {
        if (isReady(stream)) {
          ready.push_back(stream);
        }
      }
      if (ready.empty()) {
        break;
      }
      advance(pick(ready));
    }
    if (!harm_ && completed_ != s_.commands.size() * steps_) {
      harm_ = "the streams wait for each other for ever";
    }
    if (!harm_) {
      checkKept();
    }
    return harm_;
  }

  bool running(uint32_t stream) const { return states_[stream].running; }

private:
  struct Access {
    uint32_t buffer;
    Range range;
  };
  struct Work {
    std::vector<Access> reads;
    std::vector<Access> writes;
    std::vector<Access> scratch;
    std::vector<bool>
        readInPlace; // its range is overwritten by this command, rightly
    std::vector<uint32_t> hostPlaces;
  };
  struct State {
    uint64_t next = 0; // place in the queue of all steps
    bool running = false;
  };

  // Set-up.

  uint64_t operandBytes(const Operand &operand) const {
    return *typeBytes(*s_.types[operand.type()]);
  }

  void buildCells() {
    std::vector<uint64_t> edges[2];
    auto add = [&](const BufferT &buffer, uint64_t bytes) {
      edges[static_cast<int>(buffer.arena)].push_back(buffer.offset);
      edges[static_cast<int>(buffer.arena)].push_back(buffer.offset + bytes);
    };
    for (const auto &buffer : s_.buffers) {
      add(*buffer, buffer->bytes);
    }
    for (const auto &command : s_.commands) {
      for (const std::vector<Operand> *operands :
           {&command->reads, &command->writes}) {
        for (const Operand &operand : *operands) {
          add(*s_.buffers[operand.buffer()], operandBytes(operand));
        }
      }
    }
    for (int arena : {0, 1}) {
      std::sort(edges[arena].begin(), edges[arena].end());
      edges[arena].erase(std::unique(edges[arena].begin(), edges[arena].end()),
                         edges[arena].end());
      firstCell_[arena] = cellAddress_.size();
      cellAddress_.insert(cellAddress_.end(), edges[arena].begin(),
                          edges[arena].end());
      edges_[arena] = std::move(edges[arena]);
    }
  }

  Range rangeOf(const BufferT &buffer, uint64_t bytes) const {
    int arena = static_cast<int>(buffer.arena);
    auto cell = [&](uint64_t address) {
      auto found =
          std::lower_bound(edges_[arena].begin(), edges_[arena].end(), address);
      return static_cast<uint32_t>(firstCell_[arena] +
                                   (found - edges_[arena].begin()));
    };
    return {cell(buffer.offset), cell(buffer.offset + bytes),
            static_cast<int64_t>(buffer.offset)};
  }

  Access accessOf(uint32_t buffer, uint64_t bytes) {
    const BufferT &b = *s_.buffers[buffer];
    uint64_t arena = b.arena == Arena::Device ? s_.device_arena : s_.host_arena;
    if (b.offset + bytes > arena) {
      broken_ = "buffer '" + b.name + "' is used beyond its arena";
    }
    return {buffer, rangeOf(b, bytes)};
  }

  /// A kernel reads everything and then writes everything, in whatever order of
  /// elements, unless it is told that a result lies over an operand. It may
  /// read that operand twice, but not through another view.
  bool mayOverwrite(const CommandT &c, const InPlace &pair, uint32_t read,
                    uint32_t write) const {
    if (pair.write() != write ||
        c.reads[pair.read()].buffer() != c.reads[read].buffer()) {
      return false;
    }
    const TypeT &a = *s_.types[c.reads[pair.read()].type()];
    const TypeT &b = *s_.types[c.reads[read].type()];
    return pair.read() == read || (a.element == b.element &&
                                   a.shape == b.shape && a.layout == b.layout);
  }

  /// Bits that were written as one type mean nothing as another.
  void checkElements(const CommandT &c) {
    for (const std::vector<Operand> *operands : {&c.reads, &c.writes}) {
      for (const Operand &operand : *operands) {
        const BufferT &b = *s_.buffers[operand.buffer()];
        if (b.tensor >= 0 && s_.tensors[b.tensor]->type->element !=
                                 s_.types[operand.type()]->element) {
          broken_ = "'" + c.location + "' takes the elements of buffer '" +
                    b.name + "' as another type";
        }
      }
    }
  }

  void buildCommands() {
    work_.resize(s_.commands.size());
    queues_.resize(s_.streams.size());
    for (uint32_t id = 0; id < s_.commands.size(); ++id) {
      const CommandT &c = *s_.commands[id];
      checkElements(c);
      Work &work = work_[id];
      for (const Operand &operand : c.reads) {
        work.reads.push_back(accessOf(operand.buffer(), operandBytes(operand)));
      }
      for (const Operand &operand : c.writes) {
        work.writes.push_back(
            accessOf(operand.buffer(), operandBytes(operand)));
      }
      if (c.workspace >= 0) {
        work.scratch.push_back(
            accessOf(c.workspace, s_.buffers[c.workspace]->bytes));
      }
      work.readInPlace.resize(c.reads.size());
      for (uint32_t read = 0; read < c.reads.size(); ++read) {
        for (uint32_t write = 0; write < c.writes.size(); ++write) {
          const Range &from = work.reads[read].range;
          const Range &to = work.writes[write].range;
          bool declared = std::any_of(
              c.in_place.begin(), c.in_place.end(), [&](const InPlace &pair) {
                return mayOverwrite(c, pair, read, write);
              });
          if (declared && from.begin == to.begin && from.end == to.end) {
            work.readInPlace[read] = true;
          }
        }
      }
      queues_[c.stream].push_back(id);
    }
    // What each wait of each step means: the place of a record in the
    // submission of all steps.
    std::vector<int64_t> latest(s_.event_count, -1);
    target_.resize(s_.commands.size() * steps_, -1);
    for (uint64_t at = 0; at < target_.size(); ++at) {
      const CommandT &c = *s_.commands[at % s_.commands.size()];
      if (c.kind == CommandKind::Record) {
        latest[c.event] = static_cast<int64_t>(at);
      } else if (c.kind == CommandKind::Wait) {
        target_[at] = latest[c.event];
      }
    }
  }

  void buildHostPlaces() {
    for (const auto &tensor : s_.tensors) {
      if (tensor->role == Role::Input && tensor->entry >= 0) {
        addHostPlace(tensor->entry, /*filled=*/true);
      } else if (tensor->role == Role::Output && tensor->exit >= 0) {
        addHostPlace(tensor->exit, /*filled=*/false);
      }
    }
  }

  void addHostPlace(uint32_t buffer, bool filled) {
    HostPlace place{rangeOf(*s_.buffers[buffer], s_.buffers[buffer]->bytes),
                    buffer,
                    filled,
                    {}};
    for (uint32_t id = 0; id < work_.size(); ++id) {
      bool touches = false;
      for (const std::vector<Access> *list :
           {&work_[id].reads, &work_[id].writes, &work_[id].scratch}) {
        for (const Access &access : *list) {
          touches = touches || access.range.overlaps(place.range);
        }
      }
      if (touches) {
        place.touching.push_back(id);
        work_[id].hostPlaces.push_back(hostPlaces_.size());
      }
    }
    hostPlaces_.push_back(std::move(place));
  }

  /// The value of every buffer in every step, by program order and names alone.
  void buildValues() {
    values_.assign(steps_ + 1, std::vector<Value>(s_.buffers.size(), 0));
    Value fresh = 1;
    for (unsigned step = 0; step <= steps_; ++step) {
      std::vector<Value> &now = values_[step];
      std::vector<Value> made(s_.tensors.size(), 0);
      for (const auto &tensor : s_.tensors) {
        if (tensor->entry >= 0) {
          bool kept =
              tensor->role != Role::Input && step > 0 && tensor->exit >= 0;
          now[tensor->entry] = kept ? values_[step - 1][tensor->exit] : fresh++;
        }
      }
      for (const auto &c : s_.commands) {
        for (const Operand &operand : c->writes) {
          now[operand.buffer()] = c->kind == CommandKind::Copy
                                      ? now[c->reads[0].buffer()]
                                      : fresh++;
          int64_t tensor = s_.buffers[operand.buffer()]->tensor;
          if (c->kind == CommandKind::Launch && tensor >= 0) {
            made[tensor] = now[operand.buffer()];
          }
        }
      }
      for (size_t tensor = 0; tensor < made.size(); ++tensor) {
        int32_t exit = s_.tensors[tensor]->exit;
        if (made[tensor] != 0 && exit >= 0 && now[exit] != made[tensor]) {
          broken_ = "what the kernels make of tensor '" +
                    s_.tensors[tensor]->name + "' is not what the step leaves";
        }
      }
    }
    garbage_ = fresh;
  }

  // Running.

  void reset() {
    cells_.assign(cellAddress_.size(), {});
    states_.assign(s_.streams.size(), {});
    done_.assign(s_.commands.size() * steps_, false);
    hostStep_.assign(hostPlaces_.size(), 0);
    hostLeft_.assign(steps_ * hostPlaces_.size(), 0);
    completed_ = 0;
    nextGarbage_ = garbage_;
    harm_ = broken_;
    for (size_t place = 0; place < hostPlaces_.size(); ++place) {
      for (unsigned step = 0; step < steps_; ++step) {
        hostLeft_[step * hostPlaces_.size() + place] =
            hostPlaces_[place].touching.size();
      }
    }
    for (const auto &tensor : s_.tensors) {
      if (tensor->entry >= 0) {
        const BufferT &entry = *s_.buffers[tensor->entry];
        put(rangeOf(entry, entry.bytes), values_[0][tensor->entry]);
      }
    }
  }

  /// The host acts on a place once all that touches it in this step is done;
  /// the next step's commands wait for that.
  void hostActs() {
    for (size_t place = 0; place < hostPlaces_.size(); ++place) {
      unsigned &step = hostStep_[place];
      while (step < steps_ &&
             hostLeft_[step * hostPlaces_.size() + place] == 0) {
        const HostPlace &host = hostPlaces_[place];
        ++step;
        if (host.filled) {
          put(host.range, values_[step][host.buffer]);
        } else {
          expect({host.buffer, host.range}, step - 1, "the host");
        }
      }
    }
  }

  uint64_t submission(uint32_t stream) const {
    const State &state = states_[stream];
    uint64_t step = state.next / queues_[stream].size();
    return step * s_.commands.size() +
           queues_[stream][state.next % queues_[stream].size()];
  }

  bool isReady(uint32_t stream) const {
    const State &state = states_[stream];
    if (state.running) {
      return true;
    }
    if (queues_[stream].empty() ||
        state.next == queues_[stream].size() * steps_) {
      return false;
    }
    uint64_t at = submission(stream);
    if (target_[at] >= 0 && !done_[target_[at]]) {
      return false;
    }
    unsigned step = at / s_.commands.size();
    const std::vector<uint32_t> &places =
        work_[at % s_.commands.size()].hostPlaces;
    return std::all_of(places.begin(), places.end(), [&](uint32_t place) {
      return hostStep_[place] >= step;
    });
  }

  void advance(uint32_t stream) {
    State &state = states_[stream];
    uint64_t at = submission(stream);
    uint32_t id = at % s_.commands.size();
    unsigned step = at / s_.commands.size();
    CommandKind kind = s_.commands[id]->kind;
    bool works = kind == CommandKind::Launch || kind == CommandKind::Copy;
    if (works && !state.running) {
      start(id, step);
      state.running = true;
      return;
    }
    if (works) {
      finish(id, step);
    }
    state.running = false;
    ++state.next;
    done_[at] = true;
    ++completed_;
    for (uint32_t place : work_[id].hostPlaces) {
      --hostLeft_[step * hostPlaces_.size() + place];
    }
  }

  void start(uint32_t id, unsigned step) {
    Work &work = work_[id];
    for (const Access &read : work.reads) {
      expect(read, step, s_.commands[id]->location);
    }
    // While it runs, what it writes is neither the old value nor the new one.
    for (const Access &write : work.writes) {
      put(write.range, nextGarbage_++);
    }
    for (const Access &scratch : work.scratch) {
      put(scratch.range, nextGarbage_);
      scratchValue_[id] = nextGarbage_++;
    }
  }

  void finish(uint32_t id, unsigned step) {
    Work &work = work_[id];
    for (size_t i = 0; i < work.reads.size(); ++i) {
      if (!work.readInPlace[i]) {
        expect(work.reads[i], step, s_.commands[id]->location);
      }
    }
    for (const Access &scratch : work.scratch) {
      check(scratch, scratchValue_[id], s_.commands[id]->location);
      put(scratch.range, nextGarbage_++);
    }
    for (const Access &write : work.writes) {
      put(write.range, values_[step][write.buffer]);
    }
  }

  void put(const Range &range, Value value) {
    for (uint32_t cell = range.begin; cell < range.end; ++cell) {
      cells_[cell] = {value,
                      static_cast<int64_t>(cellAddress_[cell]) - range.address};
    }
  }

  void expect(const Access &access, unsigned step, const std::string &who) {
    check(access, values_[step][access.buffer], who);
  }

  void check(const Access &access, Value value, const std::string &who) {
    for (uint32_t cell = access.range.begin; cell < access.range.end; ++cell) {
      int64_t place =
          static_cast<int64_t>(cellAddress_[cell]) - access.range.address;
      if ((cells_[cell].value != value || cells_[cell].place != place) &&
          !harm_) {
        harm_ = "'" + who + "' finds another value in buffer '" +
                s_.buffers[access.buffer]->name + "'";
      }
    }
  }

  void checkKept() {
    for (const auto &tensor : s_.tensors) {
      if (tensor->role != Role::Input && tensor->entry >= 0 &&
          tensor->exit >= 0) {
        const BufferT &entry = *s_.buffers[tensor->entry];
        check(
            {static_cast<uint32_t>(tensor->exit), rangeOf(entry, entry.bytes)},
            values_[steps_ - 1][tensor->exit], "the next step");
      }
    }
  }

  const ScheduleT &s_;
  unsigned steps_;
  std::vector<uint64_t> edges_[2];
  std::vector<uint64_t> cellAddress_;
  size_t firstCell_[2] = {};
  std::vector<Work> work_;
  std::vector<std::vector<uint32_t>> queues_;
  std::vector<int64_t> target_;
  std::vector<HostPlace> hostPlaces_;
  std::vector<std::vector<Value>> values_;
  Value garbage_ = 0;
  /// Harm that every order of commands does.
  std::optional<std::string> broken_;

  std::vector<Cell> cells_;
  std::vector<State> states_;
  std::vector<bool> done_;
  std::vector<unsigned> hostStep_;
  std::vector<size_t> hostLeft_;
  std::vector<Value> scratchValue_ = std::vector<Value>(s_.commands.size());
  size_t completed_ = 0;
  Value nextGarbage_ = 0;
  std::optional<std::string> harm_;
};

} // namespace

std::optional<std::string> findHarm(const ScheduleT &schedule,
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
