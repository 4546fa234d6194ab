//===- AxisShape.h - transpositions, slices, concatenations ---------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_AXISSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_AXISSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

/// All operands have the element type of result 0.
Status expectSameElements(const LaunchTypes &types);

/// Attribute `permutation`, one of the dimensions of `x`.
Result<std::vector<int64_t>> readPermutation(const schedule::KernelT &kernel,
                                             const schedule::TypeT &x);

/// Attribute `axis`, a dimension of `type`.
Result<size_t> readAxis(const schedule::KernelT &kernel,
                        const schedule::TypeT &type);

/// Checks a slice `y` of `x` and returns where it begins, in elements of
/// memory.
Result<int64_t> readSlice(const schedule::KernelT &kernel,
                          const schedule::TypeT &x, const schedule::TypeT &y);

} // namespace vdnn::rt::backend

#endif
