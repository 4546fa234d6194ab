//===- Reduce.h - reductions over any axes --------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_REDUCE_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_REDUCE_H

#include <cstdint>
#include <cuda_runtime.h>
#include <vector>

namespace vdnn::rt::cuda {

enum class ReduceKind { Sum, Mean, Max, Min, Prod, SumSquare };
enum class ReduceElement { F32, F64, I64, I32, BF16 };

struct ReduceDim {
  int64_t size;
  bool reduced;
};

/// Some dimensions of the tensor in the order of memory, strides in units of
/// `ReduceGrid::width` elements.
struct ReduceAxes {
  static constexpr int kMost = 6;
  int count = 0;
  int64_t size[kMost] = {}, stride[kMost] = {};
  int64_t total = 1;
};

/// How blocks share the work: threads of a block lie along the kept and along
/// the reduced dimensions, and blocks along chunks of the reduced ones.
struct ReduceGrid {
  ReduceAxes kept, reduced;
  int width = 1;             ///< neighbouring elements of a thread
  bool innerReduced = false; ///< they are reduced, else kept
  int threadsKept = 1, threadsReduced = 1;
  int64_t blocks = 1, chunks = 1, chunkSize = 1;
  bool fits = true; ///< false: more dimensions than `ReduceAxes::kMost`

  /// `dims`: in the order of memory, outermost first, kinds alternating, none
  /// of one element. `widest`: of `width`, which divides the innermost one.
  /// `chunked`: may leave partial results of chunks.
  static ReduceGrid of(const std::vector<ReduceDim> &dims, int widest,
                       bool chunked);

  int64_t results() const {
    return innerReduced ? kept.total : kept.total * width;
  }
};

class Reduce {
public:
  /// `wide`: the result of a bf16 operand is f32.
  Reduce(const std::vector<ReduceDim> &dims, ReduceKind kind,
         ReduceElement element, bool wide = false);

  bool fits() const { return grid_.fits; }
  /// Results of chunks, eight bytes each.
  uint64_t workspaceBytes() const;
  cudaError_t launch(const void *x, void *y, void *workspace,
                     cudaStream_t stream) const;
  const ReduceGrid &grid() const { return grid_; }

private:
  ReduceKind kind_;
  ReduceElement element_;
  bool wide_;
  int64_t reducedElements_ = 1;
  ReduceGrid grid_, join_;
};

} // namespace vdnn::rt::cuda

#endif
