//===- ToyPlan.h - a small plan that trains -------------------------------===//

#ifndef VDNN_TEST_UNIT_EXEC_TOYPLAN_H
#define VDNN_TEST_UNIT_EXEC_TOYPLAN_H

#include "runtime/schedule/Schedule.h"

namespace vdnn::test {

/// With x the input ([4] f32, a batch of 4) and w the parameter ([4] f32):
///
///     act = x + w          offloaded to the host and prefetched
///     loss = sum(act)
///     grad = act / 2       gradient of w, dead once w is updated
///     w = w - rate * grad  in place
///
/// Streams compute, d2h, h2d. It is sound: the checker accepts it.
schedule::ScheduleT makeToyPlan();

/// The same with x staged: the next step's x is copied in once act is made.
schedule::ScheduleT makeStagedToyPlan();

/// The same without gradient and update: an inference plan with the output `y`
/// = act, [4] f32, instead of the loss.
schedule::ScheduleT makeToyInference();

/// Adds a bf16 state that is converted from tensor `source` of a toy plan and
/// that nobody reads; the launch that changes the source changes it too.
void addConverted(schedule::ScheduleT &plan, const std::string &name,
                  uint32_t source);

} // namespace vdnn::test

#endif
