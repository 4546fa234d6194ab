//===- Convolution.h - what the algorithms for convolutions cost ----------===//

#ifndef VDNN_LIB_COST_CONVOLUTION_H
#define VDNN_LIB_COST_CONVOLUTION_H

#include "DeviceFile.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace vdnn {

/// A convolution or one of its two gradients, as one problem: all three do the
/// same multiply-adds over the same three tensors.
struct Convolution {
  double batch;
  double channels; ///< of the input
  double filters;  ///< channels of the output
  double group;
  double elementBytes;
  llvm::SmallVector<int64_t> kernel;
  llvm::SmallVector<int64_t> output; ///< spatial dimensions of y or dy
  bool unitStride;                   ///< all strides and dilations are 1
};

/// Reads a convolution or one of its gradients; none for other ops.
std::optional<Convolution> readConvolution(mlir::Operation *op);

/// What an algorithm does for a convolution, beside reading the operands and
/// writing the results once.
struct AlgorithmCost {
  double flops;
  uint64_t workspaceBytes;
  double workspaceTraffic; ///< bytes written to and read from the workspace
};

/// The cost of an algorithm ("implicit_gemm", ...), or none where it cannot
/// compute this convolution.
std::optional<AlgorithmCost> getAlgorithmCost(const Convolution &conv,
                                              const std::string &algorithm);

/// The algorithms that a device has for the direction of `op`.
const Efficiencies &getAlgorithms(const DeviceFile &file, mlir::Operation *op);

} // namespace vdnn

#endif
