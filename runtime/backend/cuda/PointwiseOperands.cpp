//===- PointwiseOperands.cpp ----------------------------------------------===//

#include "runtime/backend/cuda/PointwiseOperands.h"

#include "runtime/backend/cuda/ScalarCode.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using namespace backend;
using schedule::ElementType;
using schedule::TypeT;
using Dim = PointwiseOperand::Dim;

/// Whether element i of the operand's memory belongs to element i of the
/// results'.
static bool isFull(const TypeT &x, const TypeT &y) {
  if (x.shape != y.shape) {
    return false;
  }
  std::vector<int64_t> xStrides = memoryStrides(x), yStrides = memoryStrides(y);
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (x.shape[i] != 1 && xStrides[i] != yStrides[i]) {
      return false;
    }
  }
  return true;
}

static Result<std::vector<Dim>> findDims(const TypeT &x, const TypeT &y,
                                         const std::string &what) {
  if (x.shape.size() != y.shape.size()) {
    return Error{"expected " + what + " of the result's rank, found shape " +
                 toString(x.shape) + " for " + toString(y.shape)};
  }
  std::vector<Dim> dims;
  std::vector<int64_t> strides = memoryStrides(x);
  for (size_t dim : memoryOrder(y)) {
    if (x.shape[dim] != y.shape[dim] && x.shape[dim] != 1) {
      return Error{what + " of shape " + toString(x.shape) +
                   " cannot be broadcast to " + toString(y.shape)};
    }
    int64_t size = y.shape[dim], stride = x.shape[dim] == 1 ? 0 : strides[dim];
    if (size == 1) {
      continue;
    }
    if (!dims.empty() && dims.back().stride == stride * size) {
      dims.back() = {dims.back().size * size, stride};
    } else {
      dims.push_back({size, stride});
    }
  }
  return dims;
}

Result<std::vector<PointwiseOperand>>
readOperands(std::span<const TypeT *const> reads, const TypeT &y) {
  std::vector<PointwiseOperand> operands;
  for (size_t read = 0; read < reads.size(); ++read) {
    const TypeT &x = *reads[read];
    std::string what = "operand " + std::to_string(read);
    PointwiseOperand operand{x.element, Access::Full, {}};
    if (!valueType(scalarElement(operand.element))) {
      return Error{what + " of element type '" +
                   schedule::EnumNameElementType(x.element) +
                   "' is not supported"};
    }
    if (!isFull(x, y)) {
      Result<std::vector<Dim>> dims = findDims(x, y, what);
      VDNN_TRY(dims.status());
      operand.dims = std::move(*dims);
      operand.access =
          countElements(x.shape) == 1 ? Access::Scalar : Access::Gathered;
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

void PointwiseOperand::chooseAccess(int64_t width) {
  if (access == Access::Full || access == Access::Scalar) {
    return;
  }
  const Dim &last = dims.back();
  bool sameRun = last.size % width == 0;
  bool aligned = std::all_of(dims.begin(), dims.end() - 1, [&](const Dim &dim) {
    return dim.stride % width == 0;
  });
  if (sameRun && last.stride == 0) {
    access = Access::Splat;
  } else if (width == 1 || (sameRun && last.stride == 1 && aligned)) {
    access = Access::Vector;
  } else {
    access = Access::Gathered;
  }
}

} // namespace vdnn::rt::cuda
