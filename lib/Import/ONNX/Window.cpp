//===- Window.cpp - windows of convolutions and pools ---------------------===//

#include "Window.h"

using namespace mlir;
using namespace vdnn::onnx;

/// A list with one entry for each of `count` things, between `least` and 2^31.
static FailureOr<Shape> readList(const Node &node, StringRef name, size_t count,
                                 int64_t least, int64_t absent) {
  Shape values = node.list(name).value_or(Shape(count, absent));
  if (values.empty()) {
    values.assign(count, absent);
  }
  bool valid = llvm::all_of(values, [&](int64_t value) {
    return value >= least && value < (int64_t(1) << 31);
  });
  if (values.size() != count || !valid) {
    return node.error() << "'" << name << "' must hold " << count
                        << " numbers of at least " << least << " (below 2^31)";
  }
  return values;
}

/// Pads so that the result has ceil(input / stride) elements.
static void padSame(Window &window, ArrayRef<int64_t> input, bool lower) {
  size_t rank = input.size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t output = (input[i] + window.strides[i] - 1) / window.strides[i];
    int64_t total = std::max<int64_t>(0, (output - 1) * window.strides[i] +
                                             window.extent(i) - input[i]);
    window.pads[i] = lower ? (total + 1) / 2 : total / 2;
    window.pads[rank + i] = total - window.pads[i];
  }
}

/// Sizes of the result. Rounding up adds a window where the last one lies
/// partly beyond the padding, which the end padding then covers; a window that
/// starts beyond input and begin padding is not added.
static LogicalResult setOutput(const Node &node, Window &window,
                               ArrayRef<int64_t> input, bool roundUp) {
  size_t rank = input.size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t &end = window.pads[rank + i];
    int64_t room = input[i] + window.pads[i] + end - window.extent(i);
    if (room < 0) {
      return node.error() << "its window of " << window.extent(i)
                          << " does not fit into the padded input of "
                          << room + window.extent(i);
    }
    int64_t output = room / window.strides[i] + 1;
    if (roundUp && room % window.strides[i] != 0 &&
        output * window.strides[i] < input[i] + window.pads[i]) {
      end += window.strides[i] - room % window.strides[i];
      window.extended = true;
      ++output;
    }
    window.output.push_back(output);
  }
  return success();
}

FailureOr<Window> vdnn::onnx::readWindow(const Node &node, Shape kernel) {
  ArrayRef<int64_t> input = node.in(0).shape;
  if (input.size() < 3 || input.size() > 5) {
    return node.unsupported("an input of rank " + Twine(input.size()),
                            "N x C x 1 to 3 spatial dimensions");
  }
  input = input.drop_front(2);
  size_t rank = input.size();
  if (kernel.empty() && !node.attribute("kernel_shape")) {
    return node.error() << "has no 'kernel_shape'";
  }
  FailureOr<Shape> given = readList(node, "kernel_shape", rank, 1, 1);
  FailureOr<Shape> strides = readList(node, "strides", rank, 1, 1);
  FailureOr<Shape> dilations = readList(node, "dilations", rank, 1, 1);
  FailureOr<Shape> pads = readList(node, "pads", 2 * rank, 0, 0);
  if (failed(given) || failed(strides) || failed(dilations) || failed(pads)) {
    return failure();
  }
  if (kernel.empty()) {
    kernel = *given;
  } else if (node.attribute("kernel_shape") && kernel != *given) {
    return node.error() << "'kernel_shape' differs from the weights' shape";
  }
  Window window{kernel, *strides, *dilations, *pads, {}};
  for (size_t i = 0; i < rank; ++i) {
    if (kernel[i] >= (int64_t(1) << 31) || window.extent(i) < 1) {
      return node.error() << "its window is too large";
    }
  }
  std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "VALID") {
    window.pads.assign(2 * rank, 0);
  } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    padSame(window, input, automatic == "SAME_LOWER");
  } else if (automatic != "NOTSET" && !automatic.empty()) {
    return node.unsupported("auto_pad '" + automatic + "'",
                            "NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  }
  if (failed(
          setOutput(node, window, input, node.integer("ceil_mode", 0) != 0))) {
    return failure();
  }
  return window;
}
