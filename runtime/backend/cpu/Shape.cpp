//===- Shape.cpp - reorder, transpose, concat, slice ----------------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/StridedCopy.h"

#include <algorithm>

namespace vdnn::rt::cpu {

using schedule::TypeT;

static Status expectSameElements(const Request &request) {
  const TypeT &y = *request.types.writes[0];
  for (size_t i = 0; i < request.types.reads.size(); ++i) {
    VDNN_TRY(expectElement(*request.types.reads[i], y.element,
                           ("operand " + std::to_string(i)).c_str()));
  }
  return {};
}

static Kernel copyKernel(StridedCopy copy, uint64_t fromOffset,
                         unsigned threads) {
  Kernel kernel;
  kernel.run = [copy = std::move(copy), fromOffset,
                threads](const Operands &operands) {
    copy.run(threads, operands.writes[0], operands.reads[0] + fromOffset);
    return Status();
  };
  return kernel;
}

Result<Kernel> createReorder(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  VDNN_TRY(expectShape(y, x.shape, "the result"));
  return copyKernel({x.shape, memoryStrides(x), memoryStrides(y),
                     schedule::elementBytes(x.element)},
                    0, request.threads);
}

Result<Kernel> createTranspose(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  std::vector<int64_t> permutation =
                           schedule::getInts(request.kernel, "permutation"),
                       sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool valid = sorted.size() == x.shape.size();
  for (size_t i = 0; valid && i < sorted.size(); ++i) {
    valid = sorted[i] == static_cast<int64_t>(i);
  }
  if (!valid) {
    return Error{"attribute 'permutation' is " + toString(permutation) +
                 ", no permutation of the dimensions of shape " +
                 toString(x.shape)};
  }
  std::vector<int64_t> strides = memoryStrides(x), shape, fromStrides;
  for (int64_t dim : permutation) {
    shape.push_back(x.shape[dim]);
    fromStrides.push_back(strides[dim]);
  }
  VDNN_TRY(expectShape(y, shape, "the result"));
  return copyKernel(
      {shape, fromStrides, memoryStrides(y), schedule::elementBytes(x.element)},
      0, request.threads);
}

static Result<size_t> readAxis(const Request &request, const TypeT &type) {
  int64_t rank = static_cast<int64_t>(type.shape.size()),
          axis = schedule::getInt(request.kernel, "axis");
  if (axis < 0 || axis >= rank) {
    return Error{"axis " + std::to_string(axis) +
                 " is outside the rank of shape " + toString(type.shape)};
  }
  return static_cast<size_t>(axis);
}

Result<Kernel> createSlice(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  Result<size_t> axis = readAxis(request, x);
  VDNN_TRY(axis.status());
  std::vector<int64_t> expected = x.shape;
  expected[*axis] = y.shape.size() == x.shape.size() ? y.shape[*axis] : -1;
  VDNN_TRY(expectShape(y, expected, "the result"));
  int64_t offset = schedule::getInt(request.kernel, "offset");
  if (offset < 0 || offset > x.shape[*axis] - y.shape[*axis]) {
    return Error{"a slice of " + std::to_string(y.shape[*axis]) + " from " +
                 std::to_string(offset) + " reaches outside axis " +
                 std::to_string(*axis) + " of shape " + toString(x.shape)};
  }
  std::vector<int64_t> strides = memoryStrides(x);
  uint64_t bytes = schedule::elementBytes(x.element);
  return copyKernel({y.shape, strides, memoryStrides(y), bytes},
                    static_cast<uint64_t>(offset * strides[*axis]) * bytes,
                    request.threads);
}

Result<Kernel> createConcat(const Request &request) {
  VDNN_TRY(expectArity(request, {1, SIZE_MAX, 1, 1}));
  VDNN_TRY(expectSameElements(request));
  const TypeT &y = *request.types.writes[0];
  Result<size_t> axis = readAxis(request, y);
  VDNN_TRY(axis.status());
  struct Part {
    StridedCopy copy;
    uint64_t offset;
  };
  std::vector<Part> parts;
  std::vector<int64_t> strides = memoryStrides(y);
  uint64_t bytes = schedule::elementBytes(y.element);
  int64_t position = 0;
  for (size_t i = 0; i < request.types.reads.size(); ++i) {
    const TypeT &x = *request.types.reads[i];
    std::vector<int64_t> expected = y.shape;
    expected[*axis] = x.shape.size() == y.shape.size() ? x.shape[*axis] : -1;
    VDNN_TRY(
        expectShape(x, expected, ("operand " + std::to_string(i)).c_str()));
    parts.push_back({StridedCopy(x.shape, memoryStrides(x), strides, bytes),
                     static_cast<uint64_t>(position * strides[*axis]) * bytes});
    position += x.shape[*axis];
  }
  if (position != y.shape[*axis]) {
    return Error{"the operands have " + std::to_string(position) +
                 " elements along axis " + std::to_string(*axis) +
                 ", the result " + std::to_string(y.shape[*axis])};
  }
  Kernel kernel;
  kernel.run = [parts = std::move(parts),
                threads = request.threads](const Operands &operands) {
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i].copy.run(threads, operands.writes[0] + parts[i].offset,
                        operands.reads[i]);
    }
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
