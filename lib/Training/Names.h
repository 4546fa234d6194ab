//===- Names.h - names of values and gradients in a step --------*- C++ -*-===//

#ifndef VDNN_LIB_TRAINING_NAMES_H
#define VDNN_LIB_TRAINING_NAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace vdnn {

/// Name of a value in the model: of an argument its `vdnn.name`, of a result
/// its entry in `vdnn.names`; empty where it has none.
llvm::StringRef getName(mlir::Value value);

/// Names the result of an op.
void setName(mlir::OpResult result, llvm::StringRef name);

/// Names `gradient` after `value`, unless it has a name already (an addition
/// hands the same tensor on as the gradient of both operands).
void setGradientName(mlir::Value gradient, mlir::Value value);

/// Names every unnamed result after its op and layer, and makes the names of
/// all that training added unique.
void nameRemaining(mlir::func::FuncOp function);

} // namespace vdnn

#endif
