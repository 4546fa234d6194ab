//===- ColumnSum.h - sums over the rows of a matrix -----------------------===//
//
// The gradient of a bias. Two passes: blocks sum parts of the rows into the
// workspace, then the parts are summed in order. Everything about the order
// follows from the shape.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_COLUMNSUM_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_COLUMNSUM_H

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// How a packed row-major matrix, or a batch of them (rows, columns, pixels),
/// is cut into blocks of threads.
struct ColumnSum {
  int64_t rows = 0, columns = 0;
  int64_t pixels = 0; ///< 0: there are none, elements of a row are neighbours
  int vector = 1;     ///< columns of a thread
  int threadsX = 1;   ///< threads side by side; a power of two
  int64_t parts = 1, rowsPerPart = 0;

  /// Neither `rows` nor `columns` is 0.
  static ColumnSum plan(int64_t rows, int64_t columns, int elementBytes);
  /// Of images with their channels as planes: sums over `batch` and `pixels`.
  static ColumnSum planPlanes(int64_t batch, int64_t channels, int64_t pixels,
                              int elementBytes);

  uint64_t workspaceBytes() const { return parts * columns * sizeof(float); }
};

/// x (rows, columns) or (rows, columns, pixels), aligned to 16 bytes, to sums
/// (columns).
cudaError_t launchColumnSum(const ColumnSum &plan, const float *x, float *parts,
                            float *sums, cudaStream_t stream);
cudaError_t launchColumnSum(const ColumnSum &plan, const __nv_bfloat16 *x,
                            float *parts, float *sums, cudaStream_t stream);
cudaError_t launchColumnSum(const ColumnSum &plan, const __nv_bfloat16 *x,
                            float *parts, __nv_bfloat16 *sums,
                            cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
