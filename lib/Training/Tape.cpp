//===- Tape.cpp - accumulation of gradients -------------------------------===//

#include "Tape.h"
#include "Emit.h"
#include "Names.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace vdnn;

int64_t Tape::Slice::end() const {
  return offset + cast<RankedTensorType>(gradient.getType()).getDimSize(axis);
}

void Tape::add(Value value, Value gradient) {
  assert(value.getType() == gradient.getType() && "gradient of another type");
  Value &sum = whole[value];
  if (!sum) {
    sum = gradient;
    return;
  }
  // One addition per contribution, as soon as it is there: at no time is more
  // than one unfinished sum of a value alive.
  sum = emitPointwise(
      builder, gradient.getLoc(), cast<RankedTensorType>(value.getType()),
      {sum, gradient}, [](OpBuilder &b, Location loc, ValueRange scalars) {
        return b.create<arith::AddFOp>(loc, scalars[0], scalars[1]);
      });
}

void Tape::addSlice(Value value, int64_t axis, int64_t offset, Value gradient) {
  parts[value].push_back({axis, offset, gradient});
}

Value Tape::gradientOf(Value value) {
  auto found = parts.find(value);
  if (found != parts.end()) {
    SmallVector<Slice> slices = std::move(found->second);
    parts.erase(found);
    joinSlices(value, std::move(slices));
  }
  Value gradient = whole.lookup(value);
  if (gradient) {
    setGradientName(gradient, value);
  }
  return gradient;
}

void Tape::joinSlices(Value value, SmallVector<Slice> slices) {
  auto type = cast<RankedTensorType>(value.getType());
  llvm::stable_sort(slices, [](const Slice &a, const Slice &b) {
    return std::pair(a.axis, a.offset) < std::pair(b.axis, b.offset);
  });
  // Each round takes slices that do not overlap, and fills the gaps with zeros.
  while (!slices.empty()) {
    SmallVector<Slice> rest;
    SmallVector<Value> pieces;
    int64_t axis = slices.front().axis;
    int64_t end = 0;
    Location loc = slices.front().gradient.getLoc();
    auto fillUpTo = [&](int64_t offset) {
      if (offset > end) {
        SmallVector<int64_t> shape(type.getShape());
        shape[axis] = offset - end;
        pieces.push_back(emitZeros(builder, loc, type.clone(shape)));
      }
    };
    for (const Slice &slice : slices) {
      if (slice.axis != axis || slice.offset < end) {
        rest.push_back(slice);
        continue;
      }
      fillUpTo(slice.offset);
      pieces.push_back(slice.gradient);
      end = slice.end();
    }
    fillUpTo(type.getDimSize(axis));
    add(value, pieces.size() == 1
                   ? pieces.front()
                   : builder
                         .create<ConcatOp>(loc, type, pieces,
                                           builder.getI64IntegerAttr(axis))
                         .getY());
    slices = std::move(rest);
  }
}
