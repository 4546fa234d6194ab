//===- Bias.cu ------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Bias.h"

#include "runtime/backend/cuda/kernels/Storage.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

#include <algorithm>

namespace vdnn::rt::cuda {

static constexpr int kThreads = 256;
/// Vectors of a thread, all loaded before the first is stored.
static constexpr int kUnroll = 4;

static __device__ float addBias(float value, float bias, bool relu) {
  value += bias;
  return relu && value <= 0 ? 0 : value;
}

/// Block column `blockIdx.x` works on pixels, each `vectors` vectors of
/// channels.
template <int V>
static __global__ void __launch_bounds__(kThreads)
    addToPixels(float *__restrict__ y, const float *__restrict__ bias,
                int64_t count, unsigned vectors, bool relu) {
  int64_t first =
      static_cast<int64_t>(blockIdx.x) * (kThreads * kUnroll) + threadIdx.x;
  float values[kUnroll][V];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (first + u * kThreads < count) {
      load(values[u], y + (first + u * kThreads) * V);
    }
  }
  // One division for all: the others are a known distance further.
  auto at = static_cast<unsigned>(first % vectors);
  unsigned step = kThreads % vectors;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (first + u * kThreads < count) {
#pragma unroll
      for (int i = 0; i < V; ++i) {
        values[u][i] = addBias(values[u][i], bias[at * V + i], relu);
      }
      store(y + (first + u * kThreads) * V, values[u]);
    }
    at += step;
    at -= at >= vectors ? vectors : 0;
  }
}

/// A block works on one plane at a time.
template <int V>
static __global__ void __launch_bounds__(kThreads)
    addToPlanes(float *__restrict__ y, const float *__restrict__ bias,
                int64_t planes, unsigned channels, int64_t pixels, bool relu) {
  for (int64_t plane = blockIdx.x; plane < planes; plane += gridDim.x) {
    float added = bias[plane % channels];
    float *from = y + plane * pixels;
#pragma unroll 4
    for (int64_t at = static_cast<int64_t>(threadIdx.x) * V; at < pixels;
         at += static_cast<int64_t>(blockDim.x) * V) {
      float values[V];
      load(values, from + at);
#pragma unroll
      for (int i = 0; i < V; ++i) {
        values[i] = addBias(values[i], added, relu);
      }
      store(from + at, values);
    }
  }
}

template <int V>
static cudaError_t launch(const BiasShape &shape, float *y, const float *bias,
                          bool relu, cudaStream_t stream) {
  if (shape.batch * shape.pixels * shape.channels == 0) {
    return cudaSuccess;
  }
  auto channels = static_cast<unsigned>(shape.channels);
  if (shape.channelsLast) {
    int64_t count = shape.batch * shape.pixels * shape.channels / V;
    auto blocks = static_cast<unsigned>(ceilDivide(count, kThreads * kUnroll));
    addToPixels<V>
        <<<blocks, kThreads, 0, stream>>>(y, bias, count, channels / V, relu);
  } else {
    int64_t planes = shape.batch * shape.channels;
    auto threads = static_cast<unsigned>(
        powerOfTwo(ceilDivide(shape.pixels, V * kUnroll), 32, kThreads));
    auto blocks = static_cast<unsigned>(std::min<int64_t>(planes, INT32_MAX));
    addToPlanes<V><<<blocks, threads, 0, stream>>>(y, bias, planes, channels,
                                                   shape.pixels, relu);
  }
  return cudaGetLastError();
}

cudaError_t launchAddBias(const BiasShape &shape, float *y, const float *bias,
                          bool relu, cudaStream_t stream) {
  int64_t inner = shape.channelsLast ? shape.channels : shape.pixels;
  constexpr int kVector = kWide<float>;
  return inner % kVector == 0 ? launch<kVector>(shape, y, bias, relu, stream)
                              : launch<1>(shape, y, bias, relu, stream);
}

} // namespace vdnn::rt::cuda
