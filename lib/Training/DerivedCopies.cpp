//===- DerivedCopies.cpp - parameters that are kept in bf16 too -----------===//
//
// A product reads a parameter through a cast to bf16, in every step another
// pass over it. Instead the rounded copy is kept from step to step, as a state.
// The optimizer has the new value of a trained parameter at hand: it writes the
// copy too, and takes the gradient as the product makes it.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "Names.h"
#include "Step.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace vdnn;

/// The cast of `parameter` to bf16 whose readers all come before `update`, if
/// there is one, or null: then its new value may take the old one's place.
static PointwiseOp findCast(BlockArgument parameter, SGDOp update) {
  for (Operation *user : parameter.getUsers()) {
    auto cast = dyn_cast<PointwiseOp>(user);
    if (cast && isCast(cast) &&
        getElementTypeOrSelf(cast.getOutputs().front().getType()).isBF16() &&
        llvm::all_of(cast->getUsers(), [&](Operation *reader) {
          return !update || reader->isBeforeInBlock(update);
        })) {
      return cast;
    }
  }
  return {};
}

/// The gradient before it was cast to the parameter's type for the update
/// alone. It takes over the name and the mark of the cast.
static Value takeUncast(SGDOp update, StringRef parameter) {
  auto cast = update.getGradient().getDefiningOp<PointwiseOp>();
  if (!cast || !isCast(cast) || !cast->hasOneUse()) {
    return update.getGradient();
  }
  Value source = cast.getInputs().front();
  auto made = dyn_cast<OpResult>(throughViews(source));
  if (!made || isMarked(made)) {
    return update.getGradient();
  }
  setName(made, getName(cast.getOutputs().front()));
  mark(made, parameter);
  return source;
}

/// Lets the update write the parameter's copy too.
static void updateCopy(func::FuncOp function, SGDOp update,
                       BlockArgument copy) {
  Value parameter = update.getParameter();
  std::string name = getName(copy).str();
  Value oldGradient = update.getGradient();
  Value gradient = takeUncast(update, getName(parameter));
  SmallVector<Type> types(update.getOthers().getTypes());
  types.push_back(copy.getType());
  OpBuilder builder(update);
  auto withCopy = builder.create<SGDOp>(
      update.getLoc(), update.getNewParameter().getType(), types, parameter,
      gradient, update.getRate(), update.getVelocity(),
      update.getMomentumAttr(), update.getWeightDecayAttr(),
      update.getNesterovAttr());
  withCopy->setDiscardableAttrs(update->getDiscardableAttrDictionary());
  for (auto [before, after] :
       llvm::zip(update->getResults(), withCopy->getResults())) {
    before.replaceAllUsesWith(after);
  }
  update.erase();
  if (gradient != oldGradient) {
    oldGradient.getDefiningOp()->erase();
  }
  setName(cast<OpResult>(withCopy.getNewCopy()), name + ".new");
  addResult(function, withCopy.getNewCopy(), name, "update");
}

/// `update` is null where nothing changes the parameter.
static LogicalResult keepCopy(func::FuncOp function, BlockArgument parameter,
                              SGDOp update) {
  PointwiseOp rounding = findCast(parameter, update);
  if (!rounding) {
    return success();
  }
  std::string parameterName = getName(parameter).str();
  std::string name = parameterName + ".bf16";
  if (findArgument(function, name)) {
    return function.emitError()
           << "the model has a tensor '" << name
           << "', the name of the bf16 copy of parameter '" << parameterName
           << "'; rename the model's tensor";
  }
  BlockArgument copy = addArgument(
      function, rounding.getOutputs().front().getType(), name, "state",
      InitialAttr::get(StringAttr::get(function.getContext(), parameterName)));
  rounding.getOutputs().front().replaceAllUsesWith(copy);
  rounding.erase();
  if (update) {
    updateCopy(function, update, copy);
  }
  return success();
}

LogicalResult vdnn::keepDerivedCopies(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function) {
    return module.emitError("expected a function 'main'");
  }
  llvm::DenseSet<Value> updated;
  SmallVector<SGDOp> updates(function.getOps<SGDOp>());
  for (SGDOp update : updates) {
    updated.insert(update.getParameter());
    auto parameter = dyn_cast<BlockArgument>(update.getParameter());
    if (parameter && failed(keepCopy(function, parameter, update))) {
      return failure();
    }
  }
  SmallVector<BlockArgument> arguments(function.getArguments());
  for (BlockArgument argument : arguments) {
    if (hasRole(argument, "parameter") && !updated.contains(argument) &&
        failed(keepCopy(function, argument, {}))) {
      return failure();
    }
  }
  return success();
}
