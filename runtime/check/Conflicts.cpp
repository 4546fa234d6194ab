//===- Conflicts.cpp - P3: overlapping ranges are never in use unordered --===//
//
// At every address, the buffers that cover it must take turns: all uses of one
// before the first of the next, which is its write. A sweep over the addresses
// keeps the buffers that cover the current one sorted by their writes' place in
// submission order (an order in time can only follow that). "All before" is
// transitive, so it is enough to look at neighbours, and at the last of this
// step against the first of the next: n log n pairs instead of n squared.
//
//===----------------------------------------------------------------------===//

#include "runtime/check/Rules.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace vdnn::rt::check_detail {

using namespace schedule;

namespace {

class Sweep {
public:
  Sweep(Context &context, const HappensBefore &order, Arena arena)
      : context_(context), order_(order), arena_(arena) {}

  void run() {
    struct Edge {
      uint64_t address;
      bool begins;
      BufferId buffer;
      bool operator<(const Edge &other) const {
        return std::tie(address, begins, buffer) <
               std::tie(other.address, other.begins, other.buffer);
      }
    };
    std::vector<Edge> edges;
    for (BufferId id = 0; id < context_.uses.size(); ++id) {
      const BufferT &b = context_.buffer(id);
      bool inUse = isEntry(id) || isStaging(id) || context_.writer(id) != kNone;
      if (b.arena == arena_ && b.bytes > 0 && inUse) {
        edges.push_back({b.offset, true, id});
        edges.push_back({b.offset + b.bytes, false, id});
      }
    }
    std::sort(edges.begin(), edges.end());
    for (size_t i = 0; i < edges.size();) {
      uint64_t address = edges[i].address;
      for (; i < edges.size() && edges[i].address == address; ++i) {
        if (edges[i].begins) {
          begin(edges[i].buffer);
        } else {
          end(edges[i].buffer);
        }
      }
      checkStepBoundary();
    }
  }

private:
  /// Entries are there when a step begins, before every write.
  struct Turn {
    int64_t written;
    BufferId buffer;
    auto operator<=>(const Turn &) const = default;
  };

  bool isEntry(BufferId id) const {
    return context_.places[id].entryOf != kNone;
  }

  /// The host fills it while commands run, so it takes no turns with anything.
  bool isStaging(BufferId id) const {
    return context_.places[id].stagingOf != kNone;
  }

  Turn turn(BufferId id) const {
    return {isEntry(id) || isStaging(id)
                ? -1
                : static_cast<int64_t>(context_.writer(id)),
            id};
  }

  void begin(BufferId id) {
    auto place = active_.insert(turn(id)).first;
    if (place != active_.begin()) {
      checkNeighbours(std::prev(place)->buffer, id);
    }
    if (auto next = std::next(place); next != active_.end()) {
      checkNeighbours(id, next->buffer);
    }
  }

  void end(BufferId id) {
    auto next = active_.erase(active_.find(turn(id)));
    if (next != active_.begin() && next != active_.end()) {
      checkNeighbours(std::prev(next)->buffer, next->buffer);
    }
  }

  /// Whether `command` may compute `second` over `first`.
  bool isInPlace(BufferId first, BufferId second, CommandId command) const {
    const BufferT &a = context_.buffer(first);
    const BufferT &b = context_.buffer(second);
    if (a.offset != b.offset || a.bytes != b.bytes) {
      return false;
    }
    const CommandT &c = context_.command(command);
    return std::any_of(c.in_place.begin(), c.in_place.end(),
                       [&](const InPlace &pair) {
                         return c.reads[pair.read()].buffer() == first &&
                                c.writes[pair.write()].buffer() == second;
                       });
  }

  /// The use of `first` that nothing orders before the write of `second`, or
  /// kNone.
  CommandId unordered(BufferId first, BufferId second,
                      Step stepOfSecond) const {
    CommandId write = context_.writer(second);
    for (CommandId use : context_.uses[first].last) {
      if (use == write && stepOfSecond == Step::This) {
        if (!isInPlace(first, second, write)) {
          return use;
        }
      } else if (!order_.before(use, Step::This, write, stepOfSecond)) {
        return use;
      }
    }
    return kNone;
  }

  void checkNeighbours(BufferId first, BufferId second) {
    if (isStaging(first) || isStaging(second)) {
      conflict(first, second,
               std::string("the host fills the ") +
                   (isStaging(first) ? "first" : "second") +
                   " with the next step's value while commands run");
      return;
    }
    if (isEntry(second)) {
      conflict(first, second, "both hold a value when a step begins");
      return;
    }
    if (context_.places[first].exitOf != kNone) {
      conflict(first, second,
               "the first must keep its value to the end of the step, and " +
                   context_.describeCommand(context_.writer(second)) +
                   " writes the second");
      return;
    }
    checkOrdered(first, second, Step::This);
  }

  void checkOrdered(BufferId first, BufferId second, Step stepOfSecond) {
    CommandId use = unordered(first, second, stepOfSecond);
    if (use == kNone) {
      return;
    }
    CommandId write = context_.writer(second);
    if (use == write && stepOfSecond == Step::This) {
      conflict(first, second,
               context_.describeCommand(use) +
                   " uses both, and they are not in place");
      return;
    }
    conflict(first, second,
             "nothing orders " + context_.describeCommand(use) +
                 ", which uses the first, before " +
                 context_.describeCommand(write) +
                 (stepOfSecond == Step::Next ? " of the next step" : "") +
                 ", which writes the second");
  }

  void checkStepBoundary() {
    if (active_.empty()) {
      return;
    }
    BufferId first = active_.begin()->buffer;
    BufferId last = active_.rbegin()->buffer;
    if (isStaging(first)) {
      return; // the runtime fills it after the copy that reads it
    }
    if (!isEntry(first)) {
      checkOrdered(last, first, Step::Next);
      return;
    }
    // The host fills an input while no command runs; that orders the steps at
    // this address.
    uint32_t tensor = context_.places[first].entryOf;
    if (!context_.isCarried(tensor)) {
      if (last != first && context_.places[last].exitOf != kNone) {
        conflict(last, first,
                 "the host may fill the second for the next step before it has "
                 "read what this step left in the first");
      }
      return;
    }
    if (context_.places[last].exitOf != tensor) {
      conflict(last, first,
               "the second begins the next step with the value of " +
                   context_.describeTensor(tensor) +
                   ", and the first is the last to be written there");
      return;
    }
    // What the exit leaves is the next step's entry: one value, so its readers
    // of this step come before the next turn. Two entries in one place are a
    // conflict of their own.
    if (active_.size() > 1 && !isEntry(std::next(active_.begin())->buffer)) {
      checkOrdered(last, std::next(active_.begin())->buffer, Step::Next);
    }
  }

  void conflict(BufferId first, BufferId second, const std::string &why) {
    if (!reported_.insert({first, second}).second) {
      return;
    }
    const BufferT &a = context_.buffer(first);
    const BufferT &b = context_.buffer(second);
    if (first == second) {
      context_.reportRange(arena_, "P3",
                           context_.describeBuffer(first) +
                               " conflicts with itself: " + why);
      return;
    }
    std::string overlap =
        rangeText(std::max(a.offset, b.offset),
                  std::min(a.offset + a.bytes, b.offset + b.bytes));
    context_.reportRange(arena_, "P3",
                         context_.describeBuffer(first) + " and " +
                             context_.describeBuffer(second) + " overlap in " +
                             overlap + ": " + why);
  }

  Context &context_;
  const HappensBefore &order_;
  Arena arena_;
  std::set<Turn> active_;
  std::set<std::pair<BufferId, BufferId>> reported_;
};

} // namespace

static bool sameType(const TypeT &a, const TypeT &b) {
  return a.element == b.element && a.shape == b.shape && a.layout == b.layout;
}

/// An in-place kernel writes an element once it has read those at the same
/// place. What it reads of that buffer through another view, such as a row that
/// it broadcasts, may be overwritten before. (Reads of other buffers in that
/// range, and other writes, conflict as they do anywhere.)
static void checkViewsInPlace(Context &context, CommandId id) {
  const CommandT &c = context.command(id);
  std::unordered_map<BufferId, uint32_t> paired;
  for (const InPlace &pair : c.in_place) {
    const Operand &read = c.reads[pair.read()];
    const Operand &write = c.writes[pair.write()];
    paired.insert({read.buffer(), pair.read()});
    const TypeT &from = *context.schedule.types[read.type()];
    const TypeT &to = *context.schedule.types[write.type()];
    if (*typeBytes(from) != *typeBytes(to) ||
        elementBytes(from.element) != elementBytes(to.element)) {
      context.report(
          "P3", context.describeCommand(id) + " computes " +
                    context.describeBuffer(write.buffer()) + " in place of " +
                    context.describeBuffer(read.buffer()) +
                    ", of which it reads " + std::to_string(*typeBytes(from)) +
                    " bytes in elements of " +
                    std::to_string(elementBytes(from.element)) +
                    ", expected as many and as large elements as it writes");
    }
  }
  for (uint32_t position = 0; position < c.reads.size() && !paired.empty();
       ++position) {
    auto found = paired.find(c.reads[position].buffer());
    if (found == paired.end()) {
      continue;
    }
    if (!sameType(*context.schedule.types[c.reads[position].type()],
                  *context.schedule.types[c.reads[found->second].type()])) {
      context.report("P3", context.describeCommand(id) +
                               " computes in place of " +
                               context.describeBuffer(found->first) +
                               ", which its read " + std::to_string(position) +
                               " views as another type: it may be overwritten "
                               "before that is read");
    }
  }
}

/// A declared pair must be one range, whether or not anything else lies there:
/// the kernel is told that it is.
static void checkInPlacePairs(Context &context) {
  for (CommandId id = 0; id < context.schedule.commands.size(); ++id) {
    const CommandT &c = context.command(id);
    checkViewsInPlace(context, id);
    for (const InPlace &pair : c.in_place) {
      BufferId first = c.reads[pair.read()].buffer();
      BufferId second = c.writes[pair.write()].buffer();
      const BufferT &a = context.buffer(first);
      const BufferT &b = context.buffer(second);
      if (a.arena != b.arena || a.offset != b.offset || a.bytes != b.bytes) {
        context.report("P3", context.describeCommand(id) + " computes " +
                                 context.describeBuffer(second) +
                                 " in place of " +
                                 context.describeBuffer(first) +
                                 ", expected the same range");
      }
    }
  }
}

void checkConflicts(Context &context, const HappensBefore &order) {
  checkInPlacePairs(context);
  for (Arena arena : {Arena::Device, Arena::Host}) {
    Sweep(context, order, arena).run();
  }
}

} // namespace vdnn::rt::check_detail
