//===- MatMul.cpp - backward rule of the matrix product -------------------===//

#include "../Emit.h"
#include "Rules.h"

#include "mlir/IR/TypeUtilities.h"
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

/// Where the gradient of a bias is due: of one that is rounded to bf16 for this
/// product alone its f32 original, which loses nothing on the way.
static Value getBiasSource(Value bias) {
  auto cast = bias.getDefiningOp<PointwiseOp>();
  return cast && isCast(cast) && bias.hasOneUse() ? cast.getInputs().front()
                                                  : bias;
}

static void addGradientOfBias(MatMulOp op, Value dy, Tape &tape) {
  Value bias = getBiasSource(op.getBias());
  auto type = cast<RankedTensorType>(bias.getType());
  int64_t rank = cast<RankedTensorType>(dy.getType()).getRank();
  Value sum = emitSum(tape.builder, op.getLoc(), dy,
                      llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)),
                      type.getElementType());
  tape.add(bias, emitReshape(tape.builder, op.getLoc(), type, sum));
}

static LogicalResult matmulBackward(MatMulOp op, Tape &tape) {
  Value whole = tape.gradientOf(op.getY());
  // Products take operands of one type; the gradient of an f32 result of bf16
  // operands is rounded as they are.
  Value dy = emitCast(tape.builder, op.getLoc(),
                      getElementTypeOrSelf(op.getA().getType()), whole);
  // The parameter's gradient first, as for convolutions: the other operand's
  // bytes may be free before its gradient takes some. A parameter is mostly b.
  if (isa<BlockArgument>(op.getA()) && !isa<BlockArgument>(op.getB())) {
    addGradientOfA(op, dy, tape);
    addGradientOfB(op, dy, tape);
  } else {
    addGradientOfB(op, dy, tape);
    addGradientOfA(op, dy, tape);
  }
  if (op.getBias() && tape.wants(op.getBias())) {
    addGradientOfBias(op, whole, tape);
  }
  return success();
}

void vdnn::addMatMulRules(RuleTable &table) {
  table.add<MatMulOp, matmulBackward>();
}
