//===- SimDevice.h - a device whose clock is the cost model ---------------===//

#ifndef VDNN_RUNTIME_SIM_SIMDEVICE_H
#define VDNN_RUNTIME_SIM_SIMDEVICE_H

#include "runtime/exec/Device.h"
#include "runtime/sim/Timeline.h"

namespace vdnn::rt {

/// Takes no device memory (downloads read zeros) and host memory only where it
/// is touched. `synchronize` runs what was queued through the timeline, with
/// the durations that the schedule predicts, and then calls the queued marks in
/// the order of their times, with `nowNs` showing each mark's time.
class SimDevice : public Device {
public:
  /// `schedule` gives the predicted durations and the link; it must be the plan
  /// that is run.
  static std::unique_ptr<SimDevice> create(const schedule::ScheduleT &schedule);

  /// Of what ran last: one entry per queued command, debug commands included.
  virtual const Timeline &lastTimeline() const = 0;
};

/// One step of the plan as it is predicted: one entry per command.
Timeline predictTimeline(const schedule::ScheduleT &schedule);

} // namespace vdnn::rt

#endif
