//===- ReluPlacement.cpp - ReLUs behind max pools -------------------------===//
//
// The maximum of what a ReLU lets through is what it lets through of the
// maximum. Behind the pool the ReLU works on a fraction of the elements, and
// its gradient needs the pool's result alone: the pool's input, the largest
// kind of tensor in networks of the VGG family, is read by no backward op.
// Where all of a window is negative the pool may take another element than it
// would after the ReLU; the gradient there is zero either way.
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Patterns.h"
#include "Step.h"

using namespace mlir;
using namespace vdnn;

/// Whether a window may lie in the padding alone, where the maximum is that of
/// nothing: only the taps of a dilated one can step over the image.
static bool mayHaveEmptyWindows(MaxPoolOp pool) {
  auto isPositive = [](int64_t value) { return value > 0; };
  return llvm::any_of(pool.getPads(), isPositive) &&
         llvm::any_of(pool.getDilations(),
                      [](int64_t dilation) { return dilation > 1; });
}

void vdnn::moveRelusBehindPools(func::FuncOp function) {
  for (MaxPoolOp pool :
       llvm::make_early_inc_range(function.getOps<MaxPoolOp>())) {
    auto relu = pool.getX().getDefiningOp<PointwiseOp>();
    if (pool.getIndex() || !relu || !isRelu(relu) || !relu->hasOneUse() ||
        mayHaveEmptyWindows(pool)) {
      continue;
    }
    auto maximum = cast<OpResult>(pool.getY());
    auto result = cast<OpResult>(relu.getOutputs().front());
    pool.getXMutable().assign(relu.getInputs().front());
    relu->moveAfter(pool);
    result.setType(maximum.getType());
    maximum.replaceAllUsesWith(result);
    relu.getInputsMutable().assign(maximum);
    // The values that the names of the model mean; the maximum before the ReLU
    // is none of them.
    setName(result, getName(maximum));
    setName(maximum, "");
  }
}
