//===- Pad.cu -------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Pad.h"

namespace vdnn::rt::cuda {

static constexpr int kThreads = 256;

/// A row of 16 bytes in pieces that any row consists of.
union Row {
  uint4 whole;
  uint16_t pieces[8];
};

static __global__ void __launch_bounds__(kThreads)
    pad(int64_t rows, int pieces, const uint16_t *__restrict__ from,
        uint4 *__restrict__ to) {
  int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) {
    return;
  }
  Row filled = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    filled.pieces[i] = i < pieces ? from[row * pieces + i] : 0;
  }
  to[row] = filled.whole;
}

static __global__ void __launch_bounds__(kThreads)
    cut(int64_t rows, int pieces, const uint4 *__restrict__ from,
        uint16_t *__restrict__ to) {
  int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) {
    return;
  }
  Row filled;
  filled.whole = from[row];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i < pieces) {
      to[row * pieces + i] = filled.pieces[i];
    }
  }
}

static unsigned blocksOf(const PadShape &shape) {
  return static_cast<unsigned>((shape.rows + kThreads - 1) / kThreads);
}

cudaError_t launchPad(const PadShape &shape, const void *from, void *to,
                      cudaStream_t stream) {
  pad<<<blocksOf(shape), kThreads, 0, stream>>>(
      shape.rows, shape.rowBytes / 2, static_cast<const uint16_t *>(from),
      static_cast<uint4 *>(to));
  return cudaGetLastError();
}

cudaError_t launchCut(const PadShape &shape, const void *from, void *to,
                      cudaStream_t stream) {
  cut<<<blocksOf(shape), kThreads, 0, stream>>>(
      shape.rows, shape.rowBytes / 2, static_cast<const uint4 *>(from),
      static_cast<uint16_t *>(to));
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
