//===- ScalarProgram.h - the backward program of a pointwise op -*- C++ -*-===//

#ifndef VDNN_LIB_TRAINING_SCALARPROGRAM_H
#define VDNN_LIB_TRAINING_SCALARPROGRAM_H

#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace vdnn {

/// Reverse mode inside the region of a pointwise op: builds the scalar program
/// that goes from the gradients of the op's results, and from what it needs of
/// the forward pass, to the gradients of its inputs.
class ScalarProgram {
public:
  /// What forward values are taken from. Either way the program computes again
  /// what is not at hand.
  enum class Source {
    Inputs, ///< the op's inputs only
    Outputs ///< the op's outputs where they hold the value, else its inputs
  };

  ScalarProgram(PointwiseOp forward, Source source);

  /// Runs reverse mode. `gradients`: per result of the forward op, null where
  /// it has none. `wanted`: per input. Fails with an error that names a scalar
  /// op without derivative.
  mlir::LogicalResult differentiate(mlir::ValueRange gradients,
                                    llvm::ArrayRef<bool> wanted);

  /// Bytes of the forward tensors that the program reads.
  double bytesRead() const;

  /// Emits the program. The result holds per input its gradient (of the shape
  /// of the forward op's results), null where it is not wanted or zero. Where
  /// the gradient is that of a result, no op is emitted for it.
  llvm::SmallVector<mlir::Value> emit(mlir::OpBuilder &at);

  //===--- for derivatives ------------------------------------------------===//

  /// Emits scalar ops into the program.
  mlir::OpBuilder builder;
  const mlir::Location loc;

  /// The forward value `scalar` in this program.
  mlir::Value forwardValue(mlir::Value scalar);

  /// Whether a wanted input reaches `scalar`.
  bool isWanted(mlir::Value scalar) const {
    return wantedScalars.contains(scalar);
  }

  /// Adds `gradient` to the gradient of the forward value `scalar`.
  void add(mlir::Value scalar, mlir::Value gradient);

  mlir::Value constant(mlir::Type type, double value);

private:
  mlir::Value read(mlir::Value tensor, bool isForward);

  PointwiseOp forward;
  Source source;
  mlir::Region region;
  mlir::Block *block;
  llvm::SmallVector<mlir::Value> operands;
  llvm::DenseSet<mlir::Value> forwardOperands;
  llvm::DenseMap<mlir::Value, mlir::Value> arguments;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, mlir::Value> adjoints;
  llvm::DenseMap<std::pair<mlir::Type, uint64_t>, mlir::Value> constants;
  llvm::DenseSet<mlir::Value> wantedScalars;
};

/// Adds to the gradients of the operands of the scalar op `op` what `gradient`,
/// that of its result, gives them. Fails with an error where `op` has no
/// derivative.
mlir::LogicalResult addScalarDerivative(mlir::Operation *op,
                                        mlir::Value gradient,
                                        ScalarProgram &program);

} // namespace vdnn

#endif
