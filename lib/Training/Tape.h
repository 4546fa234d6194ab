//===- Tape.h - gradients while the step is built backwards -----*- C++ -*-===//

#ifndef VDNN_LIB_TRAINING_TAPE_H
#define VDNN_LIB_TRAINING_TAPE_H

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Training/Training.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace vdnn {

/// Collects the gradient of each value while ops are visited from the last to
/// the first. Backward rules emit ops at `builder` and hand gradients in; a
/// value's gradient is whole once every op that reads it has been visited.
class Tape {
public:
  /// `wanted`: the values whose gradient somebody needs. Ops are emitted where
  /// `builder` stands.
  Tape(mlir::OpBuilder &builder, llvm::DenseSet<mlir::Value> wanted,
       Storage storage)
      : builder(builder), storage(storage), wanted(std::move(wanted)) {}

  /// Where backward ops are emitted.
  mlir::OpBuilder &builder;
  const Storage storage;

  /// Whether the gradient of `value` is needed. A rule emits nothing for a
  /// value that is not wanted.
  bool wants(mlir::Value value) const { return wanted.contains(value); }

  /// Adds `gradient`, of the type of `value`, to the gradient of `value`.
  void add(mlir::Value value, mlir::Value gradient);

  /// As `add`, for the part of `value` along `axis` from `offset` on, as long
  /// as `gradient`. Parts that lie side by side are joined when the gradient is
  /// asked for, so that a split costs one concatenation.
  void addSlice(mlir::Value value, int64_t axis, int64_t offset,
                mlir::Value gradient);

  /// The gradient of `value` from all that was handed in, or null where
  /// nothing was. Called once every reader has been visited.
  mlir::Value gradientOf(mlir::Value value);

private:
  struct Slice {
    int64_t axis;
    int64_t offset;
    mlir::Value gradient;
    int64_t end() const;
  };

  /// Joins slices of `value` into gradients of its type.
  void joinSlices(mlir::Value value, llvm::SmallVector<Slice> slices);

  llvm::DenseSet<mlir::Value> wanted;
  llvm::DenseMap<mlir::Value, mlir::Value> whole;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Slice>> parts;
};

} // namespace vdnn

#endif
