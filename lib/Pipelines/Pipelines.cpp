//===- Pipelines.cpp - why each pass stands where it does -----------------===//

#include "vdnn/Pipelines/Pipelines.h"

#include "vdnn/Analysis/Passes.h"
#include "vdnn/Planning/Policy.h"
#include "vdnn/Training/Passes.h"
#include "vdnn/Transforms/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace vdnn;

static void addPhaseEnd(OpPassManager &manager, const char *phase) {
  VerifyPhaseOptions options;
  options.phase = phase;
  manager.addPass(createVerifyPhase(options));
}

void vdnn::addCleanup(OpPassManager &manager) {
  // Before the backward pass, so that no gradient is made for what nothing
  // reads; after it, to remove the gradients that nothing asked for.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  addPhaseEnd(manager, "compute");
}

void vdnn::addStepPasses(OpPassManager &manager, const PlanOptions &options) {
  // First, because everything after may ask for which machine it works.
  AttachTargetOptions target;
  target.device = options.device;
  target.threads = options.threads;
  target.precision = options.precision;
  target.allowNondeterministic = options.allowNondeterministic;
  target.budget = options.budget;
  target.hostBudget = options.hostBudget;
  manager.addPass(createAttachTarget(target));
  // On the whole step, because a layout that suits the forward pass may cost
  // reorders in the backward pass.
  manager.addNestedPass<func::FuncOp>(createAssignLayouts());
  addPhaseEnd(manager, "step");
}

void vdnn::addKernelPasses(OpPassManager &manager) {
  // After the layouts, which decide what kernels there are.
  manager.addNestedPass<func::FuncOp>(createSelectKernels());
}

void vdnn::addTransferPasses(OpPassManager &manager,
                             const PlanOptions &options) {
  // After the kernels: which copies hide behind which kernel depends on their
  // times.
  PlanTransfersOptions transfers;
  transfers.policy = options.policy;
  transfers.kernels = options.kernels;
  transfers.sync = options.sync;
  transfers.inputs = options.inputs;
  manager.addNestedPass<func::FuncOp>(createPlanTransfers(transfers));
  addPhaseEnd(manager, "transfers");
}

StringRef vdnn::getPolicyHelp() {
  // Options keep a reference to their text.
  static const std::string help = [] {
    std::string text = "what leaves the device:";
    for (const planning::Policy *policy : planning::policies()) {
      text += "\n";
      text += policy->name();
      text += policy->name() == PlanOptions().policy ? " (default): " : ": ";
      text += policy->summary();
    }
    return text;
  }();
  return help;
}

namespace {
/// `--vdnn-plan` takes what the driver takes.
struct PlanPipelineOptions : PassPipelineOptions<PlanPipelineOptions> {
  Option<std::string> device{
      *this, "device", llvm::cl::desc("cpu, cuda, h200, titanx or FILE.json"),
      llvm::cl::init("cpu")};
  Option<unsigned> threads{*this, "threads",
                           llvm::cl::desc("threads of the CPU (0: all)"),
                           llvm::cl::init(0)};
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("fp32, tf32 (products of f32 on cuda) or bf16"),
      llvm::cl::init("fp32")};
  Option<bool> allowNondeterministic{
      *this, "allow-nondeterministic",
      llvm::cl::desc("results may differ in the last bits from run to run"),
      llvm::cl::init(false)};
  Option<std::string> policy{*this, "policy", llvm::cl::desc(getPolicyHelp()),
                             llvm::cl::init("none")};
  Option<std::string> kernels{*this, "kernels",
                              llvm::cl::desc("memory or performance"),
                              llvm::cl::init("performance")};
  Option<std::string> sync{*this, "sync", llvm::cl::desc("event or layer"),
                           llvm::cl::init("event")};
  Option<std::string> inputs{*this, "inputs",
                             llvm::cl::desc("auto, staged or direct"),
                             llvm::cl::init("auto")};
  Option<int64_t> budget{*this, "budget", llvm::cl::desc("device bytes"),
                         llvm::cl::init(0)};
  Option<int64_t> hostBudget{*this, "host-budget",
                             llvm::cl::desc("pinned host bytes"),
                             llvm::cl::init(0)};
};
} // namespace

void vdnn::registerPassesAndPipelines() {
  registerVDNNPasses();
  registerVDNNAnalysisPasses();
  registerTrainingPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  PassPipelineRegistration<PlanPipelineOptions>(
      "vdnn-plan",
      "one step in compute form -> a plan: layouts, kernels, transfers, "
      "commands",
      [](OpPassManager &manager, const PlanPipelineOptions &chosen) {
        PlanOptions options;
        options.device = chosen.device.getValue();
        options.threads = chosen.threads;
        options.precision = chosen.precision.getValue();
        options.allowNondeterministic = chosen.allowNondeterministic;
        options.policy = chosen.policy.getValue();
        options.kernels = chosen.kernels.getValue();
        options.sync = chosen.sync.getValue();
        options.inputs = chosen.inputs.getValue();
        options.budget = chosen.budget;
        options.hostBudget = chosen.hostBudget;
        addStepPasses(manager, options);
        addKernelPasses(manager);
        addTransferPasses(manager, options);
        manager.addPass(createLowerToCommands());
        addPhaseEnd(manager, "commands");
        // Last: no plan leaves unproven, whatever made it.
        manager.addPass(createCheckPlan());
      });
}

void vdnn::registerDialects(DialectRegistry &registry) {
  registry.insert<VDNNDialect, arith::ArithDialect, func::FuncDialect,
                  math::MathDialect>();
}
