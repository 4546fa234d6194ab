//===- Pointwise.h - elementwise ops as vdnn.pointwise --------------------===//

#ifndef VDNN_LIB_IMPORT_ONNX_POINTWISE_H
#define VDNN_LIB_IMPORT_ONNX_POINTWISE_H

#include "Node.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace vdnn::onnx {

/// Builds scalar ops within a pointwise region.
struct Scalar {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Node &node;

  template <typename Op>
  mlir::Value make(mlir::Value a) const {
    return builder.create<Op>(loc, a);
  }
  template <typename Op>
  mlir::Value make(mlir::Value a, mlir::Value b) const {
    return builder.create<Op>(loc, a, b);
  }
  mlir::Value constant(mlir::Type type, double value) const;
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b) const;
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) const;
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const;
  /// `x`, an element of type `from`, as one of type `to`: floating-point
  /// numbers are cut towards zero, integers to their lowest bits.
  mlir::Value convert(mlir::Value x, mlir::Type from, mlir::Type to) const;
};

/// An operand of an elementwise op: a value of the step or a number.
struct Operand {
  mlir::Value value;
  mlir::Attribute number; ///< where `value` is null
  Shape shape;            ///< that it takes part in broadcasting with
  mlir::Type element;
};

using Body = llvm::function_ref<mlir::Value(const Scalar &,
                                            llvm::ArrayRef<mlir::Value>)>;

/// Input `i` of the node as an operand: a constant whose elements are equal
/// becomes a number.
mlir::FailureOr<Operand> readOperand(const Node &node, size_t i);
Operand toOperand(mlir::Value value);

/// Applies `body` to the elements of the operands, broadcast as numpy does.
/// The result's element type is `element`, or where that is not given, that of
/// what `body` returns, which has no unsigned integers. `shape`, where given,
/// takes part in the broadcasting too.
mlir::FailureOr<mlir::Value>
pointwise(const Node &node, llvm::ArrayRef<Operand> operands, Body body,
          llvm::ArrayRef<int64_t> shape = {}, mlir::Type element = {});

/// All inputs of the node as operands of one element type.
mlir::FailureOr<llvm::SmallVector<Operand>> readOperands(const Node &node);

/// Fails unless `arith` can compute with this element type.
mlir::LogicalResult checkArithmetic(const Node &node, mlir::Type element,
                                    bool floatOnly);

} // namespace vdnn::onnx

#endif
