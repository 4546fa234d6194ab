//===- Roofline.cpp - time from operations and bytes ----------------------===//

#include "Roofline.h"

#include "vdnn/Dialect/Shapes.h"
#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace vdnn;

bool vdnn::isFree(Operation *op) {
  return isa<ConstantOp>(op) || cast<ComputeOp>(op).isView();
}

static double getBytes(Value value) {
  auto type = cast<ShapedType>(value.getType());
  // A boolean takes a byte.
  return elements(value.getType()) *
         std::max(1.0, type.getElementTypeBitWidth() / 8.0);
}

double vdnn::getTraffic(Operation *op) {
  double bytes = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  for (Value operand : op->getOperands()) {
    bytes += seen.insert(operand).second ? getBytes(operand) : 0;
  }
  for (Value result : op->getResults()) {
    bytes += getBytes(result);
  }
  return bytes;
}

double vdnn::getEfficiency(const DeviceFile &file, Operation *op) {
  return isa<MatMulOp>(op) ? file.matmulEfficiency : file.otherEfficiency;
}

static bool isProduct(Operation *op) {
  return isa<ConvOp, ConvBackwardDataOp, ConvBackwardFilterOp, MatMulOp>(op);
}

bool vdnn::isF32Product(Operation *op) {
  return isProduct(op) &&
         getElementTypeOrSelf(op->getOperand(0).getType()).isF32();
}

/// The peak for the element type that the op computes in: a product that of its
/// operands, by tensor cores where there are some; another op at least f32.
/// Types that the file leaves out run as f32.
static double getPeak(const DeviceFile &file, Operation *op) {
  Type element = getElementTypeOrSelf(
      isProduct(op) ? op->getOperand(0).getType() : op->getResult(0).getType());
  const char *name = element.isF64()                     ? "f64"
                     : isProduct(op) && element.isBF16() ? "bf16"
                     : isProduct(op) && element.isF16()  ? "f16"
                                                         : "f32";
  auto found = file.flopsPerSecond.find(name);
  return found != file.flopsPerSecond.end() ? found->second
                                            : file.flopsPerSecond.at("f32");
}

int64_t vdnn::getTime(const DeviceFile &file, Operation *op, double flops,
                      double efficiency, double bytes) {
  double compute = flops / (getPeak(file, op) * efficiency);
  double memory = bytes / (file.bytesPerSecond * file.memoryEfficiency);
  // No op of a plan takes longer than a year.
  constexpr double kLongest = 3.2e16;
  return file.launchNs +
         int64_t(
             std::min(kLongest, std::ceil(1e9 * std::max(compute, memory))));
}

planning::KernelChoice vdnn::makeChoice(const DeviceFile &file, Operation *op) {
  double flops = cast<ComputeOp>(op).getFlops();
  return {"", 0,
          getTime(file, op, flops, getEfficiency(file, op), getTraffic(op))};
}
