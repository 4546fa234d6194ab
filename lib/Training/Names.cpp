//===- Names.cpp - names of values and gradients in a step ----------------===//

#include "Names.h"

#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace vdnn;

static SmallVector<StringRef> getNames(Operation *op) {
  SmallVector<StringRef> names(op->getNumResults());
  if (auto list = op->getAttrOfType<ArrayAttr>("vdnn.names")) {
    for (auto [name, attribute] : llvm::zip(names, list)) {
      if (auto text = dyn_cast<StringAttr>(attribute)) {
        name = text.getValue();
      }
    }
  }
  return names;
}

StringRef vdnn::getName(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    return getNames(result.getOwner())[result.getResultNumber()];
  }
  auto argument = cast<BlockArgument>(value);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto name = function ? function.getArgAttrOfType<StringAttr>(
                             argument.getArgNumber(), "vdnn.name")
                       : StringAttr();
  return name ? name.getValue() : StringRef();
}

void vdnn::setName(OpResult result, StringRef name) {
  Operation *op = result.getOwner();
  SmallVector<StringRef> names = getNames(op);
  names[result.getResultNumber()] = name;
  op->setAttr("vdnn.names", Builder(op->getContext()).getStrArrayAttr(names));
}

void vdnn::setGradientName(Value gradient, Value value) {
  auto result = dyn_cast<OpResult>(gradient);
  StringRef name = getName(value);
  if (result && !name.empty() && getName(result).empty()) {
    setName(result, (name + ".grad").str());
  }
}

void vdnn::nameRemaining(func::FuncOp function) {
  llvm::StringSet<> taken;
  for (BlockArgument argument : function.getArguments()) {
    taken.insert(getName(argument));
  }
  // The model's own names come first and stay as they are.
  auto isForward = [](Operation *op) {
    auto phase = op->getAttrOfType<StringAttr>("vdnn.phase");
    return phase && phase.getValue() == "forward";
  };
  function.walk([&](ComputeOp op) {
    for (OpResult result : op->getResults()) {
      if (isForward(op)) {
        taken.insert(getName(result));
      }
    }
  });
  function.walk([&](ComputeOp op) {
    for (OpResult result : op->getResults()) {
      std::string base = getName(result).str();
      if (!base.empty() && isForward(op)) {
        continue;
      }
      if (base.empty()) {
        auto layer = op->getAttrOfType<IntegerAttr>("vdnn.layer");
        base = (op->getName().stripDialect() + "." +
                std::to_string(layer ? layer.getInt() : 0))
                   .str();
      }
      std::string name = base;
      for (unsigned count = 1; !taken.insert(name).second; ++count) {
        name = base + "." + std::to_string(count);
      }
      if (name != getName(result)) {
        setName(result, name);
      }
    }
  });
}
