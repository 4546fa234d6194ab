//===- Observers.h - debug modes and measurements -------------------------===//

#ifndef VDNN_RUNTIME_EXEC_OBSERVERS_H
#define VDNN_RUNTIME_EXEC_OBSERVERS_H

#include "runtime/exec/Observer.h"
#include "runtime/exec/TraceSummary.h"
#include "runtime/exec/files/HostTensor.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace vdnn::rt {

/// Fills with bytes that are NaN in every floating-point type: when a step
/// begins, everything that holds nothing (all but inputs and persistent
/// tensors); before a buffer is written, its range (unless it is written in
/// place). A correct plan computes the same; one that reads bytes nobody wrote
/// shows it.
std::unique_ptr<Observer> createPoison();

/// Delays commands of every stream by up to 200 us, at random, so that streams
/// meet in other orders than usual.
std::unique_ptr<Observer> createJitter(uint64_t seed);

/// Checks that what comes back to the device is what left it, for every
/// offloaded tensor of every step; takes host memory for both copies of each.
/// The step fails with the name of the first tensor that differs.
std::unique_ptr<Observer> createCopyVerifier();

using TensorFilter = std::function<bool(const schedule::TensorT &)>;

/// Captures the wanted tensors of a step, each right after the launch that
/// completes it: before a consumer computes in its place or its memory is given
/// away. Takes host memory for all of them.
class TensorTap : public Observer {
public:
  /// Values of the last step, row major, named as their tensors.
  virtual std::vector<HostTensor>
  tensors(const schedule::ScheduleT &schedule) const = 0;
};
std::unique_ptr<TensorTap> createTensorTap(TensorFilter wanted);

/// What a tap can capture: tensors that some launch writes. Inputs and
/// constants are not among them.
std::vector<const schedule::TensorT *>
computedTensors(const schedule::ScheduleT &schedule);

/// Notes when each launch and copy starts and ends, by the device's clock: what
/// the device's own tracer says, where it has one, of the first
/// `kTracedSteps` steps, of which only the first `kSubmittedSteps` need be
/// submitted command by command; else when the queue passes each command, of
/// all steps.
class TraceRecorder : public Observer {
public:
  static constexpr uint64_t kSubmittedSteps = 3;
  static constexpr uint64_t kTracedSteps = 8;

  virtual std::vector<Slice> slices() const = 0;

  /// Why the device's own tracer told nothing, or no more; empty where it did.
  virtual const std::string &note() const = 0;

  /// Writes everything since the beginning as Chrome trace events
  /// (chrome://tracing, Perfetto): one lane per stream, one slice per command,
  /// named after the op of the model it comes from. Atomic.
  virtual Status write(const schedule::ScheduleT &schedule,
                       const std::string &path) const = 0;
};
std::unique_ptr<TraceRecorder> createTraceRecorder();

} // namespace vdnn::rt

#endif
