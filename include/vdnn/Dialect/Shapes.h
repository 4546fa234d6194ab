//===- Shapes.h - counting elements, bytes and operations of types --------===//

#ifndef VDNN_DIALECT_SHAPES_H
#define VDNN_DIALECT_SHAPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace vdnn {

inline double product(llvm::ArrayRef<int64_t> factors) {
  double result = 1;
  for (int64_t factor : factors) {
    result *= double(factor);
  }
  return result;
}

/// Number of elements of a ranked type of static shape.
inline double elements(mlir::Type type) {
  return product(llvm::cast<mlir::ShapedType>(type).getShape());
}

/// Bytes of a dense tensor; booleans take one byte each.
inline uint64_t tensorBytes(mlir::RankedTensorType type) {
  uint64_t bits = type.getElementTypeBitWidth();
  return static_cast<uint64_t>(type.getNumElements()) * ((bits + 7) / 8);
}

/// Floating-point operations of a convolution with filter `w` (O x C/group x
/// kernel) and result `y`: a multiply and an add for every element of the
/// result and every position of its filter.
inline double convFlops(mlir::Type w, mlir::Type y) {
  return 2 * elements(y) *
         product(llvm::cast<mlir::ShapedType>(w).getShape().drop_front());
}

} // namespace vdnn

#endif
