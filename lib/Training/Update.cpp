//===- Update.cpp - stochastic gradient descent ---------------------------===//

#include "Emit.h"
#include "Names.h"
#include "Step.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace vdnn;

bool vdnn::isMarked(OpResult gradient) {
  Operation *op = gradient.getOwner();
  auto list = op->getAttrOfType<ArrayAttr>("vdnn.gradients");
  return op->hasAttr("vdnn.gradient_of") ||
         (list && !cast<StringAttr>(list[gradient.getResultNumber()]).empty());
}

Value vdnn::throughViews(Value value) {
  auto op = value.getDefiningOp<ComputeOp>();
  while (op && op.isView()) {
    value = op->getOperand(0);
    op = value.getDefiningOp<ComputeOp>();
  }
  return value;
}

void vdnn::mark(OpResult gradient, StringRef parameter) {
  Operation *op = gradient.getOwner();
  Builder builder(op->getContext());
  if (op->getNumResults() == 1) {
    op->setAttr("vdnn.gradient_of", builder.getStringAttr(parameter));
    return;
  }
  SmallVector<Attribute> names(op->getNumResults(), builder.getStringAttr(""));
  if (auto list = op->getAttrOfType<ArrayAttr>("vdnn.gradients")) {
    names.assign(list.begin(), list.end());
  }
  names[gradient.getResultNumber()] = builder.getStringAttr(parameter);
  op->setAttr("vdnn.gradients", builder.getArrayAttr(names));
}

LogicalResult Updates::add(BlockArgument parameter, Value gradient) {
  Location loc = gradient.getLoc();
  auto type = cast<RankedTensorType>(parameter.getType());
  std::string name = getName(parameter).str();
  auto made = dyn_cast<OpResult>(throughViews(gradient));
  if (!made || isMarked(made)) {
    // No kernel made it, or two parameters have the same gradient (they are
    // added): each needs one that bears its name.
    gradient = emitPointwise(
        builder, loc, type, gradient,
        [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; });
    made = cast<OpResult>(gradient);
    setGradientName(gradient, parameter);
  }
  setName(made, name + ".grad");
  mark(made, name);
  FailureOr<BlockArgument> rate = getOrAddInput(
      function, RankedTensorType::get({}, builder.getF32Type()), "vdnn.rate");
  if (failed(rate)) {
    return failure();
  }
  BlockArgument velocity;
  std::string velocityName = name + ".velocity";
  if (options.momentum != 0) {
    if (findArgument(function, velocityName)) {
      return function.emitError()
             << "the model has a tensor '" << velocityName
             << "', the name of the velocity of parameter '" << name
             << "'; rename the model's tensor";
    }
    auto zero =
        InitialAttr::get(function.getContext(), InitialKind::Constant, 0, 0);
    velocity = addArgument(function, type, velocityName, "state", zero);
  }
  auto update = builder.create<SGDOp>(
      loc, type, velocity ? TypeRange(type) : TypeRange(), parameter, gradient,
      *rate, velocity, builder.getF64FloatAttr(options.momentum),
      builder.getF64FloatAttr(options.weightDecay),
      options.nesterov ? builder.getUnitAttr() : UnitAttr());
  setName(cast<OpResult>(update.getNewParameter()), name + ".new");
  updates.push_back({update.getNewParameter(), name});
  if (velocity) {
    setName(cast<OpResult>(update.getNewVelocity()), velocityName + ".new");
    updates.push_back({update.getNewVelocity(), velocityName});
  }
  return success();
}

void Updates::addResults() {
  llvm::StringSet<> returned;
  for (unsigned number : findResults(function, "update")) {
    if (auto name =
            function.getResultAttrOfType<StringAttr>(number, "vdnn.name")) {
      returned.insert(name.getValue());
    }
  }
  auto addOnce = [&](Value value, StringRef name) {
    if (!name.empty() && returned.insert(name).second) {
      addResult(function, value, name, "update");
    }
  };
  for (BatchNormOp norm : function.getOps<BatchNormOp>()) {
    addOnce(norm.getNewRunningMean(), getName(norm.getRunningMean()));
    addOnce(norm.getNewRunningVar(), getName(norm.getRunningVar()));
  }
  for (const Update &update : updates) {
    addOnce(update.value, update.name);
  }
}
