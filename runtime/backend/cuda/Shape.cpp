//===- Shape.cpp - reorder, transpose, concat, slice ----------------------===//

#include "runtime/backend/common/AxisShape.h"
#include "runtime/backend/cuda/Factories.h"
#include "runtime/backend/cuda/kernels/StridedCopy.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using schedule::TypeT;

/// Bytes that divide an offset, as far as operands are aligned.
static uint64_t alignmentOf(uint64_t offset) {
  uint64_t bits = offset | 64;
  return bits & (~bits + 1);
}

static Result<StridedCopy> makeCopy(const std::vector<int64_t> &sizes,
                                    const std::vector<int64_t> &from,
                                    const std::vector<int64_t> &to,
                                    uint64_t elementBytes, uint64_t offset) {
  std::vector<CopyDim> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    dims.push_back({sizes[i], from[i], to[i]});
  }
  StridedCopy copy(std::move(dims), elementBytes, alignmentOf(offset));
  if (!copy.fits()) {
    return Error{"shape " + toString(sizes) +
                 " is copied along more dimensions than " +
                 std::to_string(CopyDims::kMost)};
  }
  return copy;
}

static Result<Kernel> copyKernel(Result<StridedCopy> copy, uint64_t offset) {
  VDNN_TRY(copy.status());
  Kernel kernel;
  kernel.run = [copy = *copy, offset](Context &,
                                      const Operands &operands) -> Status {
    VDNN_CUDA(copy.launch(operands.read<std::byte>(0) + offset,
                          operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createReorder(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request.types));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  VDNN_TRY(expectShape(y, x.shape, "the result"));
  return copyKernel(makeCopy(x.shape, memoryStrides(x), memoryStrides(y),
                             schedule::elementBytes(x.element), 0),
                    0);
}

Result<Kernel> createTranspose(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request.types));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  Result<std::vector<int64_t>> permutation = readPermutation(request.kernel, x);
  VDNN_TRY(permutation.status());
  std::vector<int64_t> strides = memoryStrides(x), shape, fromStrides;
  for (int64_t dim : *permutation) {
    shape.push_back(x.shape[static_cast<size_t>(dim)]);
    fromStrides.push_back(strides[static_cast<size_t>(dim)]);
  }
  VDNN_TRY(expectShape(y, shape, "the result"));
  return copyKernel(makeCopy(shape, fromStrides, memoryStrides(y),
                             schedule::elementBytes(x.element), 0),
                    0);
}

Result<Kernel> createSlice(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectSameElements(request.types));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  Result<int64_t> begin = readSlice(request.kernel, x, y);
  VDNN_TRY(begin.status());
  uint64_t bytes = schedule::elementBytes(x.element);
  uint64_t from = static_cast<uint64_t>(*begin) * bytes;
  return copyKernel(
      makeCopy(y.shape, memoryStrides(x), memoryStrides(y), bytes, from), from);
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// All operands in the layout of the result: rows of the operands side by side,
/// few launches.
static Kernel concatRows(const Request &request, size_t axis) {
  const TypeT &y = *request.types.writes[0];
  uint64_t elementBytes = schedule::elementBytes(y.element);
  int64_t rows = 1;
  for (size_t dim : memoryOrder(y)) {
    if (dim == axis) {
      break;
    }
    rows *= y.shape[dim];
  }
  auto rowBytes = [&](const TypeT &type) {
    return type.shape[axis] * memoryStrides(type)[axis] *
           static_cast<int64_t>(elementBytes);
  };
  std::vector<int64_t> parts;
  for (const TypeT *read : request.types.reads) {
    parts.push_back(rowBytes(*read));
  }
  Kernel kernel;
  kernel.run = [rows, parts, toBytes = rowBytes(y)](
                   Context &, const Operands &operands) -> Status {
    std::byte *to = operands.write<std::byte>(0);
    for (size_t first = 0; first < parts.size(); first += ConcatParts::kMost) {
      ConcatParts together;
      int64_t bytes = 0;
      for (size_t i = first;
           i < std::min(first + ConcatParts::kMost, parts.size()); ++i) {
        together.from[together.count] = operands.reads[i];
        together.bytes[together.count++] = parts[i];
        bytes += parts[i];
      }
      VDNN_CUDA(launchConcat(together, rows, toBytes, to, operands.stream));
      to += bytes;
    }
    return {};
  };
  return kernel;
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
  bool oneLayout = true;
  for (size_t i = 0; i < request.types.reads.size(); ++i) {
    const TypeT &x = *request.types.reads[i];
    std::vector<int64_t> expected = y.shape;
    expected[*axis] = x.shape.size() == y.shape.size() ? x.shape[*axis] : -1;
    VDNN_TRY(
        expectShape(x, expected, ("operand " + std::to_string(i)).c_str()));
    auto offset = static_cast<uint64_t>(position * strides[*axis]) * bytes;
    Result<StridedCopy> copy =
        makeCopy(x.shape, memoryStrides(x), strides, bytes, offset);
    VDNN_TRY(copy.status());
    parts.push_back({std::move(*copy), offset});
    position += x.shape[*axis];
    oneLayout = oneLayout && (x.shape.size() < 3 || x.layout == y.layout);
  }
  if (position != y.shape[*axis]) {
    return Error{"the operands have " + std::to_string(position) +
                 " elements along axis " + std::to_string(*axis) +
                 ", the result " + std::to_string(y.shape[*axis])};
  }
  if (oneLayout) {
    return concatRows(request, *axis);
  }
  Kernel kernel;
  kernel.run = [parts = std::move(parts)](Context &,
                                          const Operands &operands) -> Status {
    for (size_t i = 0; i < parts.size(); ++i) {
      VDNN_CUDA(parts[i].copy.launch(
          operands.reads[i], operands.write<std::byte>(0) + parts[i].offset,
          operands.stream));
    }
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
