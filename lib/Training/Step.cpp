//===- Step.cpp - forward graph -> one step -------------------------------===//

#include "Step.h"
#include "Names.h"
#include "Rules/Rules.h"
#include "Tape.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace vdnn;

namespace {

class StepBuilder {
public:
  StepBuilder(func::FuncOp function, const TrainingOptions &options)
      : function(function), options(options),
        builder(function.getBody().front().getTerminator()) {}

  LogicalResult run();

private:
  LogicalResult findTrained();
  void findFirstUsers(ArrayRef<Operation *> forward,
                      const DenseSet<Value> &wanted);
  LogicalResult differentiate(Operation *op, Tape &tape);
  SmallVector<Value> gradientsCompletedBy(Operation *op, Tape &tape);
  LogicalResult update(Operation *op, ArrayRef<Value> gradients,
                       Updates &updates);
  Value emitSeed(Value loss);

  func::FuncOp function;
  const TrainingOptions &options;
  OpBuilder builder;
  SmallVector<BlockArgument> trained;
  /// The parameters whose gradient is whole once an op has been visited: it is
  /// the first one that reads them.
  DenseMap<Operation *, SmallVector<BlockArgument>> completed;
};

} // namespace

LogicalResult StepBuilder::findTrained() {
  for (const std::string &name : options.frozen) {
    BlockArgument argument = findArgument(function, name);
    if (!argument || !hasRole(argument, "parameter")) {
      return function.emitError()
             << "there is no parameter '" << name << "' to freeze";
    }
  }
  for (BlockArgument argument : function.getArguments()) {
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(argument.getType()));
    if (isFloat && hasRole(argument, "parameter") &&
        !options.frozen.count(getName(argument).str())) {
      trained.push_back(argument);
    }
  }
  if (trained.empty()) {
    return function.emitError("has no parameter to train");
  }
  return success();
}

void StepBuilder::findFirstUsers(ArrayRef<Operation *> forward,
                                 const DenseSet<Value> &wanted) {
  DenseSet<Value> seen;
  for (Operation *op : forward) {
    bool active = llvm::any_of(op->getResults(), [&](Value result) {
      return wanted.contains(result);
    });
    if (!active) {
      continue;
    }
    for (Value operand : op->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (argument && wanted.contains(argument) &&
          seen.insert(argument).second) {
        completed[op].push_back(argument);
      }
    }
  }
  for (BlockArgument argument : trained) {
    if (!seen.contains(argument)) {
      function.emitRemark() << "parameter '" << getName(argument)
                            << "' has no influence on the loss and is not "
                               "trained";
    }
  }
}

Value StepBuilder::emitSeed(Value loss) {
  auto type = cast<RankedTensorType>(loss.getType());
  auto one = builder.getFloatAttr(type.getElementType(), 1);
  return builder.create<ConstantOp>(
      loss.getLoc(), DenseElementsAttr::get(type, Attribute(one)));
}

LogicalResult StepBuilder::differentiate(Operation *op, Tape &tape) {
  bool reached = llvm::any_of(op->getResults(), [&](Value result) {
    return static_cast<bool>(tape.gradientOf(result));
  });
  if (!reached) {
    return success();
  }
  BackwardRule rule = getRuleTable().find(op);
  if (!rule) {
    return op->emitError() << "no backward rule for '" << op->getName()
                           << "'; freeze the parameters before it, or use one "
                              "of: "
                           << getRuleTable().listOps();
  }
  return rule(op, tape);
}

/// The gradients of the parameters that `op` completes, null where one is zero.
SmallVector<Value> StepBuilder::gradientsCompletedBy(Operation *op,
                                                     Tape &tape) {
  SmallVector<Value> gradients;
  for (BlockArgument parameter : completed.lookup(op)) {
    gradients.push_back(tape.gradientOf(parameter));
  }
  return gradients;
}

LogicalResult StepBuilder::update(Operation *op, ArrayRef<Value> gradients,
                                  Updates &updates) {
  for (auto [parameter, gradient] :
       llvm::zip_equal(completed.lookup(op), gradients)) {
    if (!gradient) {
      function.emitRemark()
          << "the gradient of parameter '" << getName(parameter)
          << "' is zero everywhere; it is not trained";
      continue;
    }
    if (failed(updates.add(parameter, gradient))) {
      return failure();
    }
  }
  return success();
}

LogicalResult StepBuilder::run() {
  if (options.nesterov && options.momentum == 0) {
    return function.emitError(
        "a Nesterov step needs a momentum; give --momentum above 0 or leave "
        "--nesterov out");
  }
  if (failed(findTrained())) {
    return failure();
  }
  FailureOr<Value> loss = buildLoss(function, options.loss);
  if (failed(loss)) {
    return failure();
  }
  // First, so that layers and gradients are those of the fused ops.
  if (options.fusion == Fusion::All && options.storage == Storage::Compact) {
    fuseNorms(function);
    moveRelusBehindPools(function);
    fuseConvolutions(function);
  }
  if (options.storage == Storage::Compact) {
    addPoolIndices(function, findWanted(trained, *loss));
  }
  numberLayers(function);
  DenseSet<Value> wanted = findWanted(trained, *loss);
  if (!wanted.contains(*loss)) {
    return function.emitError("no parameter has influence on the loss");
  }
  SmallVector<Operation *> forward;
  for (Operation &op : function.getBody().front().without_terminator()) {
    forward.push_back(&op);
  }
  findFirstUsers(forward, wanted);

  Tape tape(builder, std::move(wanted), options.storage);
  Updates updates(function, options, builder);
  Operation *end = function.getBody().front().getTerminator();
  Operation *last = end->getPrevNode();
  // What was emitted since the last call belongs to the layer of `op`.
  auto tag = [&](Operation *op, StringRef phase) {
    if (last != end->getPrevNode()) {
      setLayer(last->getNextNode(), op->getAttr("vdnn.layer"), phase);
      last = end->getPrevNode();
    }
  };
  tape.add(*loss, emitSeed(*loss));
  for (Operation *op : llvm::reverse(forward)) {
    if (failed(differentiate(op, tape))) {
      return failure();
    }
    // Before the tag: to join the slices of a parameter is backward work.
    SmallVector<Value> gradients = gradientsCompletedBy(op, tape);
    tag(op, "backward");
    if (failed(update(op, gradients, updates))) {
      return failure();
    }
    tag(op, "update");
  }
  fuseBackward(function);
  addResult(function, *loss, "loss", "output");
  updates.addResults();
  nameRemaining(function);
  return success();
}

LogicalResult vdnn::buildTrainingStep(ModuleOp module,
                                      const TrainingOptions &options) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function) {
    return module.emitError("expected a function 'main'");
  }
  return StepBuilder(function, options).run();
}

LogicalResult vdnn::buildInferenceStep(ModuleOp module, Fusion fusion) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function) {
    return module.emitError("expected a function 'main'");
  }
  if (fusion == Fusion::All) {
    fuseConvolutions(function);
  }
  numberLayers(function);
  return success();
}
