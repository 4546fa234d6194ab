//===- Compile.h - from a model to a plan ---------------------------------===//

#ifndef VDNN_PIPELINES_COMPILE_H
#define VDNN_PIPELINES_COMPILE_H

#include "vdnn/Import/Import.h"
#include "vdnn/Planning/PaperAccounting.h"
#include "vdnn/Training/Training.h"
#include "vdnn/Transforms/LowerToCommands.h"

#include "runtime/schedule/Schedule.h"

#include <optional>

namespace vdnn {

/// The form that compilation stops at.
enum class Emit { Compute, Step, Transfers, Commands, Schedule };

struct PlanOptions {
  std::string device = "cpu";
  unsigned threads = 0;
  /// fp32; tf32: of products of f32 on cuda; bf16: of activations and products.
  std::string precision = "fp32";
  /// Kernels may give other last bits in every run; only cuda has such.
  bool allowNondeterministic = false;
  std::string policy = "none";
  std::string kernels = "performance";
  std::string sync = "event";
  std::string inputs = "auto"; ///< or "staged", "direct"
  int64_t budget = 0; ///< bytes of the whole process on the device; 0: no limit
  int64_t hostBudget = 0; ///< bytes of pinned host memory; 0: no limit
};

struct CompileOptions {
  ImportOptions import;
  /// Absent: inference.
  std::optional<TrainingOptions> training;
  Fusion fusion = Fusion::All; ///< of inference; `training` has its own
  PlanOptions plan;
  Emit emit = Emit::Commands;
};

struct CompiledModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Values that the plan does not carry: weights of the model, constants.
  std::vector<StoredTensor> weights;
  /// In the forms Commands and Schedule: facts for the summary. Its `step` is
  /// null.
  std::optional<LoweredStep> lowered;
  /// The proven plan, in the same forms.
  std::optional<schedule::ScheduleT> schedule;
  planning::PaperAccounting paper;
  int64_t planningNs = 0;
};

enum class CompileStatus { Success, Failure, DoesNotFit };

/// Imports and plans a `.onnx` file. All that is wrong is reported through the
/// context's diagnostics; a plan that exceeds a budget is an error that says
/// what would fit.
CompileStatus compileOnnx(mlir::MLIRContext &context, const std::string &path,
                          const CompileOptions &options, CompiledModel &result);

} // namespace vdnn

#endif
