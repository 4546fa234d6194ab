#include "vdnn/Dialect/VDNN.h"
using namespace mlir;
using namespace vdnn;

LogicalResult ConvOp::verify() { return success(); }
LogicalResult MatMulOp::verify() { return success(); }
LogicalResult MaxPoolOp::verify() { return success(); }
LogicalResult AvgPoolOp::verify() { return success(); }
LogicalResult BatchNormOp::verify() { return success(); }
LogicalResult BatchNormInferenceOp::verify() { return success(); }
LogicalResult LRNOp::verify() { return success(); }
LogicalResult SoftmaxOp::verify() { return success(); }
LogicalResult DropoutOp::verify() { return success(); }
LogicalResult PointwiseOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult ReshapeOp::verify() { return success(); }
LogicalResult ReorderOp::verify() { return success(); }
LogicalResult TransposeOp::verify() { return success(); }
LogicalResult ConcatOp::verify() { return success(); }
LogicalResult SliceOp::verify() { return success(); }
LogicalResult SoftmaxCrossEntropyOp::verify() { return success(); }
LogicalResult SGDOp::verify() { return success(); }
LogicalResult ConvBackwardDataOp::verify() { return success(); }
LogicalResult ConvBackwardFilterOp::verify() { return success(); }
LogicalResult MaxPoolBackwardOp::verify() { return success(); }
LogicalResult AvgPoolBackwardOp::verify() { return success(); }
LogicalResult BatchNormBackwardOp::verify() { return success(); }
LogicalResult LRNBackwardOp::verify() { return success(); }
LogicalResult SoftmaxBackwardOp::verify() { return success(); }
LogicalResult SoftmaxCrossEntropyBackwardOp::verify() { return success(); }
