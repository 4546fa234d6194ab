//===- BatchNorm.cuh - loops and sums of batch normalisation --------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BATCHNORM_CUH
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BATCHNORM_CUH

#include "runtime/backend/cuda/kernels/BatchNorm.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

namespace vdnn::rt::cuda::norm {

constexpr int kThreads = 256;
/// Channels and lines of threads of the kernels that join chunks.
constexpr int kJoinX = 32, kJoinY = 32;

/// The rows of one thread: every `step`-th from `first` below `end`.
struct Rows {
  int64_t first, end;
  int step;

  __device__ static Rows of(const NormGrid &g) {
    int64_t begin = blockIdx.y * g.chunkRows,
            end = begin + g.chunkRows < g.rows ? begin + g.chunkRows : g.rows;
    return {begin + threadIdx.y, end, static_cast<int>(blockDim.y)};
  }
};

/// The first channel of the thread; it has none if that is not below
/// `g.channels`.
__device__ inline int firstChannel(const NormGrid &g) {
  return (static_cast<int>(blockIdx.x) * g.threadsX +
          static_cast<int>(threadIdx.x)) *
         g.width;
}

/// What a normalised value is multiplied by.
__device__ inline float normalFactor(float scale, float inverse) {
  return __fmul_rn(scale, inverse);
}

/// A normalised value, from `normalFactor`. Forward and backward kernels have
/// it from here and in given instructions: where a ReLU let through is found
/// again bit for bit.
__device__ inline float normalValue(float x, float mean, float factor,
                                    float bias) {
  return __fmaf_rn(__fsub_rn(x, mean), factor, bias);
}

/// Blocks that a multiprocessor holds at least, by channels of a thread: what a
/// thread knows of eight needs the registers of two blocks.
template <int V>
constexpr int kLeastBlocks = V == 8 ? 2 : 4;

/// N sums of a thread, in double precision.
template <typename T, int N>
class ThreadSums {
public:
  using Value = double;

  __device__ explicit ThreadSums(double *) {}
  __device__ void add(int i, double value) { sums_[i] += value; }
  __device__ void endRows(int) {}
  __device__ void finish(double (&sums)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      sums[i] = sums_[i];
    }
  }

private:
  double sums_[N] = {};
};

/// Rows whose sums f32 holds.
constexpr int kRowsInFloat = 16;

/// Of bf16: f32 holds the sums of a few rows to many more digits than the
/// values have. What they add up to is in double precision too, in shared
/// memory: as many doubles as eight channels need are too many for registers.
template <int N>
class ThreadSums<__nv_bfloat16, N> {
public:
  using Value = float;

  /// `shared`: N x kThreads, left to `sumLines` afterwards.
  __device__ explicit ThreadSums(double *shared)
      : totals_(shared + threadIdx.y * blockDim.x + threadIdx.x) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      totals_[i * kThreads] = 0;
    }
  }
  __device__ void add(int i, float value) { sums_[i] += value; }
  /// To be called after a few rows.
  __device__ void endRows(int rows) {
    rows_ += rows;
    if (rows_ >= kRowsInFloat) {
      flush();
      rows_ = 0;
    }
  }
  __device__ void finish(double (&sums)[N]) {
    flush();
#pragma unroll
    for (int i = 0; i < N; ++i) {
      sums[i] = totals_[i * kThreads];
    }
  }

private:
  __device__ void flush() {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      totals_[i * kThreads] += sums_[i];
      sums_[i] = 0;
    }
  }

  double *totals_;
  float sums_[N] = {};
  int rows_ = 0; ///< that they are of
};

/// Sums over the lines of the block, in a fixed order; valid in line 0.
/// `shared`: N x kThreads.
template <typename T, int N>
__device__ inline void sumLines(T (&values)[N], T *shared) {
  int lanes = static_cast<int>(blockDim.x),
      self =
          static_cast<int>(threadIdx.y) * lanes + static_cast<int>(threadIdx.x),
      threads = static_cast<int>(blockDim.y) * lanes;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    shared[i * threads + self] = values[i];
  }
  for (int half = static_cast<int>(blockDim.y) / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.y) < half) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        values[i] += shared[i * threads + self + half * lanes];
        shared[i * threads + self] = values[i];
      }
    }
  }
}

/// Leaves the block's sums, N of each channel of the thread, for the kernel
/// that joins the chunks.
template <int N, int V>
__device__ inline void writeSums(double *sums, double (&values)[N * V],
                                 int channel, const NormGrid &g) {
  if (threadIdx.y != 0 || channel >= g.channels) {
    return;
  }
  double *to = sums + int64_t{blockIdx.y} * N * g.channels + channel;
#pragma unroll
  for (int i = 0; i < N; ++i) {
#pragma unroll
    for (int c = 0; c < V; ++c) {
      to[int64_t{i} * g.channels + c] = values[i * V + c];
    }
  }
}

/// The sums of all chunks of one channel per column of the block; valid in line
/// 0. `shared`: N x kJoinX x kJoinY.
template <int N>
__device__ inline void joinChunks(double (&values)[N], const double *sums,
                                  int channel, const NormGrid &g,
                                  double *shared) {
  if (channel < g.channels) {
#pragma unroll 4
    for (int chunk = static_cast<int>(threadIdx.y); chunk < g.chunks;
         chunk += kJoinY) {
      const double *from = sums + int64_t{chunk} * N * g.channels + channel;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        values[i] += from[int64_t{i} * g.channels];
      }
    }
  }
  sumLines(values, shared);
}

/// Launches `kernel<T, channels of a thread>` over the grid.
#define VDNN_LAUNCH_NORM(kernel, ...)                                          \
  do {                                                                         \
    dim3 blocks(static_cast<unsigned>(grid.blocksX),                           \
                static_cast<unsigned>(grid.chunks)),                           \
        threads(static_cast<unsigned>(grid.threadsX),                          \
                static_cast<unsigned>(grid.threadsY));                         \
    if (storage == Storage::F32 && grid.width == 1) {                          \
      kernel<float, 1><<<blocks, threads, 0, stream>>>(__VA_ARGS__);           \
    } else if (storage == Storage::F32) {                                      \
      kernel<float, 4><<<blocks, threads, 0, stream>>>(__VA_ARGS__);           \
    } else if (grid.width == 1) {                                              \
      kernel<__nv_bfloat16, 1><<<blocks, threads, 0, stream>>>(__VA_ARGS__);   \
    } else if (grid.width == 8) {                                              \
      kernel<__nv_bfloat16, 8><<<blocks, threads, 0, stream>>>(__VA_ARGS__);   \
    } else {                                                                   \
      kernel<__nv_bfloat16, 4><<<blocks, threads, 0, stream>>>(__VA_ARGS__);   \
    }                                                                          \
  } while (false)

} // namespace vdnn::rt::cuda::norm

#endif
