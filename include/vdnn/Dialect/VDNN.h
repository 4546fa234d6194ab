//===- VDNN.h - the vdnn dialect: types, attributes, ops ------------------------------------------------===//

#ifndef VDNN_DIALECT_VDNN_H
#define VDNN_DIALECT_VDNN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace vdnn {

/// What the policies of the vDNN paper tell apart.
enum class OpClass {
  Convolution,
  Pool,
  Norm,
  Activation,
  FullyConnected,
  Dropout,
  Loss,
  Update,
  Other
};

/// One operation per element of the first result.
double defaultFlops(mlir::Operation *op);

} // namespace vdnn

#include "vdnn/Dialect/VDNNDialect.h.inc"
#include "vdnn/Dialect/VDNNEnums.h.inc"
#include "vdnn/Dialect/VDNNInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "vdnn/Dialect/VDNNAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "vdnn/Dialect/VDNNTypes.h.inc"

#define GET_OP_CLASSES
#include "vdnn/Dialect/ComputeOps.h.inc"
#define GET_OP_CLASSES
#include "vdnn/Dialect/GradientOps.h.inc"
#define GET_OP_CLASSES
#include "vdnn/Dialect/TransferOps.h.inc"
#define GET_OP_CLASSES
#include "vdnn/Dialect/CommandOps.h.inc"

#endif
