//===- ConvFusion.cpp - convolution and ReLU in one op --------------------===//
//
// A convolution with a bias has its sums in registers: a ReLU there costs
// nothing, where an op of its own reads and writes the whole tensor once more.
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Patterns.h"
#include "Step.h"

using namespace mlir;
using namespace vdnn;

void vdnn::fuseConvolutions(func::FuncOp function) {
  for (ConvOp conv : function.getOps<ConvOp>()) {
    auto y = cast<OpResult>(conv.getY());
    if (!conv.getBias() || conv.getRelu() || !y.hasOneUse()) {
      continue;
    }
    auto relu = dyn_cast<PointwiseOp>(*y.user_begin());
    if (!relu || !isRelu(relu)) {
      continue;
    }
    conv.setRelu(true);
    Value output = relu.getOutputs().front();
    if (StringRef name = getName(output); !name.empty()) {
      setName(y, name);
    }
    output.replaceAllUsesWith(y);
    relu.erase();
  }
}
