//===- Folds.cpp - ops that say nothing -----------------------------------===//

#include "vdnn/Dialect/VDNN.h"

using namespace mlir;
using namespace vdnn;

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return getValue(); // NOLINT(cppcoreguidelines-slicing): both are handles
}

// A reshape of a reshape reads the first one's operand; one that changes
// nothing is its operand.
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

// As reshape: only the first layout and the last one count.
OpFoldResult ReorderOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<ReorderOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

// The mean of one element is that element, as adaptive pools have it where the
// image has the size they are to make.
OpFoldResult AvgPoolOp::fold(FoldAdaptor) {
  bool isIdentity =
      getX().getType() == getType() &&
      llvm::all_of(getKernel(), [](int64_t size) { return size == 1; });
  return isIdentity ? getX() : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> combined;
    for (int64_t axis : getPermutation()) {
      combined.push_back(inner.getPermutation()[axis]);
    }
    setPermutation(combined);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  bool identity =
      llvm::all_of(llvm::enumerate(getPermutation()), [](auto axis) {
        return axis.value() == int64_t(axis.index());
      });
  return identity && getX().getType() == getType() ? getX() : OpFoldResult();
}
