//===- UpdateGroups.cpp - one kernel for the updates of small parameters --===//
//
// On a GPU the update of a bias takes as long as a launch does, and a network
// has hundreds. Those of small parameters that follow each other become one op
// where the last of them stood. The gradients wait until then, which bounds on
// their bytes keep from mattering.
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Step.h"

#include "vdnn/Dialect/Shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace vdnn;

namespace {
struct Group {
  SmallVector<SGDOp> updates;
  int64_t pendingBytes = 0; ///< of their gradients
};
} // namespace

static int64_t countBytes(Value value) {
  return int64_t(tensorBytes(cast<RankedTensorType>(value.getType())));
}

/// Whether one op can do both.
static bool areAlike(SGDOp a, SGDOp b) {
  auto element = [](Value value) { return getElementTypeOrSelf(value); };
  return a.getRate() == b.getRate() &&
         a.getMomentumAttr() == b.getMomentumAttr() &&
         a.getWeightDecayAttr() == b.getWeightDecayAttr() &&
         a.getNesterov() == b.getNesterov() &&
         element(a.getGradient()) == element(b.getGradient()) &&
         bool(a.getNewCopy()) == bool(b.getNewCopy());
}

/// The updates as one op in the place of the last.
static void emitGroup(ArrayRef<SGDOp> updates) {
  if (updates.size() < 2) {
    return;
  }
  SGDOp last = updates.back();
  SmallVector<Value> parameters, gradients, velocities, replaced;
  for (SGDOp update : updates) {
    parameters.push_back(update.getParameter());
    gradients.push_back(update.getGradient());
    if (Value velocity = update.getVelocity()) {
      velocities.push_back(velocity);
    }
  }
  for (unsigned kind = 0; kind < last->getNumResults(); ++kind) {
    for (SGDOp update : updates) {
      replaced.push_back(update->getResult(kind));
    }
  }
  OpBuilder builder(last);
  auto group = builder.create<SGDGroupOp>(
      last.getLoc(), TypeRange(ValueRange(replaced)), last.getRate(),
      parameters, gradients, velocities, last.getMomentumAttr(),
      last.getWeightDecayAttr(), last.getNesterovAttr());
  group->setDiscardableAttrs(last->getDiscardableAttrDictionary());
  SmallVector<StringRef> names;
  for (auto [before, after] : llvm::zip(replaced, group->getResults())) {
    names.push_back(getName(before));
    before.replaceAllUsesWith(after);
  }
  group->setAttr("vdnn.names", builder.getStrArrayAttr(names));
  for (SGDOp update : updates) {
    update.erase();
  }
}

UpdateGroupLimits UpdateGroupLimits::of(ModuleOp module) {
  constexpr int64_t kShare = 256;
  int64_t bytes = 0;
  module.walk([&](Operation *op) {
    auto phase = op->getAttrOfType<StringAttr>("vdnn.phase");
    if (phase && phase.getValue() == "forward") {
      for (Value result : op->getResults()) {
        bytes += countBytes(result);
      }
    }
  });
  UpdateGroupLimits limits;
  limits.pendingBytes = std::min(limits.pendingBytes, bytes / kShare);
  return limits;
}

LogicalResult vdnn::groupUpdates(ModuleOp module,
                                 const UpdateGroupLimits &limits) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function) {
    return module.emitError("expected a function 'main'");
  }
  SmallVector<Group> open;
  int64_t pendingBytes = 0; // of all that are open
  auto close = [&](Group *group) {
    emitGroup(group->updates);
    pendingBytes -= group->pendingBytes;
    open.erase(group);
  };
  auto findAlike = [&](SGDOp update) {
    return llvm::find_if(open, [&](const Group &group) {
      return areAlike(group.updates.front(), update);
    });
  };
  SmallVector<SGDOp> updates(function.getOps<SGDOp>());
  for (SGDOp update : updates) {
    if (countBytes(update.getParameter()) > limits.parameterBytes) {
      continue;
    }
    int64_t bytes = countBytes(update.getGradient());
    if (Group *group = findAlike(update);
        group != open.end() &&
        group->updates.size() == SGDGroupOp::kMaxParameters) {
      close(group);
    }
    // The largest first: of another kind it would keep small ones apart.
    while (!open.empty() && pendingBytes + bytes > limits.pendingBytes) {
      close(llvm::max_element(open, [](const Group &one, const Group &other) {
        return one.pendingBytes < other.pendingBytes;
      }));
    }
    Group *group = findAlike(update);
    if (group == open.end()) {
      group = &open.emplace_back();
    }
    group->updates.push_back(update);
    group->pendingBytes += bytes;
    pendingBytes += bytes;
  }
  for (const Group &group : open) {
    emitGroup(group.updates);
  }
  return success();
}
