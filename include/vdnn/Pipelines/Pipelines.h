//===- Pipelines.h - named sequences of passes ----------------------------===//

#ifndef VDNN_PIPELINES_PIPELINES_H
#define VDNN_PIPELINES_PIPELINES_H

#include "vdnn/Pipelines/Compile.h"

#include "mlir/Pass/PassManager.h"

namespace vdnn {

/// Compute form as imported -> compute form without dead and double ops.
void addCleanup(mlir::OpPassManager &manager);

/// One step in compute form -> step form: layouts, target.
void addStepPasses(mlir::OpPassManager &manager, const PlanOptions &options);

/// Step form -> step form whose ops carry their kernels to choose from.
void addKernelPasses(mlir::OpPassManager &manager);

/// Step form with kernels -> transfer form.
void addTransferPasses(mlir::OpPassManager &manager,
                       const PlanOptions &options);

/// The policies there are, one a line, for the help of an option.
llvm::StringRef getPolicyHelp();

/// Registers all passes of the project and the pipeline `vdnn-plan`, for
/// `--vdnn-plan="policy=all sync=layer"` in the manner of mlir-opt.
void registerPassesAndPipelines();

/// Loads the dialects that models and plans are made of.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace vdnn

#endif
