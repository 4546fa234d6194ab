//===- Pool.cuh - windows of a pool ---------------------------------------===//
//
// A thread handles neighbouring channels of one pixel of an image; the second
// dimension of the grid goes over the images.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOL_CUH
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_POOL_CUH

#include "runtime/backend/cuda/kernels/Pool.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

namespace vdnn::rt::cuda::pool {

constexpr int kThreads = 128;

/// A NaN replaces every number and is never replaced; of equal values the first
/// stays.
__device__ inline bool replaces(float value, float best) {
  return !(value <= best) && best == best;
}

/// The geometry with what the kernels divide by. `own` is the extent that
/// threads go over: `out` forward, `in` backward, or strips of them.
struct Geometry : PoolGeometry {
  int items; ///< threads per image
  FastDivide vectors, own1, own2, strides[3], dilations[3];

  Geometry(const PoolGeometry &geometry, const int (&own)[3], int width)
      : PoolGeometry(geometry), vectors(geometry.channels / width),
        own1(own[1]), own2(own[2]) {
    items = own[0] * own[1] * own[2] * (geometry.channels / width);
    for (int d = 0; d < 3; ++d) {
      strides[d] = FastDivide(geometry.stride[d]);
      dilations[d] = FastDivide(geometry.dilation[d]);
    }
  }

  __host__ __device__ int64_t inPixels() const {
    return int64_t{in[0]} * in[1] * in[2];
  }
  __host__ __device__ int64_t outPixels() const {
    return int64_t{out[0]} * out[1] * out[2];
  }

  /// What a mean over the window at `at` divides by.
  __device__ float divisor(const int (&at)[3]) const {
    int count = 1;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      int low = includePad ? -padBegin[d] : 0,
          high = includePad ? in[d] + padEnd[d] : in[d];
      int begin = at[d] * stride[d] - padBegin[d];
      count *= max(min(begin + kernel[d], high) - max(begin, low), 0);
    }
    return static_cast<float>(max(count, 1));
  }
};

/// The pixel and the first channel of a thread.
struct Place {
  int at[3], channel;

  __device__ Place(const Geometry &g, unsigned item, int width) {
    unsigned pixel = g.vectors.divide(item);
    channel = static_cast<int>(item - pixel * g.vectors.divisor()) * width;
    unsigned row = g.own2.divide(pixel), plane = g.own1.divide(row);
    at[0] = static_cast<int>(plane);
    at[1] = static_cast<int>(row - plane * g.own1.divisor());
    at[2] = static_cast<int>(pixel - row * g.own2.divisor());
  }
};

/// The taps [begin, end) of a window along one dimension that lie inside the
/// input, the first at position `first`.
struct Taps {
  int begin, end, first, step;

  __device__ static Taps of(const Geometry &g, int d, int at) {
    Taps taps;
    int start = at * g.stride[d] - g.padBegin[d];
    taps.step = g.dilation[d];
    auto divideUp = [&](int number) {
      return static_cast<int>(
          g.dilations[d].divide(static_cast<unsigned>(number + taps.step - 1)));
    };
    taps.begin = start < 0 ? divideUp(-start) : 0;
    taps.end =
        start < g.in[d] ? min(g.kernel[d], divideUp(g.in[d] - start)) : 0;
    taps.first = start + taps.begin * taps.step;
    return taps;
  }
  __device__ bool empty() const { return begin >= end; }
};

/// The windows [first, last] that reach the input pixel along one dimension.
struct Windows {
  int first, last, padded;

  __device__ static Windows of(const Geometry &g, int d, int at) {
    Windows windows;
    windows.padded = at + g.padBegin[d];
    auto divide = [&](int number) {
      return static_cast<int>(
          g.strides[d].divide(static_cast<unsigned>(number)));
    };
    int reach = (g.kernel[d] - 1) * g.dilation[d];
    windows.first = windows.padded > reach
                        ? divide(windows.padded - reach + g.stride[d] - 1)
                        : 0;
    windows.last = min(g.out[d] - 1, divide(windows.padded));
    return windows;
  }

  /// The pixel's tap in window `at`, or -1 if it lies between two taps.
  __device__ int tap(const Geometry &g, int d, int at) const {
    int distance = padded - at * g.stride[d];
    auto tap = static_cast<int>(
        g.dilations[d].divide(static_cast<unsigned>(distance)));
    return tap * g.dilation[d] == distance ? tap : -1;
  }
};

/// The windows that cover a pixel.
struct CoveringWindows {
  Windows w0, w1, w2;

  __device__ CoveringWindows(const Geometry &g, const int (&pixel)[3])
      : w0(Windows::of(g, 0, pixel[0])), w1(Windows::of(g, 1, pixel[1])),
        w2(Windows::of(g, 2, pixel[2])) {}

  /// Calls `visit(window's coordinates, position of the pixel in it)` for every
  /// window, in ascending order of the position.
  template <typename Visit>
  __device__ void visit(const Geometry &g, const Visit &visit) const {
    for (int i = w0.last; i >= w0.first; --i) {
      int a = w0.tap(g, 0, i);
      for (int j = w1.last; j >= w1.first; --j) {
        int b = w1.tap(g, 1, j);
        for (int k = w2.last; k >= w2.first; --k) {
          int c = w2.tap(g, 2, k);
          if (a >= 0 && b >= 0 && c >= 0) {
            visit({i, j, k}, (a * g.kernel[1] + b) * g.kernel[2] + c);
          }
        }
      }
    }
  }
};

/// Threads take several images where there are enough, and divide once.
inline dim3 blocksOf(const Geometry &g) {
  constexpr int64_t kEnough = 16 * kWaveBlocks, kMostImages = 4;
  int64_t x = ceilDivide(g.items, kThreads),
          images = x * g.batch / kEnough < kMostImages ? x * g.batch / kEnough
                                                       : kMostImages,
          y = ceilDivide(g.batch, images > 1 ? images : 1);
  return {static_cast<unsigned>(x),
          static_cast<unsigned>(y < 65535 ? y : 65535)};
}

/// Launches `kernel<T, channels of a thread>`. `own`: an array, the extent that
/// threads go over.
#define VDNN_LAUNCH_POOL(own, kernel, ...)                                     \
  do {                                                                         \
    int width = vectorWidth(storage, geometry.channels);                       \
    Geometry g(geometry, own, width);                                          \
    if (g.items == 0 || g.batch == 0) {                                        \
      return cudaSuccess;                                                      \
    }                                                                          \
    if (storage == Storage::F32 && width == 1) {                               \
      kernel<float, 1><<<blocksOf(g), kThreads, 0, stream>>>(g, __VA_ARGS__);  \
    } else if (storage == Storage::F32) {                                      \
      kernel<float, 4><<<blocksOf(g), kThreads, 0, stream>>>(g, __VA_ARGS__);  \
    } else if (width == 1) {                                                   \
      kernel<__nv_bfloat16, 1>                                                 \
          <<<blocksOf(g), kThreads, 0, stream>>>(g, __VA_ARGS__);              \
    } else if (width == 4) {                                                   \
      kernel<__nv_bfloat16, 4>                                                 \
          <<<blocksOf(g), kThreads, 0, stream>>>(g, __VA_ARGS__);              \
    } else {                                                                   \
      kernel<__nv_bfloat16, 8>                                                 \
          <<<blocksOf(g), kThreads, 0, stream>>>(g, __VA_ARGS__);              \
    }                                                                          \
    return cudaGetLastError();                                                 \
  } while (false)

} // namespace vdnn::rt::cuda::pool

#endif
