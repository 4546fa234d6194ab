//===- MatMul.cpp - backward rule of the matrix product -------------------===//

#include "../Emit.h"
#include "Rules.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace vdnn;

static Value emitProduct(Tape &tape, Location loc, Type type, Value a,
                         bool transposeA, Value b, bool transposeB) {
  return tape.builder.create<MatMulOp>(loc, type, a, b, Value(), transposeA,
                                       transposeB);
}

static void addGradientOfA(MatMulOp op, Value dy, Tape &tape) {
  Value a = op.getA();
  Value b = op.getB();
  bool ta = op.getTransposeA();
  bool tb = op.getTransposeB();
  if (tape.wants(a)) {
    tape.add(
        a, ta ? emitProduct(tape, op.getLoc(), a.getType(), b, tb, dy, true)
              : emitProduct(tape, op.getLoc(), a.getType(), dy, false, b, !tb));
  }
}

static void addGradientOfB(MatMulOp op, Value dy, Tape &tape) {
  Value a = op.getA();
  Value b = op.getB();
  bool ta = op.getTransposeA();
  bool tb = op.getTransposeB();
  if (tape.wants(b)) {
    tape.add(
        b, tb ? emitProduct(tape, op.getLoc(), b.getType(), dy, true, a, ta)
              : emitProduct(tape, op.getLoc(), b.getType(), a, !ta, dy, false));
  }
}

static LogicalResult matmulBackward(MatMulOp op, Tape &tape) {
  Value dy = tape.gradientOf(op.getY());
  // The parameter's gradient first, as for convolutions: the other operand's
  // bytes may be free before its gradient takes some. A parameter is mostly b.
  if (isa<BlockArgument>(op.getA()) && !isa<BlockArgument>(op.getB())) {
    addGradientOfA(op, dy, tape);
    addGradientOfB(op, dy, tape);
  } else {
    addGradientOfB(op, dy, tape);
    addGradientOfA(op, dy, tape);
  }
  if (Value bias = op.getBias(); bias && tape.wants(bias)) {
    int64_t rank = cast<RankedTensorType>(dy.getType()).getRank();
    Value sum = emitSum(tape.builder, op.getLoc(), dy,
                        llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)));
    tape.add(bias, emitReshape(tape.builder, op.getLoc(),
                               cast<RankedTensorType>(bias.getType()), sum));
  }
  return success();
}

void vdnn::addMatMulRules(RuleTable &table) {
  table.add<MatMulOp, matmulBackward>();
}
