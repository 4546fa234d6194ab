//===- ColumnSum.cu -------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/ColumnSum.h"

#include "runtime/backend/cuda/kernels/Storage.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

#include <algorithm>

namespace vdnn::rt::cuda {

static constexpr int kThreads = 256;
/// Blocks of the first pass: enough for every multiprocessor of any GPU of
/// today to have several.
static constexpr int64_t kBlocks = 1056;
/// Loads that a thread has in flight.
static constexpr int kUnroll = 4;
/// The second pass: columns of a block, and threads that share one.
static constexpr int kColumns = 32, kLanes = kThreads / kColumns;

ColumnSum ColumnSum::plan(int64_t rows, int64_t columns, int elementBytes) {
  ColumnSum result;
  result.rows = rows;
  result.columns = columns;
  int vector = 16 / elementBytes;
  result.vector = columns % vector == 0 ? vector : 1;
  int64_t threads = columns / result.vector;
  result.threadsX = static_cast<int>(powerOfTwo(threads, 1, 32));
  int64_t tiles = ceilDivide(threads, result.threadsX);
  int64_t step = kThreads / result.threadsX * kUnroll;
  int64_t parts =
      std::clamp<int64_t>(kBlocks / tiles, 1, ceilDivide(rows, step));
  result.rowsPerPart = ceilDivide(ceilDivide(rows, parts), step) * step;
  result.parts = ceilDivide(rows, result.rowsPerPart);
  return result;
}

ColumnSum ColumnSum::planPlanes(int64_t batch, int64_t channels, int64_t pixels,
                                int elementBytes) {
  ColumnSum result;
  result.rows = batch;
  result.columns = channels;
  result.pixels = pixels;
  int vector = 16 / elementBytes;
  result.vector = pixels % vector == 0 ? vector : 1;
  int64_t parts = std::clamp<int64_t>(kBlocks / channels, 1, batch);
  result.rowsPerPart = ceilDivide(batch, parts);
  result.parts = ceilDivide(batch, result.rowsPerPart);
  return result;
}

//===----------------------------------------------------------------------===//
// First pass
//===----------------------------------------------------------------------===//

template <typename T, int N>
static __device__ void addTo(float (&sums)[N], const Pack<T, N> &pack) {
  float values[N];
  widen(values, pack);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sums[i] += values[i];
  }
}

/// A block sums `rowsPerPart` rows of `blockDim.x * N` columns; its threads
/// stand in rows of `blockDim.x`.
template <typename T, int N>
static __global__ void __launch_bounds__(kThreads)
    sumParts(const T *__restrict__ x, float *__restrict__ parts, int64_t rows,
             int64_t columns, int64_t rowsPerPart) {
  int64_t column =
      (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
  int64_t begin = blockIdx.y * rowsPerPart;
  int64_t end = min(begin + rowsPerPart, rows);
  float sums[kUnroll][N] = {};
  if (column < columns) {
    int64_t step = blockDim.y;
    int64_t row = begin + threadIdx.y;
    const T *at = x + row * columns + column;
    int64_t stride = step * columns;
    for (; row + (kUnroll - 1) * step < end; row += kUnroll * step) {
      Pack<T, N> loaded[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        load(loaded[u], at + u * stride);
      }
      at += kUnroll * stride;
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        addTo(sums[u], loaded[u]);
      }
    }
    for (; row < end; row += step, at += stride) {
      Pack<T, N> loaded;
      load(loaded, at);
      addTo(sums[0], loaded);
    }
  }
  __shared__ float shared[kThreads * N];
  int thread = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    float sum = sums[0][i];
#pragma unroll
    for (int u = 1; u < kUnroll; ++u) {
      sum += sums[u][i];
    }
    shared[i * kThreads + thread] = sum;
  }
  for (int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        shared[i * kThreads + thread] +=
            shared[i * kThreads + thread + half * blockDim.x];
      }
    }
  }
  if (threadIdx.y == 0 && column < columns) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      parts[blockIdx.y * columns + column + i] = shared[i * kThreads + thread];
    }
  }
}

/// A block sums one channel of `rowsPerPart` images.
template <typename T, int N>
static __global__ void __launch_bounds__(kThreads)
    sumPlanes(const T *__restrict__ x, float *__restrict__ parts, int64_t batch,
              int64_t channels, int64_t pixels, int64_t rowsPerPart) {
  int64_t begin = blockIdx.y * rowsPerPart;
  int64_t end = min(begin + rowsPerPart, batch);
  // Threads walk through the planes as if they were neighbours, so that small
  // ones keep all busy.
  int64_t vectors = pixels / N;
  int64_t step = kThreads % vectors, steps = kThreads / vectors;
  int64_t image = begin + threadIdx.x / vectors, at = threadIdx.x % vectors;
  float sums[N] = {};
#pragma unroll 4
  while (image < end) {
    Pack<T, N> loaded;
    load(loaded, x + (image * channels + blockIdx.x) * pixels + at * N);
    addTo(sums, loaded);
    image += steps;
    at += step;
    if (at >= vectors) {
      at -= vectors;
      ++image;
    }
  }
  __shared__ float shared[kThreads];
  float sum = sums[0];
#pragma unroll
  for (int i = 1; i < N; ++i) {
    sum += sums[i];
  }
  shared[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.y * channels + blockIdx.x] = shared[0];
  }
}

//===----------------------------------------------------------------------===//
// Second pass
//===----------------------------------------------------------------------===//

template <typename Out>
static __global__ void __launch_bounds__(kThreads)
    sumColumns(const float *__restrict__ parts, Out *__restrict__ sums,
               int64_t count, int64_t columns) {
  int64_t column = static_cast<int64_t>(blockIdx.x) * kColumns + threadIdx.x;
  double sum = 0;
  if (column < columns) {
#pragma unroll 8
    for (int64_t part = threadIdx.y; part < count; part += kLanes) {
      sum += parts[part * columns + column];
    }
  }
  __shared__ double shared[kLanes][kColumns];
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    for (int lane = 1; lane < kLanes; ++lane) {
      sum += shared[lane][threadIdx.x];
    }
    fromFloat(sums[column], static_cast<float>(sum));
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

template <typename T, int N>
static void launchFirst(const ColumnSum &plan, const T *x, float *parts,
                        cudaStream_t stream) {
  auto count = static_cast<unsigned>(plan.parts);
  if (plan.pixels > 0) {
    dim3 grid(static_cast<unsigned>(plan.columns), count);
    sumPlanes<T, N><<<grid, kThreads, 0, stream>>>(
        x, parts, plan.rows, plan.columns, plan.pixels, plan.rowsPerPart);
    return;
  }
  int64_t tiles = ceilDivide(plan.columns, plan.threadsX * plan.vector);
  dim3 grid(static_cast<unsigned>(tiles), count);
  dim3 block(plan.threadsX, kThreads / plan.threadsX);
  sumParts<T, N><<<grid, block, 0, stream>>>(x, parts, plan.rows, plan.columns,
                                             plan.rowsPerPart);
}

template <typename T, typename Out>
static cudaError_t launch(const ColumnSum &plan, const T *x, float *parts,
                          Out *sums, cudaStream_t stream) {
  if (plan.vector == kWide<T>) {
    launchFirst<T, kWide<T>>(plan, x, parts, stream);
  } else {
    launchFirst<T, 1>(plan, x, parts, stream);
  }
  if (cudaError_t code = cudaGetLastError(); code != cudaSuccess) {
    return code;
  }
  sumColumns<<<static_cast<unsigned>(ceilDivide(plan.columns, kColumns)),
               dim3(kColumns, kLanes), 0, stream>>>(parts, sums, plan.parts,
                                                    plan.columns);
  return cudaGetLastError();
}

cudaError_t launchColumnSum(const ColumnSum &plan, const float *x, float *parts,
                            float *sums, cudaStream_t stream) {
  return launch(plan, x, parts, sums, stream);
}

cudaError_t launchColumnSum(const ColumnSum &plan, const __nv_bfloat16 *x,
                            float *parts, float *sums, cudaStream_t stream) {
  return launch(plan, x, parts, sums, stream);
}

cudaError_t launchColumnSum(const ColumnSum &plan, const __nv_bfloat16 *x,
                            float *parts, __nv_bfloat16 *sums,
                            cudaStream_t stream) {
  return launch(plan, x, parts, sums, stream);
}

} // namespace vdnn::rt::cuda
