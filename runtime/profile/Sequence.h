//===- Sequence.h - the launches of a plan, one behind the other ----------===//

#ifndef VDNN_RUNTIME_PROFILE_SEQUENCE_H
#define VDNN_RUNTIME_PROFILE_SEQUENCE_H

#include "runtime/exec/Device.h"
#include "runtime/profile/Load.h"

#include <vector>

namespace vdnn::rt {

/// How many times as long the launches of a step take one behind the other as
/// each alone, at least 1; 0 where launches are so short that the host does not
/// queue them in time. A GPU that draws all the power it may runs at a lower
/// clock, which measurements of a few milliseconds do not show; and kernels
/// drive each other's operands out of the caches. Runs for about one and a half
/// seconds.
Result<double> measureSlowdown(Device &device,
                               const std::vector<const ComputeLoad *> &step);

} // namespace vdnn::rt

#endif
