//===- Passes.cpp - a model becomes a step, as passes ---------------------===//

#include "vdnn/Training/Passes.h"
#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Training/Training.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

namespace vdnn {
#define GEN_PASS_DEF_BUILDSTEP
#define GEN_PASS_DEF_CASTTOBF16
#define GEN_PASS_DEF_GROUPUPDATES
#define GEN_PASS_DEF_KEEPDERIVEDCOPIES
#include "vdnn/Training/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {

struct BuildStep : vdnn::impl::BuildStepBase<BuildStep> {
  using BuildStepBase::BuildStepBase;

  void runOnOperation() override {
    auto lossKind = llvm::StringSwitch<std::optional<LossKind>>(loss)
                        .Case("cross_entropy", LossKind::CrossEntropy)
                        .Case("mse", LossKind::MeanSquare)
                        .Case("output", LossKind::Output)
                        .Default(std::nullopt);
    bool inference = loss == "none";
    auto storageKind = llvm::StringSwitch<std::optional<Storage>>(storage)
                           .Case("compact", Storage::Compact)
                           .Case("paper", Storage::Paper)
                           .Default(std::nullopt);
    auto fusionKind = llvm::StringSwitch<std::optional<Fusion>>(fuse)
                          .Case("all", Fusion::All)
                          .Case("none", Fusion::None)
                          .Default(std::nullopt);
    if ((!lossKind && !inference) || !storageKind || !fusionKind) {
      getOperation().emitError()
          << (!lossKind && !inference
                  ? "unknown loss '" + loss +
                        "'; expected cross_entropy, mse, output or none"
              : !storageKind
                  ? "unknown storage '" + storage +
                        "'; expected compact or paper"
                  : "unknown fusion '" + fuse + "'; expected all or none");
      return signalPassFailure();
    }
    if (inference) {
      if (failed(buildInferenceStep(getOperation(), *fusionKind))) {
        signalPassFailure();
      }
      return;
    }
    TrainingOptions options;
    options.loss = *lossKind;
    options.momentum = momentum;
    options.weightDecay = weightDecay;
    options.nesterov = nesterov;
    options.storage = *storageKind;
    options.fusion = *fusionKind;
    options.frozen.insert(frozen.begin(), frozen.end());
    if (failed(buildTrainingStep(getOperation(), options))) {
      signalPassFailure();
    }
  }
};

struct CastToBF16 : vdnn::impl::CastToBF16Base<CastToBF16> {
  void runOnOperation() override {
    if (failed(castToBF16(getOperation()))) {
      signalPassFailure();
    }
  }
};

struct KeepDerivedCopies
    : vdnn::impl::KeepDerivedCopiesBase<KeepDerivedCopies> {
  void runOnOperation() override {
    if (failed(keepDerivedCopies(getOperation()))) {
      signalPassFailure();
    }
  }
};

struct GroupUpdates : vdnn::impl::GroupUpdatesBase<GroupUpdates> {
  using GroupUpdatesBase::GroupUpdatesBase;

  void runOnOperation() override {
    if (failed(groupUpdates(getOperation(), {parameterBytes, pendingBytes}))) {
      signalPassFailure();
    }
  }
};

} // namespace
