//===- Shape.cpp - reorder, transpose, concat, slice ----------------------===//

#include "runtime/backend/common/AxisShape.h"
#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/StridedCopy.h"

#include <algorithm>

namespace vdnn::rt::cpu {

using schedule::TypeT;

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
  VDNN_TRY(expectSameElements(request.types));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  VDNN_TRY(expectShape(y, x.shape, "the result"));
  return copyKernel({x.shape, memoryStrides(x), memoryStrides(y),
                     schedule::elementBytes(x.element)},
                    0, request.threads);
}

Result<Kernel> createTranspose(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request.types));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  Result<std::vector<int64_t>> permutation = readPermutation(request.kernel, x);
  VDNN_TRY(permutation.status());
  std::vector<int64_t> strides = memoryStrides(x), shape, fromStrides;
  for (int64_t dim : *permutation) {
    shape.push_back(x.shape[dim]);
    fromStrides.push_back(strides[dim]);
  }
  VDNN_TRY(expectShape(y, shape, "the result"));
  return copyKernel(
      {shape, fromStrides, memoryStrides(y), schedule::elementBytes(x.element)},
      0, request.threads);
}

Result<Kernel> createSlice(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request.types));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  Result<int64_t> begin = readSlice(request.kernel, x, y);
  VDNN_TRY(begin.status());
  uint64_t bytes = schedule::elementBytes(x.element);
  return copyKernel({y.shape, memoryStrides(x), memoryStrides(y), bytes},
                    static_cast<uint64_t>(*begin) * bytes, request.threads);
}

Result<Kernel> createConcat(const Request &request) {
  VDNN_TRY(expectArity(request, {1, SIZE_MAX, 1, 1}));
  VDNN_TRY(expectSameElements(request.types));
  const TypeT &y = *request.types.writes[0];
  Result<size_t> axis = readAxis(request.kernel, y);
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
