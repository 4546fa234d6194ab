//===- Observers.h - debug modes and measurements
//-----------------------------------------------------------===//

#ifndef VDNN_RUNTIME_EXEC_OBSERVERS_H
#define VDNN_RUNTIME_EXEC_OBSERVERS_H

#include "runtime/exec/Observer.h"
#include "runtime/exec/files/HostTensor.h"

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

/// Captures every gradient of a step right after the command that completes it,
/// while it may still lie there.
class GradientTap : public Observer {
public:
  /// Gradients of the last step, row major, named as their tensors.
  virtual std::vector<HostTensor>
  gradients(const schedule::ScheduleT &schedule) const = 0;
};
std::unique_ptr<GradientTap> createGradientTap();

/// Notes when each launch and copy starts and ends, by the device's clock.
class TraceRecorder : public Observer {
public:
  /// Writes everything since the beginning as Chrome trace events
  /// (chrome://tracing, Perfetto): one lane per stream, one slice per command,
  /// named after the op of the model it comes from. Atomic.
  virtual Status write(const schedule::ScheduleT &schedule,
                       const std::string &path) const = 0;
};
std::unique_ptr<TraceRecorder> createTraceRecorder();

} // namespace vdnn::rt

#endif
