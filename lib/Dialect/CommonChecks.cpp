//===- CommonChecks.cpp - what an op and its gradient both must hold ------===//

#include "Checks.h"

#include "mlir/IR/Diagnostics.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace vdnn;

LogicalResult vdnn::verifyConvolution(Operation *op, Named x, Named w, Named y,
                                      ArrayRef<int64_t> strides,
                                      ArrayRef<int64_t> dilations,
                                      ArrayRef<int64_t> pads, int64_t group) {
  VDNN_CHECK(expectRank(op, x, 3, 5));
  size_t rank = x.shape().size();
  VDNN_CHECK(expectRank(op, w, rank, rank));
  VDNN_CHECK(expectRank(op, y, rank, rank));
  VDNN_CHECK(expectSameElement(op, w, x));
  VDNN_CHECK(expectSameElement(op, y, x));
  VDNN_CHECK(expectInRange(op, "group", group, 1,
                           std::numeric_limits<int32_t>::max()));
  int64_t channels = x.shape()[1];
  int64_t filters = w.shape()[0];
  if (channels % group != 0 || filters % group != 0) {
    return op->emitOpError()
           << "expected channels and filters that 'group' (" << group
           << ") divides, found " << channels << " and " << filters;
  }
  SmallVector<int64_t> expected(w.shape());
  expected[1] = channels / group;
  VDNN_CHECK(expectShape(op, w, expected));
  expected.assign(y.shape().begin(), y.shape().end());
  expected[0] = x.shape()[0];
  expected[1] = filters;
  VDNN_CHECK(expectShape(op, y, expected));
  if (dilations.size() != rank - 2) {
    return expectNumbers(op, "dilations", dilations, rank - 2, 1, kMaxWindow);
  }
  Windows windows{w.shape().drop_front(2), strides, pads, dilations};
  VDNN_CHECK(checkWindows(op, windows, x));
  return expectWindowed(op, windows, x, y, /*roundUp=*/false);
}

LogicalResult vdnn::verifyPool(Operation *op, Windows windows, Named x,
                               Named y) {
  VDNN_CHECK(expectRank(op, x, 3, 5));
  size_t rank = x.shape().size();
  VDNN_CHECK(expectRank(op, y, rank, rank));
  VDNN_CHECK(expectSameElement(op, y, x));
  VDNN_CHECK(checkWindows(op, windows, x));
  for (auto [i, pad] : llvm::enumerate(windows.pads)) {
    size_t axis = i % windows.kernel.size();
    int64_t dilation = windows.dilations.empty() ? 1 : windows.dilations[axis];
    int64_t extent = dilation * (windows.kernel[axis] - 1) + 1;
    // A window of nothing but padding has no maximum and no mean.
    if (pad >= extent) {
      return op->emitOpError() << "expected 'pads' less than the window's "
                               << extent << " positions, found " << pad;
    }
  }
  SmallVector<int64_t> expected(y.shape());
  expected[0] = x.shape()[0];
  expected[1] = x.shape()[1];
  VDNN_CHECK(expectShape(op, y, expected));
  return expectWindowed(op, windows, x, y, /*roundUp=*/true);
}

LogicalResult vdnn::verifyPoolIndex(Operation *op, ArrayRef<int64_t> kernel) {
  constexpr int64_t kMost = std::numeric_limits<int8_t>::max();
  int64_t positions = 1;
  for (int64_t size : kernel) {
    positions = std::min(positions * size, kMost + 1);
  }
  if (positions > kMost) {
    return op->emitOpError() << "expected windows of at most " << kMost
                             << " positions with an index, found more";
  }
  return success();
}

LogicalResult vdnn::verifyCrossEntropy(Operation *op, Named logits,
                                       Named labels, Named weights, Named loss,
                                       Reduction reduction) {
  VDNN_CHECK(expectRank(op, logits, 2, 8));
  SmallVector<int64_t> positions(logits.shape());
  positions.erase(positions.begin() + 1);
  VDNN_CHECK(expectShape(op, labels, positions));
  if (weights.value) {
    VDNN_CHECK(expectShape(op, weights, logits.shape()[1]));
    VDNN_CHECK(expectSameElement(op, weights, logits));
  }
  switch (reduction) {
  case Reduction::Mean:
  case Reduction::Sum:
    return expectShape(op, loss, {});
  case Reduction::None:
    return expectShape(op, loss, positions);
  default:
    return op->emitOpError()
           << "expected the reduction 'mean', 'sum' or 'none', found '"
           << stringifyReduction(reduction) << "'";
  }
}

//===----------------------------------------------------------------------===//
// Scalar programs
//===----------------------------------------------------------------------===//

bool vdnn::isElementType(Type type) {
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         type.isSignlessInteger(1) ||
         llvm::any_of(std::array{64, 32, 16, 8}, [&](unsigned width) {
           return type.isSignlessInteger(width) ||
                  type.isUnsignedInteger(width);
         });
}

Type vdnn::toScalarType(Type element) {
  if (element.isBF16()) {
    return Float32Type::get(element.getContext());
  }
  return element.isUnsignedInteger()
             ? IntegerType::get(element.getContext(),
                                element.getIntOrFloatBitWidth())
             : element;
}

static LogicalResult verifyTypes(Operation *op, StringRef what, StringRef of,
                                 TypeRange found, ArrayRef<Type> expected) {
  if (found.size() != expected.size()) {
    return op->emitOpError()
           << "expected " << expected.size() << " " << what << ", one for each "
           << of << ", found " << found.size();
  }
  for (auto [i, element] : llvm::enumerate(expected)) {
    Type type = toScalarType(element);
    if (found[i] != type) {
      return op->emitOpError()
             << "expected the type " << type << " of " << of << " " << i
             << " in the " << what << ", found " << found[i];
    }
  }
  return success();
}

LogicalResult vdnn::verifyProgram(Operation *op, Region &body,
                                  ArrayRef<Type> inputs,
                                  ArrayRef<Type> outputs) {
  if (!body.hasOneBlock() || body.front().empty() ||
      !isa<YieldOp>(body.front().back())) {
    return op->emitOpError()
           << "expected a program of one block that ends with 'vdnn.yield'";
  }
  Block &block = body.front();
  VDNN_CHECK(verifyTypes(op, "block arguments", "operand",
                         block.getArgumentTypes(), inputs));
  for (Operation &scalar : block.without_terminator()) {
    StringRef dialect = scalar.getName().getDialectNamespace();
    if ((dialect != "arith" && dialect != "math") ||
        scalar.getNumRegions() != 0 || scalar.getNumResults() != 1) {
      return scalar.emitOpError() << "expected only arith and math ops with "
                                     "one result in a pointwise program";
    }
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(scalar.getOperandTypes()),
                                  llvm::to_vector(scalar.getResultTypes()))) {
      if (!isElementType(type)) {
        return scalar.emitOpError()
               << "expected scalars of the dialect's element types, found "
               << type;
      }
    }
  }
  return verifyTypes(op, "yielded values", "result",
                     block.back().getOperandTypes(), outputs);
}
