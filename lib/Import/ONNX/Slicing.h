//===- Slicing.h - what shape ops ask for, read and checked ---------------===//

#ifndef VDNN_LIB_IMPORT_ONNX_SLICING_H
#define VDNN_LIB_IMPORT_ONNX_SLICING_H

#include "Node.h"

namespace vdnn::onnx {

mlir::FailureOr<Shape> readPermutation(const Node &node);

/// Shape of Expand's result.
mlir::FailureOr<Shape> readExpandShape(const Node &node);

/// Axis and shape of Concat's result.
mlir::FailureOr<std::pair<int64_t, Shape>> readConcat(const Node &node);

struct GatherTarget {
  int64_t axis;
  Shape indices; ///< not negative
  Shape shape;   ///< of the result
};
mlir::FailureOr<GatherTarget> readGather(const Node &node);

/// `size` elements of an axis: `offset`, `offset + step`, ...
struct Range {
  int64_t axis;
  int64_t offset;
  int64_t size;
  int64_t step;
};
mlir::FailureOr<llvm::SmallVector<Range>> readSlice(const Node &node);

/// What a reduction runs over.
struct Reduced {
  Shape axes;  ///< sorted; empty: nothing is reduced
  Shape shape; ///< of the result
};
mlir::FailureOr<Reduced> readReduce(const Node &node);

} // namespace vdnn::onnx

#endif
