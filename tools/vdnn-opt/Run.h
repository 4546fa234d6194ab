//===- Run.h - what vdnn-opt does with its input --------------------------===//

#ifndef VDNN_TOOLS_VDNNOPT_RUN_H
#define VDNN_TOOLS_VDNNOPT_RUN_H

#include "Options.h"

#include "mlir/IR/DialectRegistry.h"

namespace vdnn::tool {

/// Compiles a model, or runs passes on a module. Returns the exit code.
int run(mlir::DialectRegistry &registry, const Options &options);

} // namespace vdnn::tool

#endif
