//===- Emit.h - small pieces of a step --------------------------*- C++ -*-===//

#ifndef VDNN_LIB_TRAINING_EMIT_H
#define VDNN_LIB_TRAINING_EMIT_H

#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/Builders.h"

namespace vdnn {

/// A scalar program: from one scalar per operand to the scalar of the result.
using ScalarBody = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// A pointwise op with one result. Operands have the result's rank; their
/// dimensions of size 1 are broadcast.
mlir::Value emitPointwise(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::RankedTensorType type, mlir::ValueRange inputs,
                          ScalarBody body);

/// A floating-point constant of a scalar program.
mlir::Value emitScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type type, double value);

/// A tensor of zeros, computed where it is needed: it takes memory only there.
mlir::Value emitZeros(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::RankedTensorType type);

/// `value` under another shape; nothing where the type is already `type`.
mlir::Value emitReshape(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type, mlir::Value value);

/// Whether `op` only changes the element type of one tensor.
bool isCast(PointwiseOp op);

/// `value` with elements of another type that is the same scalar (f32 and
/// bf16); nothing where they have it already.
mlir::Value emitCast(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Type element, mlir::Value value);

/// The sum of `value` over `axes`, which keep size 1, in elements of type
/// `element`; without axes a cast.
mlir::Value emitSum(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, llvm::ArrayRef<int64_t> axes,
                    mlir::Type element);

/// Undoes a broadcast: the sum of `value` over the axes that `type`, of the
/// same rank, has in size 1, in elements of its type.
mlir::Value emitSumTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::RankedTensorType type, mlir::Value value);

} // namespace vdnn

#endif
