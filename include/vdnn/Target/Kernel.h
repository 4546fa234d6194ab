//===- Kernel.h - compute ops and types in the terms of the schedule ------===//
//
// docs/kernels.md says what a kernel carries; this is the one place that writes
// it. Thread-safe for different ops.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_TARGET_KERNEL_H
#define VDNN_TARGET_KERNEL_H

#include "vdnn/Dialect/VDNN.h"

#include "runtime/schedule/schedule_generated.h"

namespace vdnn {

/// A type of the dialect's tensors (ranked, static shape): element type,
/// logical shape, and the layout of its encoding.
schedule::TypeT toType(mlir::Type type);

/// The element type of a scalar or of a tensor's elements; one of those that
/// the dialect's tensors have.
schedule::ElementType toElementType(mlir::Type type);

/// What `kernel_attributes` of a launch must be for a compute op: its own
/// attributes (not the discardable ones), and `operands` where the optional
/// operands that are there cannot be told from their number.
mlir::DictionaryAttr getKernelAttributes(mlir::Operation *computeOp);

/// The kernel of a compute op or of a `vdnn.cmd.launch`; both give the same.
/// The algorithm is that of the launch, or of `vdnn.algorithm`, or empty;
/// whether it is nondeterministic comes from the same place. Views and
/// constants have no kernel: the result for them means nothing.
schedule::KernelT toKernel(mlir::Operation *op);

} // namespace vdnn

#endif
