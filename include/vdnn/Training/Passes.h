//===- Passes.h - a model becomes a step, as a pass -------------*- C++ -*-===//

#ifndef VDNN_TRAINING_PASSES_H
#define VDNN_TRAINING_PASSES_H

#include "mlir/Pass/Pass.h"

namespace vdnn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "vdnn/Training/Passes.h.inc"

} // namespace vdnn

#endif
