//===- Executor.h - runs a schedule step by step --------------------------===//

#ifndef VDNN_RUNTIME_EXEC_EXECUTOR_H
#define VDNN_RUNTIME_EXEC_EXECUTOR_H

#include "runtime/check/Check.h"
#include "runtime/exec/Device.h"
#include "runtime/exec/Observer.h"
#include "runtime/exec/files/HostTensor.h"

#include <memory>
#include <optional>
#include <vector>

namespace vdnn::rt {

/// Why `device` may not run `schedule`; empty where it may: the plan is sound,
/// breaks no invariant, and is made for this device (P11). A simulator runs
/// plans of every device.
std::vector<Violation> findViolations(const schedule::ScheduleT &schedule,
                                      const Device &device);

/// The same as an error that lists every violation.
Status admit(const schedule::ScheduleT &schedule, const Device &device);

/// Not thread-safe. Between steps no work is queued, so the values of tensors
/// may be read and written.
class Executor {
public:
  /// Admits the plan, takes the arenas, prepares the kernels. Nothing is
  /// initialised.
  static Result<std::unique_ptr<Executor>>
  create(schedule::ScheduleT schedule, std::unique_ptr<Device> device);

  const schedule::ScheduleT &schedule() const { return schedule_; }
  Device &device() { return *device_; }

  /// Calls the observer from now on; it must outlive the executor's last step.
  /// Observers are called in this order.
  void observe(Observer &observer) { observers_.push_back(&observer); }

  /// Whether steps after the first are captured and replayed, where the device
  /// can do that and no observer sees commands. On from the start.
  void setCapture(bool capture) { capture_ = capture; }

  /// Submits one step and waits for its end. After an error nothing more can be
  /// run. `beside` is called while the step runs, once the values of the next
  /// one have left the staging buffers: it may fill them again.
  Status step(const std::function<Status()> &beside = {}) {
    return steps(1, beside);
  }

  /// Submits `count` steps, one behind the other, and waits for the end of the
  /// last: only the plan's own events order one step after another. All read
  /// the same inputs, but of a staged input the first step has the value that
  /// was entered and all others have the one that waited in the staging buffer.
  /// Observers see one long step: those that keep bytes by command are not for
  /// this.
  Status steps(uint64_t count, const std::function<Status()> &beside = {});

  /// Number of the tensor of that name, if any.
  std::optional<uint32_t> find(const std::string &name) const;

  /// Sets the value that an input or persistent tensor has when the next step
  /// begins; an input keeps it until it is written again. `value` has exactly
  /// the tensor's element type and shape.
  Status write(uint32_t index, const HostTensor &value);

  /// Value of an output or persistent tensor after the last step (a persistent
  /// one: also before the first).
  Result<HostTensor> read(uint32_t index);

  /// When the device had finished the last step, by its clock: `beside` may
  /// have taken longer.
  int64_t endNs() const { return endNs_; }

  /// An input's bytes in the host arena, in the tensor's own layout: of a
  /// staged one the value of the step after the next. To be written before the
  /// next step, or in its `beside`.
  std::span<std::byte> inputBytes(uint32_t tensor);

  /// Stays the same as long as nothing can have changed an input's bytes since:
  /// no `inputBytes`, no `write`, and no step whose commands write to their
  /// range. No two executors of a process ever have the same one.
  uint64_t inputRevision(uint32_t tensor) const { return revisions_[tensor]; }

  /// Gives staged inputs the value for the next step that is in `inputBytes`
  /// now: where no step before could do it.
  Status enterStaged();

private:
  Executor(schedule::ScheduleT schedule, std::unique_ptr<Device> device)
      : schedule_(std::move(schedule)), device_(std::move(device)) {}

  struct Launch {
    std::vector<uint64_t> reads;
    std::vector<uint64_t> writes;
    LaunchArguments arguments;
  };

  Status prepare();
  Status runSteps(uint64_t count, const std::function<Status()> &beside);
  Status runBeside(const std::function<Status()> &beside);
  std::span<std::byte> inputRange(uint32_t tensor);
  void findReusedInputs();
  void touch(uint32_t tensor);
  Status runStep();
  Status submitStep();
  Status prepareLaunch(uint32_t index);
  Status submit(uint32_t index);
  Status submitLaunch(uint32_t index, const schedule::CommandT &command);
  Status submitCopy(const schedule::CommandT &command);

  schedule::ScheduleT schedule_;
  std::unique_ptr<Device> device_;
  std::vector<Observer *> observers_;
  std::vector<Launch> launches_; // by command
  std::vector<uint32_t> staged_; // inputs; their places here number their marks
  std::vector<uint32_t> reused_; // inputs whose bytes a step may overwrite
  std::vector<uint64_t> revisions_; // by tensor
  std::vector<int64_t> ends_;       // by stream, of a step with `beside`
  int64_t endNs_ = 0;
  bool failed_ = false;
  bool capture_ = true;
  bool warm_ = false;     // every kernel has run
  bool captured_ = false; // the device keeps the step
};

/// Whether a step changes persistent tensors, as training does.
bool isTraining(const schedule::ScheduleT &schedule);

/// Parameters and states: what lives from step to step.
bool isPersistent(const schedule::TensorT &tensor);

/// A state that starts as another tensor's value in another element type: it
/// follows from that tensor, so that no file holds it.
bool isConverted(const schedule::TensorT &tensor);

/// What weights and checkpoints hold: what lives from step to step and follows
/// from nothing else.
bool isSaved(const schedule::TensorT &tensor);

/// An input of which the next step's value is copied in while a step runs.
bool isStaged(const schedule::TensorT &tensor);

/// A constant of the model: a state that belongs to the plan, not to a
/// checkpoint.
bool isConstant(const schedule::TensorT &tensor);

/// An input that the runtime feeds itself: `vdnn.rate`, `vdnn.step`,
/// `vdnn.seed`.
bool isReserved(const schedule::TensorT &tensor);

} // namespace vdnn::rt

#endif
