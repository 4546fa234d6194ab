//===- Arguments.cpp - arguments and results of a step --------------------===//

#include "Step.h"

#include "Names.h"

using namespace mlir;
using namespace vdnn;

BlockArgument vdnn::findArgument(func::FuncOp function, StringRef name) {
  for (BlockArgument argument : function.getArguments()) {
    if (getName(argument) == name) {
      return argument;
    }
  }
  return {};
}

bool vdnn::hasRole(BlockArgument argument, StringRef role) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto found = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                     "vdnn.role");
  return found && found.getValue() == role;
}

BlockArgument vdnn::addArgument(func::FuncOp function, Type type,
                                StringRef name, StringRef role,
                                InitialAttr initial) {
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set("vdnn.name", builder.getStringAttr(name));
  attributes.set("vdnn.role", builder.getStringAttr(role));
  if (initial) {
    attributes.set("vdnn.initial", initial);
  }
  unsigned number = function.getNumArguments();
  function.insertArgument(number, type,
                          attributes.getDictionary(function.getContext()),
                          function.getLoc());
  return function.getArgument(number);
}

FailureOr<BlockArgument> vdnn::getOrAddInput(func::FuncOp function, Type type,
                                             StringRef name) {
  BlockArgument found = findArgument(function, name);
  if (!found) {
    return addArgument(function, type, name, "input");
  }
  if (found.getType() != type || !hasRole(found, "input")) {
    return function.emitError()
           << "the model has a tensor '" << name << "' of type "
           << found.getType()
           << ", but training needs an input of that name of "
           << "type " << type << "; rename the model's tensor";
  }
  return found;
}

void vdnn::addResult(func::FuncOp function, Value value, StringRef name,
                     StringRef role) {
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set("vdnn.name", builder.getStringAttr(name));
  attributes.set("vdnn.role", builder.getStringAttr(role));
  function.insertResult(function.getNumResults(), value.getType(),
                        attributes.getDictionary(function.getContext()));
  Operation *end = function.getBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
}

SmallVector<unsigned> vdnn::findResults(func::FuncOp function, StringRef role) {
  SmallVector<unsigned> numbers;
  for (unsigned number = 0; number < function.getNumResults(); ++number) {
    auto found = function.getResultAttrOfType<StringAttr>(number, "vdnn.role");
    if (found && found.getValue() == role) {
      numbers.push_back(number);
    }
  }
  return numbers;
}
