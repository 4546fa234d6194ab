//===- Loss.cpp - the loss of a model -------------------------------------===//

#include "Emit.h"
#include "Names.h"
#include "Step.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace vdnn;

namespace {

class LossBuilder {
public:
  LossBuilder(func::FuncOp function, Value output, StringRef outputName)
      : function(function), output(output), outputName(outputName),
        type(cast<RankedTensorType>(output.getType())),
        loc(NameLoc::get(StringAttr::get(function.getContext(), "loss"))),
        builder(function.getBody().front().getTerminator()) {}

  FailureOr<Value> build(LossKind kind) {
    if (!isa<FloatType>(type.getElementType())) {
      return function.emitError()
             << "output '" << outputName << "' has type " << type
             << ", but a loss needs floating-point values";
    }
    switch (kind) {
    case LossKind::CrossEntropy:
      return crossEntropy();
    case LossKind::MeanSquare:
      return meanSquare();
    case LossKind::Output:
      return outputItself();
    }
    llvm_unreachable("unknown loss");
  }

private:
  /// The logits behind a softmax over the classes: the cross entropy has its
  /// own.
  Value getLogits() {
    auto softmax = output.getDefiningOp<SoftmaxOp>();
    if (!softmax || softmax.getAxis() != 1) {
      return output;
    }
    softmax.emitRemark() << "output '" << outputName
                         << "' is a softmax: the cross entropy takes the "
                            "softmax's input, not its result";
    return softmax.getX();
  }

  FailureOr<Value> crossEntropy() {
    if (type.getRank() < 2) {
      return function.emitError() << "cross entropy needs an output of shape N "
                                     "x classes x ..., but '"
                                  << outputName << "' has type " << type
                                  << "; use '--loss=mse' or '--loss=output'";
    }
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + 1);
    FailureOr<BlockArgument> labels = getOrAddInput(
        function, RankedTensorType::get(shape, builder.getI64Type()), "labels");
    if (failed(labels)) {
      return failure();
    }
    auto op = builder.create<SoftmaxCrossEntropyOp>(
        loc, scalarType(), type, getLogits(), *labels, Value(),
        ReductionAttr::get(builder.getContext(), Reduction::Mean),
        IntegerAttr());
    op->setAttr("vdnn.names",
                builder.getStrArrayAttr({"loss", "loss.log_prob"}));
    return Value(op.getLoss());
  }

  FailureOr<Value> meanSquare() {
    FailureOr<BlockArgument> target = getOrAddInput(function, type, "target");
    if (failed(target)) {
      return failure();
    }
    Value squares =
        emitPointwise(builder, loc, type, {output, *target},
                      [](OpBuilder &b, Location l, ValueRange scalars) {
                        Value error =
                            b.create<arith::SubFOp>(l, scalars[0], scalars[1]);
                        return b.create<arith::MulFOp>(l, error, error);
                      });
    setName(cast<OpResult>(squares), "loss.squares");
    SmallVector<int64_t> ones(type.getRank(), 1);
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value mean = builder.create<ReduceOp>(
        loc, type.clone(ones), squares,
        ReductionAttr::get(builder.getContext(), Reduction::Mean),
        builder.getDenseI64ArrayAttr(axes));
    return asScalar(mean);
  }

  FailureOr<Value> outputItself() {
    if (type.getNumElements() != 1) {
      return function.emitError()
             << "'--loss=output' needs an output of one element, but '"
             << outputName << "' has type " << type
             << "; use '--loss=cross_entropy' or '--loss=mse'";
    }
    return asScalar(output);
  }

  RankedTensorType scalarType() const {
    return RankedTensorType::get({}, type.getElementType());
  }

  Value asScalar(Value value) {
    Value scalar = emitReshape(builder, loc, scalarType(), value);
    if (scalar != value) {
      setName(cast<OpResult>(scalar), "loss");
    }
    return scalar;
  }

  func::FuncOp function;
  Value output;
  StringRef outputName;
  RankedTensorType type;
  Location loc;
  OpBuilder builder;
};

} // namespace

FailureOr<Value> vdnn::buildLoss(func::FuncOp function, LossKind kind) {
  SmallVector<unsigned> outputs = findResults(function, "output");
  if (outputs.empty()) {
    return function.emitError("has no output to take a loss of");
  }
  auto name =
      function.getResultAttrOfType<StringAttr>(outputs.front(), "vdnn.name");
  StringRef text = name ? name.getValue() : StringRef();
  if (outputs.size() > 1) {
    function.emitRemark() << "has " << outputs.size()
                          << " outputs; the loss is taken of the first one, '"
                          << text << "'";
  }
  Operation *end = function.getBody().front().getTerminator();
  return LossBuilder(function, end->getOperand(outputs.front()), text)
      .build(kind);
}
