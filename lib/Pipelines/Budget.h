//===- Budget.h - what to say when a plan does not fit --------------------===//

#ifndef VDNN_LIB_PIPELINES_BUDGET_H
#define VDNN_LIB_PIPELINES_BUDGET_H

#include "vdnn/Pipelines/Compile.h"

namespace vdnn {

/// `checkBudgets`, and after an error what the policy needs at least, with the
/// options that give it, and which policies and kernels need less. `choices` is
/// the problem with all its kernels.
mlir::LogicalResult explainBudgets(const LoweredStep &lowered,
                                   const planning::Problem &choices,
                                   const CompileOptions &options);

} // namespace vdnn

#endif
