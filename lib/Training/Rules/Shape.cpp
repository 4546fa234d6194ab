//===- Shape.cpp - backward rules of ops that move elements ---------------===//

#include "../Emit.h"
#include "Rules.h"

using namespace mlir;
using namespace vdnn;

static LogicalResult reshapeBackward(ReshapeOp op, Tape &tape) {
  if (tape.wants(op.getX())) {
    tape.add(op.getX(), emitReshape(tape.builder, op.getLoc(),
                                    cast<RankedTensorType>(op.getX().getType()),
                                    tape.gradientOf(op.getY())));
  }
  return success();
}

static LogicalResult reorderBackward(ReorderOp op, Tape &tape) {
  if (tape.wants(op.getX())) {
    tape.add(op.getX(),
             tape.builder.create<ReorderOp>(op.getLoc(), op.getX().getType(),
                                            tape.gradientOf(op.getY())));
  }
  return success();
}

static LogicalResult transposeBackward(TransposeOp op, Tape &tape) {
  if (!tape.wants(op.getX())) {
    return success();
  }
  SmallVector<int64_t> inverse(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation())) {
    inverse[from] = int64_t(to);
  }
  tape.add(op.getX(),
           tape.builder.create<TransposeOp>(
               op.getLoc(), op.getX().getType(), tape.gradientOf(op.getY()),
               tape.builder.getDenseI64ArrayAttr(inverse)));
  return success();
}

static LogicalResult concatBackward(ConcatOp op, Tape &tape) {
  Value dy = tape.gradientOf(op.getY());
  int64_t offset = 0;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (tape.wants(input)) {
      tape.add(input, tape.builder.create<SliceOp>(
                          op.getLoc(), type, dy, op.getAxisAttr(),
                          tape.builder.getI64IntegerAttr(offset)));
    }
    offset += type.getDimSize(op.getAxis());
  }
  return success();
}

static LogicalResult sliceBackward(SliceOp op, Tape &tape) {
  if (tape.wants(op.getX())) {
    tape.addSlice(op.getX(), op.getAxis(), op.getOffset(),
                  tape.gradientOf(op.getY()));
  }
  return success();
}

void vdnn::addShapeRules(RuleTable &table) {
  table.add<ReshapeOp, reshapeBackward>();
  table.add<ReorderOp, reorderBackward>();
  table.add<TransposeOp, transposeBackward>();
  table.add<ConcatOp, concatBackward>();
  table.add<SliceOp, sliceBackward>();
}
