//===- Lrn.cu -------------------------------------------------------------===//
//
// A block handles whole rows of channels: as many as make some elements for
// every thread.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Lrn.h"

#include "runtime/backend/cuda/kernels/FastDivide.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

#include <algorithm>

namespace vdnn::rt::cuda {

constexpr int kThreads = 256;
/// Elements that a block handles, where rows are shorter.
constexpr int kBlockElements = 2048;

namespace {
struct Geometry : LrnShape {
  int blockRows;
  int64_t pieces; ///< each the rows of one block
  FastDivide row;

  explicit Geometry(const LrnShape &shape)
      : LrnShape(shape),
        blockRows(std::max(kBlockElements / shape.channels, 1)),
        pieces(ceilDivide(shape.rows, blockRows)), row(shape.channels) {}

  unsigned blocks() const {
    return static_cast<unsigned>(std::min<int64_t>(pieces, 1 << 30));
  }
};
} // namespace

/// The elements of a block's rows, numbered from the first of them.
struct BlockRows {
  int64_t begin;
  int count;

  __device__ static BlockRows of(const Geometry &g, int64_t piece) {
    int64_t first = piece * g.blockRows, rows = g.rows - first;
    return {first * g.channels,
            static_cast<int>(rows < g.blockRows ? rows : g.blockRows) *
                g.channels};
  }
};

/// Sum of `value(i + d)` for the channels d in [-below, above] around element
/// i.
template <typename Value>
static __device__ float windowSum(const Geometry &g, int i, int below,
                                  int above, const Value &value) {
  int channel =
      i - static_cast<int>(g.row.divide(static_cast<unsigned>(i))) * g.channels;
  int first = i - min(below, channel),
      last = i + min(above, g.channels - 1 - channel);
  float sum = 0;
  for (int j = first; j <= last; ++j) {
    sum += value(j);
  }
  return sum;
}

/// base ^ -beta. The usual exponent needs square roots only.
static __device__ float negativePower(float base, float beta) {
  if (beta == 0.75f) {
    float root = sqrtf(base);
    return 1.0f / (root * sqrtf(root));
  }
  return powf(base, -beta);
}

template <typename T>
static __device__ float baseAt(const Geometry &g, const T *x, int i) {
  float squares = windowSum(g, i, g.below, g.above, [&](int j) {
    float value = toFloat(x[j]);
    return value * value;
  });
  return g.bias + g.alphaOverSize * squares;
}

template <typename T>
static __global__ void __launch_bounds__(kThreads)
    forwardKernel(Geometry g, const T *x, T *y) {
  for (int64_t piece = blockIdx.x; piece < g.pieces; piece += gridDim.x) {
    BlockRows rows = BlockRows::of(g, piece);
    const T *own = x + rows.begin;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < rows.count; i += kThreads) {
      float power = negativePower(baseAt(g, own, i), g.beta);
      fromFloat(y[rows.begin + i], toFloat(own[i]) * power);
    }
  }
}

/// dx[i] = dy[i] * base[i]^-beta - 2 alpha beta / size * x[i] * sum over the
/// windows j that hold i of dy[j] x[j] base[j]^(-beta - 1).
template <typename T>
static __global__ void __launch_bounds__(kThreads)
    backwardKernel(Geometry g, const T *dy, const T *x, T *dx) {
  extern __shared__ float shared[];
  float *power = shared, *product = shared + g.blockRows * g.channels;
  float factor = 2.0f * g.alphaOverSize * g.beta;
  for (int64_t piece = blockIdx.x; piece < g.pieces; piece += gridDim.x) {
    BlockRows rows = BlockRows::of(g, piece);
    const T *ownX = x + rows.begin, *ownDy = dy + rows.begin;
    for (int i = static_cast<int>(threadIdx.x); i < rows.count; i += kThreads) {
      float base = baseAt(g, ownX, i);
      power[i] = negativePower(base, g.beta);
      product[i] = toFloat(ownDy[i]) * toFloat(ownX[i]) * power[i] / base;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < rows.count; i += kThreads) {
      float sum =
          windowSum(g, i, g.above, g.below, [&](int j) { return product[j]; });
      fromFloat(dx[rows.begin + i],
                toFloat(ownDy[i]) * power[i] - factor * toFloat(ownX[i]) * sum);
    }
    __syncthreads();
  }
}

template <typename T>
static cudaError_t launchForward(const Geometry &g, const void *x, void *y,
                                 cudaStream_t stream) {
  forwardKernel<T><<<g.blocks(), kThreads, 0, stream>>>(
      g, static_cast<const T *>(x), static_cast<T *>(y));
  return cudaGetLastError();
}

cudaError_t launchLrn(const LrnShape &shape, Storage storage, const void *x,
                      void *y, cudaStream_t stream) {
  if (shape.rows == 0) {
    return cudaSuccess;
  }
  Geometry g(shape);
  return storage == Storage::F32
             ? launchForward<float>(g, x, y, stream)
             : launchForward<__nv_bfloat16>(g, x, y, stream);
}

template <typename T>
static cudaError_t launchBackward(const Geometry &g, const void *dy,
                                  const void *x, void *dx,
                                  cudaStream_t stream) {
  size_t bytes = 2 * sizeof(float) * static_cast<size_t>(g.blockRows) *
                 static_cast<size_t>(g.channels);
  backwardKernel<T><<<g.blocks(), kThreads, bytes, stream>>>(
      g, static_cast<const T *>(dy), static_cast<const T *>(x),
      static_cast<T *>(dx));
  return cudaGetLastError();
}

cudaError_t launchLrnBackward(const LrnShape &shape, Storage storage,
                              const void *dy, const void *x, void *dx,
                              cudaStream_t stream) {
  if (shape.rows == 0) {
    return cudaSuccess;
  }
  Geometry g(shape);
  return storage == Storage::F32
             ? launchBackward<float>(g, dy, x, dx, stream)
             : launchBackward<__nv_bfloat16>(g, dy, x, dx, stream);
}

} // namespace vdnn::rt::cuda
