//===- Fold.h - nodes whose operands are known at import ------------------===//

#ifndef VDNN_LIB_IMPORT_ONNX_FOLD_H
#define VDNN_LIB_IMPORT_ONNX_FOLD_H

#include "Node.h"

namespace vdnn::onnx {

// Each computes the result of a node of which all operands are constants. The
// op names are those that the tables list them for.

mlir::LogicalResult foldArithmetic(const Node &node); ///< two or more operands
mlir::LogicalResult foldUnary(const Node &node);
mlir::LogicalResult foldComparison(const Node &node);
mlir::LogicalResult foldLogic(const Node &node); ///< And, Or, Xor, Not
mlir::LogicalResult foldWhere(const Node &node);
mlir::LogicalResult foldCast(const Node &node);
mlir::LogicalResult foldRange(const Node &node);
mlir::LogicalResult foldReduce(const Node &node); ///< over all axes or some

mlir::LogicalResult foldTranspose(const Node &node);
mlir::LogicalResult foldExpand(const Node &node);
mlir::LogicalResult foldConcat(const Node &node);
mlir::LogicalResult foldGather(const Node &node);
mlir::LogicalResult foldSlice(const Node &node);

/// Element type that Cast asks for, or that of CastLike's second operand.
mlir::FailureOr<mlir::Type> castTarget(const Node &node);

} // namespace vdnn::onnx

#endif
