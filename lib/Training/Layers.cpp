//===- Layers.cpp - layers and phases -------------------------------------===//

#include "Emit.h"
#include "Step.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace vdnn;

void vdnn::setLayer(Operation *first, Attribute layer, StringRef phase) {
  auto text = StringAttr::get(layer.getContext(), phase);
  for (Operation *op = first; op; op = op->getNextNode()) {
    if (isa<ComputeOp>(op)) {
      op->setAttr("vdnn.layer", layer);
      op->setAttr("vdnn.phase", text);
    }
  }
}

static bool isCastOfParameter(Operation &op) {
  auto cast = dyn_cast<PointwiseOp>(op);
  auto argument = cast && isCast(cast)
                      ? dyn_cast<BlockArgument>(cast.getInputs().front())
                      : BlockArgument();
  return argument && hasRole(argument, "parameter");
}

void vdnn::numberLayers(func::FuncOp function) {
  Builder builder(function.getContext());
  int64_t layer = 0;
  for (Operation &op : function.getBody().front()) {
    if (!isa<ComputeOp>(op)) {
      continue;
    }
    op.setAttr("vdnn.layer", builder.getI64IntegerAttr(layer));
    op.setAttr("vdnn.phase", builder.getStringAttr("forward"));
    // A constant computes nothing: it belongs to the layer that follows it. So
    // does the cast of a parameter.
    if (!isa<ConstantOp>(op) && !isCastOfParameter(op)) {
      ++layer;
    }
  }
}
