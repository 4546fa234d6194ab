//===- VDNN.h - the vdnn dialect: types, attributes, ops ------------------===//

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
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <bit>

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

/// A double as a parameter of attributes, which must be hashable: two are equal
/// when they have the same bits.
struct Real {
  double value;

  Real(double value) : value(value) {}
  operator double() const { return value; }
  bool operator==(const Real &other) const { return bits() == other.bits(); }
  uint64_t bits() const { return std::bit_cast<uint64_t>(value); }
  // Hashing finds it by this name.
  // NOLINTNEXTLINE(readability-identifier-naming)
  friend llvm::hash_code hash_value(const Real &real) {
    return llvm::hash_value(real.bits());
  }
};

class LaunchOp; // a parent of vdnn.yield, which is declared before it

/// What an element is within a pointwise program: integers have no sign there,
/// the ops say how they take them; bf16 is f32, rounded when it is written.
mlir::Type toScalarType(mlir::Type element);

/// One operation per element of the first result.
double defaultFlops(mlir::Operation *op);

} // namespace vdnn

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" // generated code

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

#pragma GCC diagnostic pop

#endif
