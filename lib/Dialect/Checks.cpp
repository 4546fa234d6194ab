//===- Checks.cpp - what verifiers check again and again ------------------===//

#include "Checks.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace vdnn;

std::string vdnn::toText(ArrayRef<int64_t> shape) {
  return shape.empty()
             ? "a scalar"
             : llvm::join(llvm::map_range(shape,
                                          [](int64_t size) {
                                            return std::to_string(size);
                                          }),
                          "x");
}

LogicalResult vdnn::expectRank(Operation *op, Named tensor, size_t low,
                               size_t high) {
  size_t rank = tensor.shape().size();
  if (rank >= low && rank <= high) {
    return success();
  }
  InFlightDiagnostic error = op->emitOpError() << "expected '" << tensor.name
                                               << "' of rank " << low;
  if (high != low) {
    error << " to " << high;
  }
  return error << ", found rank " << rank;
}

LogicalResult vdnn::expectShape(Operation *op, Named tensor,
                                ArrayRef<int64_t> expected) {
  if (tensor.shape() == expected) {
    return success();
  }
  return op->emitOpError() << "expected '" << tensor.name
                           << (expected.empty() ? "' as " : "' of shape ")
                           << toText(expected) << ", found "
                           << toText(tensor.shape());
}

LogicalResult vdnn::expectSameElement(Operation *op, Named tensor,
                                      Named other) {
  if (tensor.element() == other.element()) {
    return success();
  }
  return op->emitOpError() << "expected '" << tensor.name
                           << "' with the element type " << other.element()
                           << " of '" << other.name << "', found "
                           << tensor.element();
}

LogicalResult vdnn::expectSameElementOrF32(Operation *op, Named tensor,
                                           Named other) {
  if (other.element().isBF16() && tensor.element().isF32()) {
    return success();
  }
  return expectSameElement(op, tensor, other);
}

LogicalResult vdnn::expectAlike(Operation *op, Named tensor, Named other) {
  return success(succeeded(expectShape(op, tensor, other.shape())) &&
                 succeeded(expectSameElement(op, tensor, other)));
}

LogicalResult vdnn::expectNumbers(Operation *op, StringRef name,
                                  ArrayRef<int64_t> numbers, size_t count,
                                  int64_t low, int64_t high) {
  if (numbers.size() != count) {
    return op->emitOpError() << "expected " << count << " numbers in '" << name
                             << "', found " << numbers.size();
  }
  for (int64_t number : numbers) {
    if (failed(expectInRange(op, name, number, low, high))) {
      return failure();
    }
  }
  return success();
}

LogicalResult vdnn::expectInRange(Operation *op, StringRef name, int64_t number,
                                  int64_t low, int64_t high) {
  if (number >= low && number <= high) {
    return success();
  }
  return op->emitOpError() << "expected '" << name << "' from " << low << " to "
                           << high << ", found " << number;
}

LogicalResult vdnn::expectInRange(Operation *op, StringRef name, double number,
                                  double low, double high) {
  if (number >= low && number < high) {
    return success();
  }
  return op->emitOpError() << "expected '" << name << "' at least " << low
                           << " and less than " << high << ", found " << number;
}

LogicalResult vdnn::expectAxis(Operation *op, StringRef name, int64_t axis,
                               Named tensor) {
  if (tensor.shape().empty()) {
    return op->emitOpError() << "expected '" << tensor.name
                             << "' with at least one dimension, found a scalar";
  }
  return expectInRange(op, name, axis, int64_t(0),
                       int64_t(tensor.shape().size()) - 1);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

LogicalResult vdnn::checkWindows(Operation *op, Windows windows, Named input) {
  size_t spatial = input.shape().size() - 2;
  return success(succeeded(expectNumbers(op, "kernel", windows.kernel, spatial,
                                         1, kMaxWindow)) &&
                 succeeded(expectNumbers(op, "strides", windows.strides,
                                         spatial, 1, kMaxWindow)) &&
                 succeeded(expectNumbers(op, "pads", windows.pads, 2 * spatial,
                                         0, kMaxWindow)) &&
                 (windows.dilations.empty() ||
                  succeeded(expectNumbers(op, "dilations", windows.dilations,
                                          spatial, 1, kMaxWindow))));
}

LogicalResult vdnn::expectWindowed(Operation *op, Windows windows, Named input,
                                   Named output, bool roundUp) {
  ArrayRef<int64_t> in = input.shape();
  ArrayRef<int64_t> out = output.shape();
  for (size_t i = 0; i < windows.kernel.size(); ++i) {
    int64_t dilation = windows.dilations.empty() ? 1 : windows.dilations[i];
    int64_t stride = windows.strides[i];
    int64_t begin = windows.pads[i];
    int64_t extent = dilation * (windows.kernel[i] - 1) + 1;
    int64_t padded =
        in[i + 2] + begin + windows.pads[windows.kernel.size() + i];
    if (padded < extent) {
      return op->emitOpError()
             << "expected windows of at most " << padded
             << " positions in spatial dimension " << i << " of '" << input.name
             << "' with its padding, found " << extent;
    }
    int64_t whole = (padded - extent) / stride + 1;
    bool reachesBeyond = roundUp && (padded - extent) % stride != 0 &&
                         whole * stride < in[i + 2] + begin;
    if (out[i + 2] == whole || (reachesBeyond && out[i + 2] == whole + 1)) {
      continue;
    }
    InFlightDiagnostic error = op->emitOpError() << "expected " << whole;
    if (reachesBeyond) {
      error << " or " << whole + 1;
    }
    return error << " positions in spatial dimension " << i << " of '"
                 << output.name << "', found " << out[i + 2];
  }
  return success();
}
