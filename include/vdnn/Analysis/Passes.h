//===- Passes.h - passes that print what planners know --------------------===//

#ifndef VDNN_ANALYSIS_PASSES_H
#define VDNN_ANALYSIS_PASSES_H

#include "vdnn/Dialect/VDNN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace vdnn {

#define GEN_PASS_DECL
#include "vdnn/Analysis/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "vdnn/Analysis/Passes.h.inc"

} // namespace vdnn

#endif
