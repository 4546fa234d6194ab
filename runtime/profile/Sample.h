//===- Sample.h - whether ways to run a kernel agree ----------------------===//
//
// Libraries have kernels that compute something else for some shapes than they
// should; the results of several ways on the same operands show it.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_PROFILE_SAMPLE_H
#define VDNN_RUNTIME_PROFILE_SAMPLE_H

#include "runtime/exec/Device.h"
#include "runtime/profile/Task.h"

#include <span>
#include <vector>

namespace vdnn::rt {

/// Numbers that a launch has written. Empty where all outputs are integers, of
/// which ways may differ for good reasons.
using Sample = std::vector<float>;

/// Fills the outputs of a task with NaNs: a way that writes nothing must not
/// pass for the one before it.
Status poisonOutputs(Device &device, const Task &task);

/// From the beginning, the middle and the end of every output of floats.
Result<Sample> sampleOutputs(Device &device, const Task &task);

/// Whether two ways have computed the same but for rounding, in bf16 too: their
/// difference is small beside the larger one, as vectors; what is not finite is
/// so in both.
bool agree(const Sample &a, const Sample &b);

/// The way that most others agree with, of several such the first. `samples`
/// must not be empty.
size_t findLeader(std::span<const Sample> samples);

} // namespace vdnn::rt

#endif
