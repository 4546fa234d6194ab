//===- Fusion.cpp - backward pointwise ops read by one other --------------===//
//
// Where branches meet, gradients are added and then go through the derivative
// of an activation, or through a batch norm that masks what it reads: one pass
// over memory instead of two. Only neighbours are merged, so that nothing lives
// longer than before, or only during the update of a parameter between them,
// which needs less memory than the gradients before.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "Step.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace vdnn;

static bool isInPhase(Operation *op, StringRef name) {
  auto phase = op->getAttrOfType<StringAttr>("vdnn.phase");
  return phase && phase.getValue() == name;
}

/// An update, or what makes a gradient ready for updates alone.
static bool isPartOfUpdate(Operation *op) {
  return isInPhase(op, "update") ||
         (isa<PointwiseOp>(op) && !op->use_empty() &&
          llvm::all_of(op->getUsers(), [](Operation *user) {
            return isInPhase(user, "update");
          }));
}

/// Whether `op` may run after `other` instead of before: part of an update that
/// does not read it, nor what it reads, under this shape or another, since the
/// new value may take the old one's bytes.
static bool mayWaitFor(Operation *other, PointwiseOp op) {
  return isPartOfUpdate(other) &&
         llvm::none_of(other->getOperands(), [&](Value operand) {
           return operand.getDefiningOp() == op ||
                  llvm::any_of(op.getInputs(), [&](Value input) {
                    return throughViews(input) == throughViews(operand);
                  });
         });
}

/// The op that reads the result of `op`, if it is the only one and the next to
/// run, or null.
static Operation *findConsumer(PointwiseOp op) {
  Operation *next = op->getNextNode();
  while (next && mayWaitFor(next, op)) {
    next = next->getNextNode();
  }
  if (!next || !isInPhase(op, "backward") || op->getNumResults() != 1 ||
      op->hasAttr("vdnn.gradient_of") || op->hasAttr("vdnn.gradients")) {
    return nullptr;
  }
  bool onlyNext = llvm::all_of(op->getUsers(),
                               [&](Operation *user) { return user == next; });
  return onlyNext && !op->use_empty() ? next : nullptr;
}

static void mergeInto(PointwiseOp producer, PointwiseOp consumer) {
  Block &body = consumer.getBody().front();
  Block &merged = producer.getBody().front();
  SmallVector<Value> inputs;
  SmallVector<Value> scalars;
  // Operands of the consumer but the producer's result, then the producer's.
  for (auto [input, scalar] :
       llvm::zip(consumer.getInputs(), body.getArguments())) {
    if (input != producer.getOutputs().front()) {
      inputs.push_back(input);
      scalars.push_back(scalar);
    }
  }
  IRMapping mapping;
  for (auto [input, scalar] :
       llvm::zip(producer.getInputs(), merged.getArguments())) {
    auto *known = llvm::find(inputs, input);
    if (known != inputs.end()) {
      mapping.map(scalar, scalars[std::distance(inputs.begin(), known)]);
      continue;
    }
    inputs.push_back(input);
    scalars.push_back(body.addArgument(scalar.getType(), producer.getLoc()));
    mapping.map(scalar, scalars.back());
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (Operation &op : merged.without_terminator()) {
    builder.clone(op, mapping);
  }
  Value value = mapping.lookupOrDefault(merged.getTerminator()->getOperand(0));
  for (unsigned number = consumer.getInputs().size(); number-- > 0;) {
    if (consumer.getInputs()[number] == producer.getOutputs().front()) {
      body.getArgument(number).replaceAllUsesWith(value);
      body.eraseArgument(number);
    }
  }
  consumer->setOperands(inputs);
  producer.erase();
}

/// Whether the norm can add up itself what `sum` does.
static bool takesSum(BatchNormBackwardOp norm, PointwiseOp sum) {
  return norm.getY() && !norm.getAddend() && isSum(sum) &&
         norm.getDy() == sum.getOutputs().front() && sum->hasOneUse();
}

void vdnn::fuseBackward(func::FuncOp function) {
  for (PointwiseOp op :
       llvm::make_early_inc_range(function.getOps<PointwiseOp>())) {
    Operation *consumer = findConsumer(op);
    if (auto next = dyn_cast_or_null<PointwiseOp>(consumer)) {
      mergeInto(op, next);
    } else if (auto norm = dyn_cast_or_null<BatchNormBackwardOp>(consumer);
               norm && takesSum(norm, op)) {
      norm.getDyMutable().assign(op.getInputs()[0]);
      norm.getAddendMutable().assign(op.getInputs()[1]);
      op.erase();
    }
  }
}
