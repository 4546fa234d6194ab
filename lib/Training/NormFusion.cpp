//===- NormFusion.cpp - batch norm, addition and ReLU in one op -----------===//
//
// Each of the three moves its tensors through memory and computes next to
// nothing. As one op the normalised value and the sum never reach memory, and
// without an addition the backward op knows from what it reads anyway where the
// ReLU let through. The order of ops changes only where a batch norm has to
// wait for what is added to it.
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Patterns.h"
#include "Step.h"

using namespace mlir;
using namespace vdnn;

/// The batch norm that alone makes `value` for its only reader, or null.
static BatchNormOp getNormOf(Value value) {
  auto norm = value.getDefiningOp<BatchNormOp>();
  bool plain = norm && norm.getY() == value && value.hasOneUse() &&
               !norm.getResidual() && !norm.getRelu();
  return plain ? norm : BatchNormOp();
}

namespace {
/// A batch norm, the sum if there is one, and the ReLU.
struct Chain {
  BatchNormOp norm;
  PointwiseOp sum;
  Value residual;
  PointwiseOp relu;
};
} // namespace

/// The chain that ends in `relu`; without a batch norm if there is none.
static Chain findChain(PointwiseOp relu) {
  Chain chain{{}, {}, {}, relu};
  if (!isRelu(relu)) {
    return chain;
  }
  Value input = relu.getInputs().front();
  chain.norm = getNormOf(input);
  auto sum = input.getDefiningOp<PointwiseOp>();
  if (chain.norm || !input.hasOneUse() || !isSum(sum)) {
    return chain;
  }
  // Of two batch norms the later one: the other's result is there by then.
  for (auto [own, other] : {std::pair(0, 1), std::pair(1, 0)}) {
    BatchNormOp norm = getNormOf(sum.getInputs()[own]);
    if (norm && (!chain.norm || chain.norm->isBeforeInBlock(norm))) {
      chain.norm = norm;
      chain.residual = sum.getInputs()[other];
    }
  }
  chain.sum = sum;
  return chain;
}

/// The op before which the fused one can stand, or null: after its residual,
/// and before what reads the statistics.
static Operation *findPlace(const Chain &chain) {
  Operation *norm = chain.norm;
  Operation *maker = chain.residual ? chain.residual.getDefiningOp() : nullptr;
  if (!maker || maker->isBeforeInBlock(norm)) {
    return norm;
  }
  bool early = llvm::any_of(norm->getUsers(), [&](Operation *user) {
    return !maker->isBeforeInBlock(user);
  });
  return early ? nullptr : maker->getNextNode();
}

static void fuse(const Chain &chain, Operation *place) {
  BatchNormOp norm = chain.norm;
  PointwiseOp relu = chain.relu;
  norm->moveBefore(place);
  if (chain.residual) {
    norm.getResidualMutable().assign(chain.residual);
  }
  norm.setRelu(true);
  // What is left of the tensors is the ReLU's.
  auto y = cast<OpResult>(norm.getY());
  Value output = relu.getOutputs().front();
  if (StringRef name = getName(output); !name.empty()) {
    setName(y, name);
  }
  output.replaceAllUsesWith(y);
  relu.erase();
  if (chain.sum) {
    PointwiseOp(chain.sum).erase();
  }
}

void vdnn::fuseNorms(func::FuncOp function) {
  for (PointwiseOp op :
       llvm::make_early_inc_range(function.getOps<PointwiseOp>())) {
    Chain chain = findChain(op);
    if (Operation *place = chain.norm ? findPlace(chain) : nullptr) {
      fuse(chain, place);
    }
  }
}
