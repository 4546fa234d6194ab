//===- Checks.h - what verifiers check again and again --------------------===//
//
// Each check reports at most one error on `op`: what is wrong with which
// operand, result or attribute, what was expected, and what was found. Shapes
// are compared without layouts.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_LIB_DIALECT_CHECKS_H
#define VDNN_LIB_DIALECT_CHECKS_H

#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace vdnn {

/// A value of an op with the name that the user knows it by.
struct Named {
  llvm::StringRef name;
  mlir::Value value;

  llvm::ArrayRef<int64_t> shape() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }
  mlir::Type element() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
  }
};

/// "8x3x32x32", or "a scalar".
std::string toText(llvm::ArrayRef<int64_t> shape);

/// Whether tensors of the dialect may have elements of this type.
bool isElementType(mlir::Type type);

mlir::LogicalResult expectRank(mlir::Operation *op, Named tensor, size_t low,
                               size_t high);
mlir::LogicalResult expectShape(mlir::Operation *op, Named tensor,
                                llvm::ArrayRef<int64_t> expected);
mlir::LogicalResult expectSameElement(mlir::Operation *op, Named tensor,
                                      Named other);
/// The element type of `other`, or f32 beside bf16: what stands for many
/// elements, or is added once, keeps its precision.
mlir::LogicalResult expectSameElementOrF32(mlir::Operation *op, Named tensor,
                                           Named other);
/// The same shape and element type.
mlir::LogicalResult expectAlike(mlir::Operation *op, Named tensor, Named other);

/// `count` numbers, each in [low, high].
mlir::LogicalResult expectNumbers(mlir::Operation *op, llvm::StringRef name,
                                  llvm::ArrayRef<int64_t> numbers, size_t count,
                                  int64_t low, int64_t high);
mlir::LogicalResult expectInRange(mlir::Operation *op, llvm::StringRef name,
                                  int64_t number, int64_t low, int64_t high);
/// low <= number < high; NaN is out of range.
mlir::LogicalResult expectInRange(mlir::Operation *op, llvm::StringRef name,
                                  double number, double low, double high);
/// An axis of `tensor`.
mlir::LogicalResult expectAxis(mlir::Operation *op, llvm::StringRef name,
                               int64_t axis, Named tensor);

/// The largest stride, dilation, padding and window size; keeps all arithmetic
/// on them far from overflow.
constexpr int64_t kMaxWindow = 1 << 20;

/// Windows over the spatial dimensions of a tensor. `dilations` may be empty:
/// all 1.
struct Windows {
  llvm::ArrayRef<int64_t> kernel;
  llvm::ArrayRef<int64_t> strides;
  llvm::ArrayRef<int64_t> pads;
  llvm::ArrayRef<int64_t> dilations;
};

/// As many entries as `input` has spatial dimensions, in range.
mlir::LogicalResult checkWindows(mlir::Operation *op, Windows windows,
                                 Named input);

/// `output` has as many positions as windows fit into `input`. With `roundUp`
/// the last window may reach beyond the padding as long as it begins before its
/// end.
mlir::LogicalResult expectWindowed(mlir::Operation *op, Windows windows,
                                   Named input, Named output, bool roundUp);

//===--- what several ops have in common ----------------------------------===//

/// The operands and results of a convolution, or of its gradients: x, w and y,
/// whichever of them are given and computed.
mlir::LogicalResult verifyConvolution(mlir::Operation *op, Named x, Named w,
                                      Named y, llvm::ArrayRef<int64_t> strides,
                                      llvm::ArrayRef<int64_t> dilations,
                                      llvm::ArrayRef<int64_t> pads,
                                      int64_t group);

/// The tensors of a pool, or of its gradient.
mlir::LogicalResult verifyPool(mlir::Operation *op, Windows windows, Named x,
                               Named y);

/// A window whose positions an 8-bit index can count.
mlir::LogicalResult verifyPoolIndex(mlir::Operation *op,
                                    llvm::ArrayRef<int64_t> kernel);

/// The tensors of a cross entropy, or of its gradient; `weights` may hold no
/// value.
mlir::LogicalResult verifyCrossEntropy(mlir::Operation *op, Named logits,
                                       Named labels, Named weights, Named loss,
                                       Reduction reduction);

/// The region of a pointwise op: one block, an argument per input, scalar arith
/// and math ops, a value yielded per output.
mlir::LogicalResult verifyProgram(mlir::Operation *op, mlir::Region &body,
                                  llvm::ArrayRef<mlir::Type> inputs,
                                  llvm::ArrayRef<mlir::Type> outputs);

/// Evaluates a check and leaves the function if it failed.
#define VDNN_CHECK(check)                                                      \
  do {                                                                         \
    if (failed(check)) {                                                       \
      return failure();                                                        \
    }                                                                          \
  } while (false)

} // namespace vdnn

#endif
