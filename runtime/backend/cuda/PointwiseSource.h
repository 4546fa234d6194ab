//===- PointwiseSource.h - a scalar program as CUDA C ---------------------===//
//
// One pass over memory: a thread loads its elements of every operand, in
// vectors of 16 bytes where the shapes allow, computes the program on each, and
// stores the results. Every thread reads its places before it writes them, and
// no other thread touches them, which is what makes in-place results safe.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_POINTWISESOURCE_H
#define VDNN_RUNTIME_BACKEND_CUDA_POINTWISESOURCE_H

#include "runtime/backend/common/Checks.h"

#include <string>
#include <vector>

namespace vdnn::rt::cuda {

struct PointwiseSource {
  /// The name of the kernel in `text`. Its parameters: a pointer per operand,
  /// one per result, and the number of elements (`indexBytes` wide).
  static constexpr const char *kName = "pointwise";
  static constexpr int64_t kBlockSize = 256;

  /// The same for equal programs on equal types; where all operands are of full
  /// shape or scalars it does not depend on the shape, so that one compilation
  /// serves many layers.
  std::string text;
  int64_t elements = 0;
  int64_t elementsPerThread = 1;
  size_t indexBytes = 4;
  std::vector<schedule::InPlace> inPlace;

  int64_t blocks() const;
};

/// Refuses what the program or the types do not allow. `multiprocessors`: of
/// the GPU; small tensors are spread over all of them.
Result<PointwiseSource> generatePointwise(const schedule::KernelT &kernel,
                                          const LaunchTypes &types,
                                          int multiprocessors);

} // namespace vdnn::rt::cuda

#endif
