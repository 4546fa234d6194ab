//===- Autocast.cpp - activations and products in bf16 --------------------===//
//
// Which precision an op works in follows from what it is: products take and
// give bf16, softmaxes and losses f32, and whatever moves or maps activations
// follows its operands. Parameters stay f32; a product reads one through a cast
// right before it. What is there once per channel (biases, scales, statistics)
// costs nothing and stays f32.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "Names.h"
#include "Step.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace vdnn;

static bool isF32(Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

static bool isBF16(Value value) {
  return getElementTypeOrSelf(value.getType()).isBF16();
}

static void setElement(Value value, Type element) {
  value.setType(cast<RankedTensorType>(value.getType()).clone(element));
}

/// The operands that decide, with each other, in which type an op works that
/// follows its operands; none of another op.
static SmallVector<OpOperand *> getFollowed(Operation *op) {
  if (auto norm = dyn_cast<BatchNormOp>(op)) {
    SmallVector<OpOperand *> followed{&norm.getXMutable()};
    for (OpOperand &residual : norm.getResidualMutable()) {
      followed.push_back(&residual);
    }
    return followed;
  }
  if (isa<BatchNormInferenceOp, MaxPoolOp, AvgPoolOp, LRNOp, DropoutOp, SliceOp,
          TransposeOp, ReshapeOp, ReorderOp, ReduceOp>(op)) {
    return {&op->getOpOperand(0)};
  }
  SmallVector<OpOperand *> followed;
  if (isa<ConcatOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      followed.push_back(&operand);
    }
  }
  return followed;
}

namespace {

class Autocast {
public:
  explicit Autocast(func::FuncOp function)
      : function(function), bf16(BFloat16Type::get(function.getContext())),
        f32(Float32Type::get(function.getContext())) {}

  void run();

private:
  void visit(Operation *op);
  void visitPointwise(PointwiseOp op);
  bool isActivation(Value value) const;
  void convert(OpOperand &operand, Type element);
  Value emitConverted(OpBuilder &builder, Value value, Type element);
  void takeIntoProducer(PointwiseOp cast);
  void removeDead();

  func::FuncOp function;
  Type bf16, f32;
  /// The value in the other type, by value.
  llvm::DenseMap<Value, Value> converted;
  SmallVector<PointwiseOp> widenings;
};

} // namespace

/// Whether `value` depends on the network's input and has not been widened for
/// an op that needs f32.
bool Autocast::isActivation(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return isBF16(value) ||
         (argument && isF32(value) && hasRole(argument, "input"));
}

/// `value` in elements of `element`. What only arranges elements is repeated
/// on the converted operand, so that parameters are cast as they are stored.
Value Autocast::emitConverted(OpBuilder &builder, Value value, Type element) {
  Operation *op = value.getDefiningOp();
  Location loc = op ? op->getLoc() : builder.getInsertionPoint()->getLoc();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    if (auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue())) {
      return builder.create<ConstantOp>(
          loc, elements.mapValues(element, [&](const APFloat &number) {
            APFloat rounded = number;
            bool lossy;
            rounded.convert(cast<FloatType>(element).getFloatSemantics(),
                            APFloat::rmNearestTiesToEven, &lossy);
            return rounded.bitcastToAPInt();
          }));
    }
  }
  if (isa_and_nonnull<ReshapeOp, TransposeOp>(op)) {
    Value source = op->getOperand(0);
    Value operand = converted.lookup(source);
    if (!operand) {
      operand = emitConverted(builder, source, element);
      converted[source] = operand;
    }
    Operation *clone = builder.clone(*op);
    clone->setOperand(0, operand);
    setElement(clone->getResult(0), element);
    return clone->getResult(0);
  }
  Value cast = emitCast(builder, loc, element, value);
  if (StringRef name = getName(value); !name.empty()) {
    setName(llvm::cast<OpResult>(cast),
            (name + (element == bf16 ? ".bf16" : ".f32")).str());
  }
  if (element == f32) {
    widenings.push_back(cast.getDefiningOp<PointwiseOp>());
  }
  return cast;
}

/// Makes an f32 operand bf16 or the other way round; leaves other types alone.
void Autocast::convert(OpOperand &operand, Type element) {
  Value value = operand.get();
  if (element == bf16 ? !isF32(value) : !isBF16(value)) {
    return;
  }
  Value known = converted.lookup(value);
  if (!known) {
    OpBuilder builder(operand.getOwner());
    known = emitConverted(builder, value, element);
    converted[value] = known;
  }
  operand.set(known);
}

void Autocast::visitPointwise(PointwiseOp op) {
  if (llvm::none_of(op.getInputs(),
                    [&](Value input) { return isActivation(input); })) {
    return;
  }
  // Operands of any type are widened to f32 scalars: none needs a cast.
  for (Value output : op.getOutputs()) {
    if (isF32(output)) {
      setElement(output, bf16);
    }
  }
}

void Autocast::visit(Operation *op) {
  if (isa<ConvOp, MatMulOp>(op)) {
    if (!isF32(op->getResult(0))) {
      return;
    }
    convert(op->getOpOperand(0), bf16);
    convert(op->getOpOperand(1), bf16);
    if (auto product = dyn_cast<MatMulOp>(op)) {
      for (OpOperand &bias : product.getBiasMutable()) {
        convert(bias, bf16);
      }
    }
    return setElement(op->getResult(0), bf16);
  }
  if (auto pointwise = dyn_cast<PointwiseOp>(op)) {
    return visitPointwise(pointwise);
  }
  SmallVector<OpOperand *> followed = getFollowed(op);
  if (followed.empty()) {
    for (OpOperand &operand : op->getOpOperands()) {
      convert(operand, f32);
    }
  } else if (llvm::any_of(followed, [&](OpOperand *operand) {
               return isActivation(operand->get());
             })) {
    for (OpOperand *operand : followed) {
      convert(*operand, bf16);
    }
    setElement(op->getResult(0), bf16);
  }
}

/// Where nothing but `cast` reads what a product, a pointwise op or a reduction
/// makes, that gives f32 itself.
void Autocast::takeIntoProducer(PointwiseOp cast) {
  Value made = cast.getInputs().front();
  Operation *producer = made.getDefiningOp();
  if (!made.hasOneUse() ||
      !isa_and_nonnull<MatMulOp, PointwiseOp, ReduceOp>(producer)) {
    return;
  }
  if (auto product = dyn_cast<MatMulOp>(producer)) {
    // The bias is of the result's type.
    for (OpOperand &bias : product.getBiasMutable()) {
      Value rounded = bias.get();
      OpBuilder builder(producer);
      auto known = rounded.getDefiningOp<PointwiseOp>();
      bias.set(known && isCast(known)
                   ? known.getInputs().front()
                   : emitCast(builder, producer->getLoc(), f32, rounded));
    }
  }
  setElement(made, f32);
  cast.getOutputs().front().replaceAllUsesWith(made);
  cast.erase();
}

/// Erases what conversions have left without a reader.
void Autocast::removeDead() {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(
           llvm::drop_begin(llvm::reverse(body)))) { // not the terminator
    if (op.use_empty() && isPure(&op)) {
      op.erase();
    }
  }
}

void Autocast::run() {
  // What nothing reads would be cast for nothing, and go once it is.
  removeDead();
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    visit(&op);
  }
  for (PointwiseOp cast : widenings) {
    takeIntoProducer(cast);
  }
  removeDead();
}

LogicalResult vdnn::castToBF16(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function) {
    return module.emitError("expected a function 'main'");
  }
  Autocast(function).run();
  return success();
}
