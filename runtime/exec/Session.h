//===- Session.h - a whole run --------------------------------------------===//

#ifndef VDNN_RUNTIME_EXEC_SESSION_H
#define VDNN_RUNTIME_EXEC_SESSION_H

#include "runtime/exec/Executor.h"
#include "runtime/exec/Feed.h"
#include "runtime/exec/Observers.h"
#include "runtime/exec/RateSchedule.h"
#include "runtime/exec/files/Safetensors.h"

#include <memory>
#include <optional>
#include <string>

namespace vdnn::rt {

struct SessionOptions {
  /// `.safetensors` files, or empty: the user's weights, and the file beside
  /// the plan.
  std::string weights;
  std::string planWeights;

  /// A checkpoint to go on from, or empty. It brings its own seed, shuffle and
  /// learning rate where those below are absent.
  std::string resume;

  std::map<std::string, std::string> data;
  std::optional<uint64_t>
      seed; ///< of initial values, synthetic data and dropout; default 0
  std::optional<uint64_t> shuffle;
  std::optional<RateSchedule> rate;

  /// Steps after the first are captured and replayed, where the device can do
  /// that and nothing below has to see every command.
  bool graph = true;

  bool poison = false;
  std::optional<uint64_t> jitter;
  bool verifyCopies = false;
  bool captureGradients = false;
  TensorFilter captureTensors; ///< or none
  bool trace = false;
};

/// Not thread-safe.
class Session {
public:
  static Result<std::unique_ptr<Session>> create(schedule::ScheduleT schedule,
                                                 std::unique_ptr<Device> device,
                                                 const SessionOptions &options);

  Executor &executor() { return *executor_; }

  /// What the user should know about the weights that the run starts from, and
  /// about the bits that it gives; one line each.
  const std::vector<std::string> &notes() const { return notes_; }

  const Feed &feed() const { return *feed_; }
  bool training() const { return isTraining(executor_->schedule()); }

  /// Number of the step that comes next; also how many steps were run, those
  /// before a checkpoint included.
  uint64_t nextStep() const { return next_; }

  /// For a cosine, which ends: the number of steps in all. A resumed run keeps
  /// that of its checkpoint.
  void setTotalSteps(uint64_t total);
  double rate() const { return rate_.at(next_); }

  void setRate(const RateSchedule &rate) { rate_ = rate; }

  /// Runs the next step.
  Status step();

  /// The same on the inputs as they were last written, without data of the
  /// session's own.
  Status stepWithoutData();

  /// Value of the output `loss` after the last step, if the plan has one and
  /// the device computes.
  std::optional<double> loss() const { return loss_; }

  /// From the last step's submission until the device had finished it, by its
  /// clock: without the filling of inputs, of which that of staged ones may end
  /// later.
  int64_t stepNs() const { return stepNs_; }

  /// Gradients of the last step; only with `captureGradients`.
  std::vector<HostTensor> gradients() const;

  /// Tensors of the last step that `captureTensors` wants.
  std::vector<HostTensor> captured() const;

  /// Values of all parameters and states that are not constants of the plan.
  Result<std::vector<HostTensor>> persistent();

  /// Writes a checkpoint: weights, states, and what a resumed run needs to
  /// compute the same bits. Atomic.
  Status save(const std::string &path);

  /// What was recorded; only with `trace`.
  const TraceRecorder *trace() const { return trace_; }

  /// Writes what was recorded; only with `trace`.
  Status writeTrace(const std::string &path) const;

private:
  Session() = default;

  Status load(const SessionOptions &options);
  Status adopt(const Safetensors &checkpoint, const SessionOptions &options);
  void observe(const SessionOptions &options);
  Status run(const std::function<Status()> &beside);
  Status fillInputs();
  Status feedScalars();
  Status readLoss();

  std::unique_ptr<Executor> executor_;
  std::optional<Feed> feed_;
  std::vector<std::string> notes_;
  std::vector<std::unique_ptr<Observer>> observers_;
  TensorTap *gradientTap_ = nullptr;
  TensorTap *tensorTap_ = nullptr;
  TraceRecorder *trace_ = nullptr;
  RateSchedule rate_;
  uint64_t seed_ = 0;
  std::optional<uint64_t> shuffle_;
  uint64_t next_ = 0;
  /// The step whose staged inputs are on the device; those of the step after it
  /// wait in the staging buffers.
  std::optional<uint64_t> entered_;
  std::optional<double> loss_;
  int64_t stepNs_ = 0;
};

} // namespace vdnn::rt

#endif
