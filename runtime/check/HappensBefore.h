//===- HappensBefore.h - the order that streams and events give -----------===//

#ifndef VDNN_RUNTIME_CHECK_HAPPENSBEFORE_H
#define VDNN_RUNTIME_CHECK_HAPPENSBEFORE_H

#include "runtime/check/Context.h"

namespace vdnn::rt::check_detail {

/// Which of two consecutive steps a command runs in. Steps follow each other
/// without a barrier.
enum class Step : uint32_t { This, Next };

/// Vector clocks over the step, unrolled twice. A clock changes only where a
/// stream waits for something new, so one is kept per such wait.
class HappensBefore {
public:
  explicit HappensBefore(const schedule::ScheduleT &schedule);

  /// Whether `a` has completed whenever `b` starts.
  bool before(CommandId a, Step stepOfA, CommandId b, Step stepOfB) const {
    uint32_t stream = streamOf_[a];
    uint64_t instanceOfA = instance(a, stepOfA);
    if (stream == streamOf_[b]) {
      return instanceOfA < instance(b, stepOfB);
    }
    return clocks_[clockOf_[static_cast<uint32_t>(stepOfB)][b] + stream] >
           instanceOfA;
  }

private:
  uint64_t instance(CommandId id, Step step) const {
    return position_[id] + (step == Step::Next ? count_[streamOf_[id]] : 0);
  }

  std::vector<uint32_t> streamOf_;
  /// Place of a command among those of its stream, and how many that stream has
  /// in a step.
  std::vector<uint64_t> position_;
  std::vector<uint64_t> count_;
  /// Clocks, one after another; an entry counts the completed commands of a
  /// stream.
  std::vector<uint64_t> clocks_;
  /// Where the clock of a command begins, per step.
  std::vector<size_t> clockOf_[2];
};

} // namespace vdnn::rt::check_detail

#endif
