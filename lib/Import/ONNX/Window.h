//===- Window.h - windows of convolutions and pools -----------------------===//

#ifndef VDNN_LIB_IMPORT_ONNX_WINDOW_H
#define VDNN_LIB_IMPORT_ONNX_WINDOW_H

#include "Node.h"

namespace vdnn::onnx {

/// The attributes of a node that slides a window over the spatial dimensions.
struct Window {
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape pads;   ///< begins, then ends
  Shape output; ///< spatial sizes of the result
  /// The last windows reach beyond the padding that the node asks for.
  bool extended = false;

  /// Positions that a window spans in dimension `i`.
  int64_t extent(size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};

/// Reads the window over the dimensions of operand 0 from the third on.
/// `kernel` is that of the weights (convolution) or empty (pool).
mlir::FailureOr<Window> readWindow(const Node &node, Shape kernel);

} // namespace vdnn::onnx

#endif
