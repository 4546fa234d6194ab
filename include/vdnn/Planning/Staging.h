//===- Staging.h - inputs that come in a step ahead -----------------------===//

#ifndef VDNN_PLANNING_STAGING_H
#define VDNN_PLANNING_STAGING_H

#include "vdnn/Planning/Policy.h"

namespace vdnn::planning {

enum class Inputs {
  Direct, ///< copied in before their first use in the step
  Staged, ///< copied in while the step before runs; costs memory on the device
  Auto    ///< staged where that fits the budgets and hides most of the copy
};

/// Marks as staged the inputs that are read and so large that their copies
/// take time worth hiding, and returns them.
std::vector<TensorId> stageInputs(Problem &problem);

/// Asks the policy. Afterwards the problem says which inputs are staged, and
/// the reasons of the solution say why, or why not.
Solution planWithInputs(Problem &problem, const Policy &policy,
                        const PolicyOptions &options, Inputs inputs);

} // namespace vdnn::planning

#endif
