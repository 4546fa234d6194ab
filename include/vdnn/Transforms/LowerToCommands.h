//===- LowerToCommands.h - what vdnn-lower-to-commands does, in steps -----===//
//
// For drivers that want to know more than a pass can say: the pass is
// `lowerStep`, `checkBudgets`, `writePlan`.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_TRANSFORMS_LOWERTOCOMMANDS_H
#define VDNN_TRANSFORMS_LOWERTOCOMMANDS_H

#include "vdnn/Analysis/PlanningProblem.h"
#include "vdnn/Planning/Statistics.h"

namespace vdnn {

/// A step in transfer form with its program.
struct LoweredStep {
  mlir::func::FuncOp step;
  Target target;
  PlanningProblem planned;
  planning::Program program;
  planning::Statistics statistics;

  /// What the process takes on the device beside the arena, and in all.
  uint64_t getOverheadBytes() const {
    return target.getOverhead(program.hostPeak);
  }
  uint64_t getDeviceBytes() const {
    return program.devicePeak + getOverheadBytes();
  }
  bool fitsDevice() const {
    return target.budget == 0 || getDeviceBytes() <= target.budget;
  }
  bool fitsHost() const {
    return target.hostBudget == 0 || program.hostPeak <= target.hostBudget;
  }
  /// The op before which most bytes are live.
  llvm::StringRef getPeakOp() const {
    return statistics.peakOp < planned.problem.ops.size()
               ? llvm::StringRef(planned.problem.ops[statistics.peakOp].name)
               : "end of the step";
  }
};

/// Builds the program of a module in transfer form. Errors are reported.
mlir::FailureOr<LoweredStep> lowerStep(mlir::ModuleOp module);

/// Reports each budget of the target that the program exceeds, with what it
/// needs.
mlir::LogicalResult checkBudgets(const LoweredStep &lowered);

/// Replaces the step by its `vdnn.plan`.
void writePlan(mlir::ModuleOp module, LoweredStep &lowered);

} // namespace vdnn

#endif
