//===- Budget.h - what to say when a plan does not fit
//--------------------------------------------------===//

#ifndef VDNN_LIB_PIPELINES_BUDGET_H
#define VDNN_LIB_PIPELINES_BUDGET_H

#include "vdnn/Pipelines/Compile.h"

namespace vdnn {

/// Reports each exceeded budget with the smallest one that the policy can do,
/// the op that sets it, and which policies and kernels need less. `choices` is
/// the problem with all its kernels. Failure if there is a budget that is
/// exceeded.
mlir::LogicalResult explainBudgets(const LoweredStep &lowered,
                                   const planning::Problem &choices,
                                   const PlanOptions &options);

} // namespace vdnn

#endif
