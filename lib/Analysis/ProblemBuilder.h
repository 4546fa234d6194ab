//===- ProblemBuilder.h - a step in the IR -> the planners' problem -===//

#ifndef VDNN_LIB_ANALYSIS_PROBLEMBUILDER_H
#define VDNN_LIB_ANALYSIS_PROBLEMBUILDER_H

#include "vdnn/Analysis/PlanningProblem.h"

#include "llvm/ADT/StringSet.h"

namespace vdnn {

/// Walks a step once, in order, and turns what it meets into tensors, ops and
/// transfers.
class ProblemBuilder {
public:
  ProblemBuilder(mlir::func::FuncOp step, bool allowUnknownCost)
      : step(step), allowUnknownCost(allowUnknownCost) {}

  mlir::FailureOr<PlanningProblem> build();

private:
  mlir::LogicalResult addArguments();
  void reserveOutputs();
  mlir::LogicalResult addOp(mlir::Operation *op);
  mlir::LogicalResult addCompute(ComputeOp op);
  mlir::LogicalResult addKernels(mlir::Operation *op, planning::Op &planned);
  void addInPlace(ComputeOp op, planning::Op &planned);
  mlir::LogicalResult addTransfer(mlir::Operation *op);
  mlir::LogicalResult addResults(mlir::Operation *terminator);
  mlir::LogicalResult tie(unsigned result, planning::TensorId tensor,
                          llvm::StringRef name);
  void readResidences();
  mlir::LogicalResult finish();

  planning::TensorId addTensor(mlir::Value value, const llvm::Twine &name,
                               planning::TensorKind kind);
  std::string unique(const llvm::Twine &name);
  mlir::FailureOr<planning::TensorId> lookup(mlir::Operation *user,
                                             mlir::Value value);

  mlir::func::FuncOp step;
  bool allowUnknownCost;
  PlanningProblem out;
  unsigned constants = 0;
  unsigned withKernel = 0;
  llvm::StringSet<> names;
  /// The values that are outputs, with their names, which are in `names` from
  /// the beginning.
  llvm::DenseMap<mlir::Value, mlir::StringAttr> reserved;
  llvm::DenseSet<unsigned> reservedResults;
  /// Arguments by name: whose new value an update is.
  llvm::StringMap<planning::TensorId> persistent;
  /// Transfers of `out.solution` by the host value, and whether their copy back
  /// has begun.
  llvm::DenseMap<mlir::Value, size_t> onHost;
  /// Transfers by the copied-back value, until its first reader is met.
  llvm::DenseMap<planning::TensorId, size_t> awaited;
};

} // namespace vdnn

#endif
