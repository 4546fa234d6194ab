//===- AxisShape.cpp ------------------------------------------------------===//

#include "runtime/backend/common/AxisShape.h"

#include <algorithm>

namespace vdnn::rt::backend {

using schedule::TypeT;

Status expectSameElements(const LaunchTypes &types) {
  for (size_t i = 0; i < types.reads.size(); ++i) {
    VDNN_TRY(expectElement(*types.reads[i], types.writes[0]->element,
                           ("operand " + std::to_string(i)).c_str()));
  }
  return {};
}

Result<std::vector<int64_t>> readPermutation(const schedule::KernelT &kernel,
                                             const TypeT &x) {
  std::vector<int64_t> permutation = schedule::getInts(kernel, "permutation"),
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
  return permutation;
}

Result<size_t> readAxis(const schedule::KernelT &kernel, const TypeT &type) {
  int64_t rank = static_cast<int64_t>(type.shape.size()),
          axis = schedule::getInt(kernel, "axis");
  if (axis < 0 || axis >= rank) {
    return Error{"axis " + std::to_string(axis) +
                 " is outside the rank of shape " + toString(type.shape)};
  }
  return static_cast<size_t>(axis);
}

Result<int64_t> readSlice(const schedule::KernelT &kernel, const TypeT &x,
                          const TypeT &y) {
  Result<size_t> axis = readAxis(kernel, x);
  VDNN_TRY(axis.status());
  std::vector<int64_t> expected = x.shape;
  expected[*axis] = y.shape.size() == x.shape.size() ? y.shape[*axis] : -1;
  VDNN_TRY(expectShape(y, expected, "the result"));
  int64_t offset = schedule::getInt(kernel, "offset");
  if (offset < 0 || offset > x.shape[*axis] - y.shape[*axis]) {
    return Error{"a slice of " + std::to_string(y.shape[*axis]) + " from " +
                 std::to_string(offset) + " reaches outside axis " +
                 std::to_string(*axis) + " of shape " + toString(x.shape)};
  }
  return offset * memoryStrides(x)[*axis];
}

} // namespace vdnn::rt::backend
