//===- PlanningProblem.h - a step in the IR <-> the planners' problem and
// solution ----------------------===//
//
// The only bridge between the IR and lib/Planning. A tensor of the problem is a
// value together with all its views
// (`isViewOp`); an op of the problem is a compute op that runs a kernel.
// Constants are persistent tensors named `constant.N`.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_ANALYSIS_PLANNINGPROBLEM_H
#define VDNN_ANALYSIS_PLANNINGPROBLEM_H

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Planning/Solution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace vdnn {

/// Whether the results of `op` are its operand's bytes: a reshape, or a reorder
/// of a tensor with at most one dimension longer than 1 beside the batch
/// (`isFreeReorder`).
bool isViewOp(mlir::Operation *op);

/// Whether a tensor of this shape has the same bytes in both layouts: rank
/// below 3, one channel, or one position.
bool isFreeReorder(mlir::RankedTensorType type);

/// The layout that a type's encoding says.
Layout getLayout(mlir::Type type);

/// The step of a module: its function `main`, or its only one. Reports an error
/// on the module otherwise.
mlir::FailureOr<mlir::func::FuncOp> getStep(mlir::ModuleOp module);

/// How a constant of the step starts as a persistent tensor: its value where
/// all elements are that, or `stored`.
InitialAttr getConstantInitial(ConstantOp constant);

/// What `vdnn.target` holds.
struct Target {
  std::string device; ///< as `vdnn-attach-target` was told
  unsigned threads = 0;
  std::string precision;
  bool allowNondeterministic = false;
  std::string kind;
  std::string name;
  std::string fingerprint;
  planning::Link link;
  uint64_t alignment = 256;
  uint64_t overheadBytes = 0;
  uint64_t hostBytesPerTableByte = 0; ///< as in `DeviceDescription`
  uint64_t budget = 0;                ///< 0: none
  uint64_t hostBudget = 0;            ///< 0: none
  /// As in `DeviceDescription`.
  bool poolsPlanes = false;
  bool prefersPlanes = false;
  bool stagesInputs = false;

  /// Bytes that the process takes on the device beside the plan's arena.
  uint64_t getOverhead(uint64_t hostArenaBytes) const;
};

/// Reads `vdnn.target` of a module; an error where it is missing.
mlir::FailureOr<Target> getTarget(mlir::ModuleOp module);
void setTarget(mlir::ModuleOp module, const Target &target);

/// Writes an op's `vdnn.choices`.
void setChoices(mlir::Operation *op,
                const std::vector<planning::KernelChoice> &choices);

/// What was decided about a tensor, in the planners' words and in the IR's.
planning::Residence toResidence(Decision decision);
Decision toDecision(planning::Residence residence);

/// A step as planners see it, with the way back.
struct PlanningProblem {
  planning::Problem problem;
  /// What the transfer ops, kernels and decisions in the IR say; its `choice`
  /// is empty in step form.
  planning::Solution solution;
  /// Per op.
  std::vector<mlir::Operation *> ops;
  /// Per tensor, the value that is no view of another one.
  std::vector<mlir::Value> values;
  /// Per tensor, the name of the parameter whose whole gradient it is, or
  /// empty.
  std::vector<std::string> gradientOf;
  /// Per result of the function: its tensor.
  std::vector<planning::TensorId> results;
  /// Every value, views and prefetched copies too.
  llvm::DenseMap<mlir::Value, planning::TensorId> tensorOf;
  /// Whether each op carries its kernel, that is, the step is in transfer form.
  bool hasSolution = false;
};

/// Builds the problem of a step. Errors are reported on the ops. An op without
/// `vdnn.choices` and without `vdnn.algorithm` gets one free kernel if
/// `allowUnknownCost`, and is an error otherwise. The problem's budgets are the
/// target's, less its overhead; without a target there are none.
mlir::FailureOr<PlanningProblem> buildPlanningProblem(mlir::func::FuncOp step,
                                                      bool allowUnknownCost);

/// Reports on `step`, after `what`, every reason for which `solution` cannot be
/// carried out.
mlir::LogicalResult verifySolution(mlir::func::FuncOp step,
                                   const planning::Problem &problem,
                                   const planning::Solution &solution,
                                   const llvm::Twine &what);

} // namespace vdnn

#endif
