//===- AssignLayouts.cpp - memory layouts by a minimum cut ----------------===//
//
// The graph: the source means row major, the sink channels last. Every op has
// one node, as all of an op's tensors have one layout, but a group of updates
// one for each of its parameters; so has every argument and result of the
// function and every constant. A value whose producer and some consumer are on
// different sides is reordered once, at the cost of its bytes; a value whose
// reorder is free constrains nothing. An op whose kernel takes both layouts but
// is slower in one pays there for what that costs.
//
//===----------------------------------------------------------------------===//

#include "MinCut.h"

#include "vdnn/Analysis/PlanningProblem.h"
#include "vdnn/Dialect/Shapes.h"
#include "vdnn/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace vdnn {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "vdnn/Transforms/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {
/// The layout of an op's kernel.
struct Wish {
  std::optional<Layout> layout; ///< none: any one
  /// Bytes moved on top in the other layout; infinite: there is no kernel.
  uint64_t penalty = MinCut::Infinite;
};
} // namespace

static bool isConvolution(Operation *op) {
  return isa<ConvOp, ConvBackwardDataOp, ConvBackwardFilterOp>(op);
}

static bool isPool(Operation *op) {
  return isa<MaxPoolOp, AvgPoolOp, MaxPoolBackwardOp, AvgPoolBackwardOp>(op);
}

/// Ops whose kernels know channels last alone, on every device.
static bool isNorm(Operation *op) {
  return isa<BatchNormOp, BatchNormInferenceOp, BatchNormBackwardOp, LRNOp,
             LRNBackwardOp>(op);
}

/// Whether convolutions work on planes. Where norms bind their tensors to
/// channels last, two copies of each activation would live until the backward
/// pass.
static bool shouldConvolvePlanes(func::FuncOp step, const Target &target) {
  return target.prefersPlanes &&
         llvm::none_of(step.getBody().front(),
                       [](Operation &op) { return isNorm(&op); });
}

static uint64_t countBytes(Operation *op) {
  uint64_t bytes = 0;
  for (Value operand : op->getOperands()) {
    bytes += tensorBytes(cast<RankedTensorType>(operand.getType()));
  }
  for (Value result : op->getResults()) {
    bytes += tensorBytes(cast<RankedTensorType>(result.getType()));
  }
  return bytes;
}

static RankedTensorType withLayout(Type type, Layout layout) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute encoding;
  if (layout == Layout::ChannelsLast && tensor.getRank() >= 3) {
    encoding = LayoutAttr::get(type.getContext(), layout);
  }
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               encoding);
}

namespace {

class LayoutAssignment {
public:
  LayoutAssignment(func::FuncOp step, const Target &target)
      : step(step), target(target),
        convolvesPlanes(shouldConvolvePlanes(step, target)) {}

  void run() {
    removeReorders();
    separateResults();
    buildGraph();
    std::vector<bool> sinkSide = graph.findSinkSide();
    setTypes(sinkSide);
    insertReorders(sinkSide);
  }

private:
  void removeReorders();
  void separateResults();
  Value copy(OpOperand &use, Operation *before);
  Operation *findOverwriter(BlockArgument argument);
  void buildGraph();
  void tieDropouts();
  void addValue(Value value, uint32_t producer);
  void setTypes(const std::vector<bool> &sinkSide);
  void insertReorders(const std::vector<bool> &sinkSide);
  void reorderUses(Value value, const std::vector<bool> &sinkSide);

  Operation *getTerminator() { return step.getBody().front().getTerminator(); }
  StringRef getResultText(unsigned number, StringRef attribute) {
    auto text = step.getResultAttrOfType<StringAttr>(number, attribute);
    return text ? text.getValue() : StringRef();
  }

  Wish getWish(Operation *op) const;
  uint32_t nodeOf(OpOperand &use) const;
  uint32_t nodeOf(OpResult result) const;

  func::FuncOp step;
  const Target &target;
  bool convolvesPlanes;
  MinCut graph;
  llvm::DenseMap<Operation *, uint32_t> opNodes; ///< the first of a group's
  SmallVector<uint32_t> argumentNodes;
  SmallVector<uint32_t> resultNodes;
};

} // namespace

/// Reorders of an earlier run; all encodings are decided anew.
void LayoutAssignment::removeReorders() {
  for (Operation &op :
       llvm::make_early_inc_range(step.getBody().front().getOperations())) {
    if (auto reorder = dyn_cast<ReorderOp>(op)) {
      reorder.getY().replaceAllUsesWith(reorder.getX());
      reorder.erase();
      continue;
    }
    for (Value result : op.getResults()) {
      result.setType(withLayout(result.getType(), Layout::RowMajor));
    }
  }
  for (BlockArgument argument : step.getArguments()) {
    argument.setType(withLayout(argument.getType(), Layout::RowMajor));
  }
}

/// The op that makes the new value of the argument, or the end of the step.
Operation *LayoutAssignment::findOverwriter(BlockArgument argument) {
  for (OpOperand &use : getTerminator()->getOpOperands()) {
    unsigned number = use.getOperandNumber();
    Operation *producer = use.get().getDefiningOp();
    if (producer && getResultText(number, "vdnn.role") == "update" &&
        step.getArgAttr(argument.getArgNumber(), "vdnn.name") ==
            step.getResultAttr(number, "vdnn.name")) {
      return producer;
    }
  }
  return getTerminator();
}

/// An identity op.
Value LayoutAssignment::copy(OpOperand &use, Operation *before) {
  OpBuilder builder(before);
  Value value = use.get();
  Location location = step.getLoc();
  auto identity = builder.create<PointwiseOp>(
      location, TypeRange{value.getType()}, ValueRange{value});
  Block *body = builder.createBlock(&identity.getRegion());
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  body->addArgument(toScalarType(element), location);
  builder.create<YieldOp>(location, ValueRange{body->getArgument(0)});
  // The phase and layer of the value, as if its op had made both.
  if (Operation *producer = value.getDefiningOp()) {
    for (StringRef name : {"vdnn.layer", "vdnn.phase"}) {
      if (Attribute attribute = producer->getAttr(name)) {
        identity->setAttr(name, attribute);
      }
    }
  }
  return identity.getResult(0);
}

/// Gives each result of the step bytes of its own: an output that is an
/// argument, a constant or another result would otherwise have to lie in two
/// places.
void LayoutAssignment::separateResults() {
  llvm::DenseSet<Value> taken;
  for (OpOperand &use : getTerminator()->getOpOperands()) {
    unsigned number = use.getOperandNumber();
    Value root = use.get();
    while (Operation *op = root.getDefiningOp()) {
      if (!isViewOp(op)) {
        break;
      }
      root = op->getOperand(0);
    }
    auto argument = dyn_cast<BlockArgument>(root);
    bool unchanged = argument && root == use.get() &&
                     getResultText(number, "vdnn.role") == "update" &&
                     step.getArgAttr(argument.getArgNumber(), "vdnn.name") ==
                         step.getResultAttr(number, "vdnn.name");
    if (unchanged) {
      continue;
    }
    bool persistent = argument || (root.getDefiningOp() &&
                                   isa<ConstantOp>(root.getDefiningOp()));
    if (persistent || !taken.insert(root).second) {
      Operation *overwriter =
          argument ? findOverwriter(argument) : getTerminator();
      Operation *view = use.get().getDefiningOp();
      bool isThere = !view || view->isBeforeInBlock(overwriter);
      use.set(copy(use, isThere ? overwriter : getTerminator()));
    }
  }
}

Wish LayoutAssignment::getWish(Operation *op) const {
  if (isConvolution(op)) {
    return convolvesPlanes ? Wish{Layout::RowMajor, countBytes(op)}
                           : Wish{Layout::ChannelsLast};
  }
  if (isPool(op)) {
    return target.poolsPlanes ? Wish{} : Wish{Layout::ChannelsLast};
  }
  if (isNorm(op)) {
    return {Layout::ChannelsLast};
  }
  // The losses could have either, but their labels have one dimension less than
  // their logits, so that channels last would mean another order for each.
  if (isa<ReshapeOp, MatMulOp, SoftmaxOp, SoftmaxBackwardOp,
          SoftmaxCrossEntropyOp, SoftmaxCrossEntropyBackwardOp>(op)) {
    return {Layout::RowMajor};
  }
  return {};
}

uint32_t LayoutAssignment::nodeOf(OpOperand &use) const {
  Operation *op = use.getOwner();
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    return resultNodes[use.getOperandNumber()];
  }
  auto group = dyn_cast<SGDGroupOp>(op);
  return opNodes.lookup(op) +
         (group ? group.getParameterOfOperand(use.getOperandNumber()) : 0);
}

uint32_t LayoutAssignment::nodeOf(OpResult result) const {
  auto group = dyn_cast<SGDGroupOp>(result.getOwner());
  return opNodes.lookup(result.getOwner()) +
         (group ? group.getParameterOfResult(result.getResultNumber()) : 0);
}

void LayoutAssignment::buildGraph() {
  llvm::DenseMap<Attribute, uint32_t> nodeOfName;
  for (BlockArgument argument : step.getArguments()) {
    uint32_t node = graph.addNode();
    argumentNodes.push_back(node);
    if (Attribute name =
            step.getArgAttr(argument.getArgNumber(), "vdnn.name")) {
      nodeOfName.try_emplace(name, node);
    }
    auto role =
        step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "vdnn.role");
    if (!role || role.getValue() == "input") {
      graph.addEdge(MinCut::Source, node, MinCut::Infinite);
    }
  }
  for (Operation &op : step.getBody().front().without_terminator()) {
    uint32_t node = graph.addNode();
    opNodes[&op] = node;
    if (auto group = dyn_cast<SGDGroupOp>(op)) {
      for (size_t i = 1; i < group.getParameters().size(); ++i) {
        graph.addNode();
      }
    }
    Wish wish = getWish(&op);
    if (wish.layout == Layout::RowMajor) {
      graph.addEdge(MinCut::Source, node, wish.penalty);
    } else if (wish.layout == Layout::ChannelsLast) {
      graph.addEdge(node, MinCut::Sink, wish.penalty);
    }
  }
  for (OpOperand &use : getTerminator()->getOpOperands()) {
    uint32_t node = graph.addNode();
    resultNodes.push_back(node);
    unsigned number = use.getOperandNumber();
    if (getResultText(number, "vdnn.role") != "update") {
      graph.addEdge(MinCut::Source, node, MinCut::Infinite);
      continue;
    }
    // The new value of a parameter or state lies where the old one lay, in the
    // same layout.
    Attribute name = step.getResultAttr(number, "vdnn.name");
    if (auto old = name ? nodeOfName.find(name) : nodeOfName.end();
        old != nodeOfName.end()) {
      graph.addEdge(node, old->second, MinCut::Infinite);
      graph.addEdge(old->second, node, MinCut::Infinite);
    }
  }
  tieDropouts();
  for (BlockArgument argument : step.getArguments()) {
    addValue(argument, argumentNodes[argument.getArgNumber()]);
  }
  for (Operation &op : step.getBody().front().without_terminator()) {
    for (OpResult result : op.getResults()) {
      addValue(result, nodeOf(result));
    }
  }
}

/// What a dropout drops depends on positions in memory, so that its backward op
/// must see the same layout.
void LayoutAssignment::tieDropouts() {
  llvm::DenseMap<int64_t, uint32_t> first;
  for (DropoutOp op : step.getBody().front().getOps<DropoutOp>()) {
    uint32_t node = opNodes[op];
    auto [entry, isNew] = first.try_emplace(op.getId(), node);
    if (!isNew) {
      graph.addEdge(node, entry->second, MinCut::Infinite);
      graph.addEdge(entry->second, node, MinCut::Infinite);
    }
  }
}

/// One reorder serves all consumers on the other side, so it is paid once:
/// through a node between them and the producer.
void LayoutAssignment::addValue(Value value, uint32_t producer) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isFreeReorder(type) || value.use_empty()) {
    return;
  }
  uint64_t bytes = tensorBytes(type);
  uint32_t toChannelsLast = graph.addNode();
  uint32_t toRowMajor = graph.addNode();
  graph.addEdge(producer, toChannelsLast, bytes);
  graph.addEdge(toRowMajor, producer, bytes);
  for (OpOperand &use : value.getUses()) {
    uint32_t consumer = nodeOf(use);
    graph.addEdge(toChannelsLast, consumer, MinCut::Infinite);
    graph.addEdge(consumer, toRowMajor, MinCut::Infinite);
  }
}

static Layout toLayout(bool sinkSide) {
  return sinkSide ? Layout::ChannelsLast : Layout::RowMajor;
}

void LayoutAssignment::setTypes(const std::vector<bool> &sinkSide) {
  for (BlockArgument argument : step.getArguments()) {
    Layout layout = toLayout(sinkSide[argumentNodes[argument.getArgNumber()]]);
    argument.setType(withLayout(argument.getType(), layout));
  }
  for (Operation &op : step.getBody().front().without_terminator()) {
    for (OpResult result : op.getResults()) {
      Layout layout = toLayout(sinkSide[nodeOf(result)]);
      result.setType(withLayout(result.getType(), layout));
    }
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      // The elements stay in logical order; only the type says how they lie in
      // memory.
      auto value = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(
          value.reshape(cast<ShapedType>(constant.getResult().getType())));
    }
  }
}

/// The first op that reads a view, or null.
static Operation *getFirstReader(Operation *view) {
  Operation *first = nullptr;
  for (Operation *user : view->getUsers()) {
    if (!first || user->isBeforeInBlock(first)) {
      first = user;
    }
  }
  return first;
}

/// An attribute of the op that a reorder belongs to: the kernel that `consumer`
/// is, or that reads it if it is a view, else the one that made `value`.
static Attribute findNearest(Operation *consumer, Value value, StringRef name) {
  for (Operation *op = consumer; op;
       op = isViewOp(op) ? getFirstReader(op) : nullptr) {
    if (Attribute attribute = op->getAttr(name)) {
      return attribute;
    }
  }
  for (Operation *op = value.getDefiningOp(); op;
       op = isViewOp(op) ? op->getOperand(0).getDefiningOp() : nullptr) {
    if (Attribute attribute = op->getAttr(name)) {
      return attribute;
    }
  }
  return {};
}

/// Reorders a value just before its first consumer that wants it so, for all of
/// them.
void LayoutAssignment::reorderUses(Value value,
                                   const std::vector<bool> &sinkSide) {
  SmallVector<OpOperand *> uses;
  Operation *first = nullptr;
  for (OpOperand &use : value.getUses()) {
    if (withLayout(value.getType(), toLayout(sinkSide[nodeOf(use)])) ==
        value.getType()) {
      continue;
    }
    uses.push_back(&use);
    if (!first || use.getOwner()->isBeforeInBlock(first)) {
      first = use.getOwner();
    }
  }
  if (uses.empty()) {
    return;
  }
  Layout layout = toLayout(sinkSide[nodeOf(*uses.front())]);
  OpBuilder builder(first);
  auto reorder = builder.create<ReorderOp>(
      first->getLoc(), withLayout(value.getType(), layout), value);
  for (StringRef name : {"vdnn.layer", "vdnn.phase"}) {
    if (Attribute attribute = findNearest(first, value, name)) {
      reorder->setAttr(name, attribute);
    }
  }
  StringAttr name;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    name =
        step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "vdnn.name");
  } else if (auto names = value.getDefiningOp()->getAttrOfType<ArrayAttr>(
                 "vdnn.names")) {
    name = dyn_cast<StringAttr>(names[cast<OpResult>(value).getResultNumber()]);
  }
  if (name && !name.getValue().empty()) {
    reorder->setAttr("vdnn.names",
                     builder.getStrArrayAttr(
                         {name.str() + "." + stringifyLayout(layout).str()}));
  }
  for (OpOperand *use : uses) {
    use->set(reorder.getY());
  }
}

void LayoutAssignment::insertReorders(const std::vector<bool> &sinkSide) {
  SmallVector<Value> values(step.getArguments());
  for (Operation &op : step.getBody().front().without_terminator()) {
    llvm::append_range(values, op.getResults());
  }
  for (Value value : values) {
    reorderUses(value, sinkSide);
  }
  step.setType(FunctionType::get(step.getContext(),
                                 step.getBody().front().getArgumentTypes(),
                                 getTerminator()->getOperandTypes()));
}

namespace {
struct AssignLayoutsPass : vdnn::impl::AssignLayoutsBase<AssignLayoutsPass> {
  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (!llvm::hasSingleElement(step.getBody())) {
      step.emitOpError("is not one block of straight code");
      return signalPassFailure();
    }
    for (Operation &op : step.getBody().front().without_terminator()) {
      bool tensors =
          llvm::all_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
      if (!isa<ComputeOp>(op) || !tensors) {
        op.emitOpError("has no layout: expected compute ops only");
        return signalPassFailure();
      }
    }
    // Without a target the layouts that every device has.
    Target target;
    auto module = step->getParentOfType<ModuleOp>();
    if (module && module->hasAttr("vdnn.target")) {
      FailureOr<Target> attached = getTarget(module);
      if (failed(attached)) {
        return signalPassFailure();
      }
      target = std::move(*attached);
    }
    LayoutAssignment(step, target).run();
  }
};
} // namespace
