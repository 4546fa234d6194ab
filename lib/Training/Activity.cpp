//===- Activity.cpp - which gradients are needed --------------------------===//

#include "Step.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace vdnn;

DenseSet<Value> vdnn::findWanted(ArrayRef<BlockArgument> trained, Value loss) {
  Block &body = *loss.getParentBlock();
  // What the loss depends on, from the last op to the first.
  DenseSet<Value> useful{loss};
  for (Operation &op : llvm::reverse(body)) {
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return useful.contains(result); })) {
      useful.insert(op.operand_begin(), op.operand_end());
    }
  }
  // What depends on a trained parameter, from the first op to the last.
  DenseSet<Value> varied(trained.begin(), trained.end());
  for (Operation &op : body) {
    if (llvm::none_of(op.getOperands(), [&](Value operand) {
          return varied.contains(operand);
        })) {
      continue;
    }
    for (Value result : op.getResults()) {
      if (isa<FloatType>(getElementTypeOrSelf(result.getType()))) {
        varied.insert(result);
      }
    }
  }
  DenseSet<Value> wanted;
  for (Value value : varied) {
    if (useful.contains(value)) {
      wanted.insert(value);
    }
  }
  return wanted;
}

/// Positions of a window that an index of type i8 can tell apart.
static constexpr int64_t maxIndexedWindow = 127;

void vdnn::addPoolIndices(func::FuncOp function,
                          const DenseSet<Value> &wanted) {
  // All are chosen first: what replaces a pool's result is not in `wanted`.
  SmallVector<MaxPoolOp> pools;
  for (MaxPoolOp pool : function.getOps<MaxPoolOp>()) {
    int64_t window = 1;
    for (int64_t size : pool.getKernel()) {
      window *= size;
    }
    if (!pool.getIndex() && window <= maxIndexedWindow &&
        wanted.contains(pool.getX())) {
      pools.push_back(pool);
    }
  }
  for (MaxPoolOp pool : pools) {
    OpBuilder builder(pool);
    auto type = cast<RankedTensorType>(pool.getY().getType());
    auto indexed = builder.create<MaxPoolOp>(
        pool.getLoc(), type, type.clone(builder.getI8Type()), pool.getX(),
        pool.getKernelAttr(), pool.getStridesAttr(), pool.getPadsAttr(),
        pool.getDilationsAttr());
    indexed->setDiscardableAttrs(pool->getDiscardableAttrDictionary());
    if (auto names = pool->getAttrOfType<ArrayAttr>("vdnn.names")) {
      std::string name = cast<StringAttr>(names[0]).str();
      indexed->setAttr("vdnn.names",
                       builder.getStrArrayAttr({name, name + ".index"}));
    }
    pool.getY().replaceAllUsesWith(indexed.getY());
    pool.erase();
  }
}
