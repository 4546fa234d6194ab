//===- Roofline.h - time from operations and bytes ------------------------===//

#ifndef VDNN_LIB_COST_ROOFLINE_H
#define VDNN_LIB_COST_ROOFLINE_H

#include "DeviceFile.h"

#include "mlir/IR/Operation.h"

namespace vdnn {

/// Whether no kernel runs for an op: views and constants.
bool isFree(mlir::Operation *op);

/// Bytes that an op must at least read and write: each distinct operand and
/// each result once.
double getTraffic(mlir::Operation *op);

/// Whether `op` is a convolution, a gradient of one or a matrix product, of
/// f32.
bool isF32Product(mlir::Operation *op);

/// Share of the peak rate that an op other than a convolution reaches.
double getEfficiency(const DeviceFile &file, mlir::Operation *op);

/// Nanoseconds of `op` if it does `flops` operations at `efficiency` of the
/// peak and moves `bytes`: whichever takes longer, and the start of the kernel.
int64_t getTime(const DeviceFile &file, mlir::Operation *op, double flops,
                double efficiency, double bytes);

/// The only way to compute an op, with no workspace, at the rate of its kind.
planning::KernelChoice makeChoice(const DeviceFile &file, mlir::Operation *op);

} // namespace vdnn

#endif
