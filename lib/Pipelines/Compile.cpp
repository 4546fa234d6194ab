//===- Compile.cpp - from a model to a plan -------------------------------===//

#include "vdnn/Pipelines/Compile.h"

#include "Budget.h"

#include "vdnn/Pipelines/Pipelines.h"
#include "vdnn/Target/Export.h"

#include <chrono>
#include <filesystem>

using namespace mlir;
using namespace vdnn;

/// Runs the passes that `fill` adds.
static LogicalResult runPasses(ModuleOp module,
                               llvm::function_ref<void(OpPassManager &)> fill) {
  PassManager manager(module.getContext());
  fill(manager);
  return manager.run(module);
}

/// Compute form -> one step, still in compute form.
static LogicalResult makeStep(ModuleOp module, const CompileOptions &options) {
  if (failed(runPasses(module, addCleanup))) {
    return failure();
  }
  // Before there are gradients: their types follow.
  bool bf16 = options.plan.precision == "bf16";
  if (bf16 && failed(castToBF16(module))) {
    return failure();
  }
  if (failed(options.training ? buildTrainingStep(module, *options.training)
                              : buildInferenceStep(module, options.fusion)) ||
      (bf16 && failed(keepDerivedCopies(module)))) {
    return failure();
  }
  // After the copies, which are results of the updates.
  if (options.training && options.training->fusion == Fusion::All &&
      options.training->storage == Storage::Compact &&
      failed(groupUpdates(module, UpdateGroupLimits::of(module)))) {
    return failure();
  }
  return runPasses(module, addCleanup);
}

/// Step form -> transfer form. Keeps the problem with all kernels, for the
/// summary and for explanations.
static FailureOr<planning::Problem>
planTransfers(ModuleOp module, const CompileOptions &options) {
  if (failed(runPasses(module, addKernelPasses))) {
    return failure();
  }
  FailureOr<func::FuncOp> step = getStep(module);
  if (failed(step)) {
    return failure();
  }
  FailureOr<PlanningProblem> planned =
      buildPlanningProblem(*step, /*allowUnknownCost=*/false);
  if (failed(planned)) {
    return failure();
  }
  PlanOptions plan = options.plan;
  bool paper = options.training && options.training->storage == Storage::Paper;
  if (paper && plan.inputs == "auto") {
    plan.inputs = "direct"; // what is compared with the paper copies as it does
  }
  if (failed(runPasses(module, [&](OpPassManager &manager) {
        addTransferPasses(manager, plan);
      }))) {
    return failure();
  }
  return std::move(planned->problem);
}

static CompileStatus compileModule(ModuleOp module,
                                   const CompileOptions &options,
                                   CompiledModel &result) {
  if (options.emit == Emit::Compute) {
    return succeeded(runPasses(module, addCleanup)) ? CompileStatus::Success
                                                    : CompileStatus::Failure;
  }
  if (failed(makeStep(module, options)) ||
      failed(runPasses(module, [&](OpPassManager &manager) {
        addStepPasses(manager, options.plan);
      }))) {
    return CompileStatus::Failure;
  }
  llvm::append_range(result.weights, collectConstants(module));
  if (options.emit == Emit::Step) {
    return CompileStatus::Success;
  }
  FailureOr<planning::Problem> problem = planTransfers(module, options);
  if (failed(problem)) {
    return CompileStatus::Failure;
  }
  if (options.emit == Emit::Transfers) {
    return CompileStatus::Success;
  }
  FailureOr<LoweredStep> lowered = lowerStep(module);
  if (failed(lowered)) {
    return CompileStatus::Failure;
  }
  if (failed(explainBudgets(*lowered, *problem, options))) {
    return CompileStatus::DoesNotFit;
  }
  writePlan(module, *lowered);
  result.paper = planning::accountAsInPaper(*problem);
  result.lowered = std::move(*lowered);
  // Every plan that leaves this function has been proven.
  FailureOr<PlanOp> plan = getPlan(module);
  if (failed(plan)) {
    return CompileStatus::Failure;
  }
  FailureOr<schedule::ScheduleT> exported = exportSchedule(*plan);
  if (failed(exported)) {
    return CompileStatus::Failure;
  }
  result.schedule = std::move(*exported);
  return CompileStatus::Success;
}

CompileStatus vdnn::compileOnnx(MLIRContext &context, const std::string &path,
                                const CompileOptions &options,
                                CompiledModel &result) {
  ImportedModel imported = importOnnx(context, path, options.import);
  if (!imported.module) {
    return CompileStatus::Failure;
  }
  result.module = std::move(imported.module);
  result.weights = std::move(imported.weights);
  if (!result.module->getSymNameAttr()) {
    result.module->setSymName(std::filesystem::path(path).stem().string());
  }
  auto begin = std::chrono::steady_clock::now();
  CompileStatus status = compileModule(*result.module, options, result);
  result.planningNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::steady_clock::now() - begin)
                          .count();
  return status;
}
