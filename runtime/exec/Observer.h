//===- Observer.h - what happens beside the plan --------------------------===//

#ifndef VDNN_RUNTIME_EXEC_OBSERVER_H
#define VDNN_RUNTIME_EXEC_OBSERVER_H

#include "runtime/exec/Device.h"

namespace vdnn::rt {

/// Queues work of its own around the commands of a step: on the command's
/// stream, so that it happens between the command and its neighbours there. An
/// observer of a correct plan never changes what the plan computes. Called by
/// one thread.
class Observer {
public:
  virtual ~Observer() = default;

  /// Before the first command; no work is queued.
  virtual Status stepBegins(const schedule::ScheduleT &, Device &) {
    return {};
  }

  /// Whether `before` and `after` are to be called in the next step, which is
  /// then submitted command by command instead of replayed.
  virtual bool seesCommands() const { return true; }

  virtual Status before(const schedule::ScheduleT &, Device &,
                        uint32_t /*command*/) {
    return {};
  }
  virtual Status after(const schedule::ScheduleT &, Device &,
                       uint32_t /*command*/) {
    return {};
  }

  /// After the last command has finished.
  virtual Status stepEnds(const schedule::ScheduleT &, Device &) { return {}; }
};

} // namespace vdnn::rt

#endif
