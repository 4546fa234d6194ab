//===- Passes.h - the passes between one step and its plan ----------------===//
//
// Passes.td documents each pass. All are deterministic: the same module gives
// the same module.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_TRANSFORMS_PASSES_H
#define VDNN_TRANSFORMS_PASSES_H

#include "vdnn/Dialect/VDNN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace vdnn {

#define GEN_PASS_DECL
#include "vdnn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "vdnn/Transforms/Passes.h.inc"

} // namespace vdnn

#endif
