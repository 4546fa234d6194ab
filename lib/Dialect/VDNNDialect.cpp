//===- VDNNDialect.cpp - registration of the dialect ----------------------===//

#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace vdnn;

#pragma GCC diagnostic ignored "-Wunused-parameter" // generated code

#include "vdnn/Dialect/VDNNDialect.cpp.inc"
#include "vdnn/Dialect/VDNNEnums.cpp.inc"
#include "vdnn/Dialect/VDNNInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "vdnn/Dialect/VDNNAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "vdnn/Dialect/VDNNTypes.cpp.inc"

void VDNNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "vdnn/Dialect/VDNNAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "vdnn/Dialect/VDNNTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "vdnn/Dialect/ComputeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "vdnn/Dialect/GradientOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "vdnn/Dialect/TransferOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "vdnn/Dialect/CommandOps.cpp.inc"
      >();
}

double vdnn::defaultFlops(Operation *op) {
  if (op->getNumResults() == 0) {
    return 0;
  }
  auto type = dyn_cast<ShapedType>(op->getResult(0).getType());
  return type && type.hasStaticShape() ? double(type.getNumElements()) : 0;
}
