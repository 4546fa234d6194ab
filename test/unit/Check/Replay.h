//===- Replay.h - one plan, run under any interleaving ----------*- C++ -*-===//

#ifndef VDNN_TEST_UNIT_CHECK_REPLAY_H
#define VDNN_TEST_UNIT_CHECK_REPLAY_H

#include "runtime/schedule/Schedule.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace vdnn::rt::test {

/// What a byte holds: each result of a command is a value of its own.
using Value = uint64_t;

/// Chooses the stream that goes on.
using Pick = std::function<uint32_t(const std::vector<uint32_t> &)>;

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

/// The streams of a schedule over several steps (Oracle.h).
class Replay {
public:
  Replay(const schedule::ScheduleT &schedule, unsigned steps)
      : s_(schedule), steps_(steps) {
    buildCells();
    buildCommands();
    buildHostPlaces();
    buildValues();
  }

  /// `pick(candidates)` chooses the stream that goes on.
  std::optional<std::string> run(const Pick &pick);
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

  uint64_t operandBytes(const schedule::Operand &operand) const;
  void buildCells();
  Range rangeOf(const schedule::BufferT &buffer, uint64_t bytes) const;
  Access accessOf(uint32_t buffer, uint64_t bytes);

  /// A kernel reads everything and then writes everything, in whatever order of
  /// elements, unless it is told that a result lies over an operand. It may
  /// read that operand twice, but not through another view.
  bool mayOverwrite(const schedule::CommandT &c, const schedule::InPlace &pair,
                    uint32_t read, uint32_t write) const;

  /// Bits that were written as one type mean nothing as another.
  void checkElements(const schedule::CommandT &c);
  void buildCommands();
  void buildHostPlaces();
  void addHostPlace(uint32_t buffer, bool filled);

  /// The value of every buffer in every step, by program order and names alone.
  void buildValues();

  // Running.

  void reset();

  /// The host acts on a place once all that touches it in this step is done;
  /// the next step's commands wait for that.
  void hostActs();
  uint64_t submission(uint32_t stream) const;
  bool isReady(uint32_t stream) const;
  void advance(uint32_t stream);
  void start(uint32_t id, unsigned step);
  void finish(uint32_t id, unsigned step);
  void put(const Range &range, Value value);
  void expect(const Access &access, unsigned step, const std::string &who);
  void check(const Access &access, Value value, const std::string &who);
  void checkKept();

  const schedule::ScheduleT &s_;
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

} // namespace vdnn::rt::test

#endif
