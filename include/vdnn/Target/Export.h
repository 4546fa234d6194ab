//===- Export.h - a plan in the IR to the schedule ------------------------===//

#ifndef VDNN_TARGET_EXPORT_H
#define VDNN_TARGET_EXPORT_H

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Import/Import.h"

#include "runtime/schedule/Schedule.h"

#include "mlir/IR/BuiltinOps.h"

namespace vdnn {

/// The one plan of a module, or an error on the module.
mlir::FailureOr<PlanOp> getPlan(mlir::ModuleOp module);

/// The schedule of a plan, proven by the runtime's checker. All that is wrong
/// (attributes that are missing, names of nothing, violated invariants) is
/// reported on the ops; nothing is returned then.
mlir::FailureOr<schedule::ScheduleT> exportSchedule(PlanOp plan);

/// The constants of a step whose values the plan does not carry (all but
/// splats), as tensors of the names that they have in the plan.
std::vector<StoredTensor> collectConstants(mlir::ModuleOp module);

/// Writes the tensors as a safetensors file, atomically.
rt::Status writeWeights(const std::vector<StoredTensor> &weights,
                        const std::string &path);

} // namespace vdnn

#endif
