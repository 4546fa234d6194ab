//===- Pool.cu - maximum and mean over windows ----------------------------===//

#include "runtime/backend/cuda/kernels/Pool.cuh"
#include "runtime/backend/cuda/kernels/PoolNine.h"
#include "runtime/backend/cuda/kernels/PoolTiles.h"

namespace vdnn::rt::cuda {

using namespace pool;

/// Taps of the innermost dimension that are loaded together.
constexpr int kTogether = 4;

/// Calls `visit(values, position)` for every place of the window inside the
/// input, in row-major order of the window. `x`: the thread's channels of the
/// image.
template <typename T, int V, typename Visit>
static __device__ void forWindow(const Geometry &g, const T *x, const Taps &t0,
                                 const Taps &t1, const Taps &t2,
                                 const Visit &visit) {
  int64_t step = int64_t{t2.step} * g.channels;
  for (int a = t0.begin; a < t0.end; ++a) {
    int i = t0.first + (a - t0.begin) * t0.step;
    for (int b = t1.begin; b < t1.end; ++b) {
      int j = t1.first + (b - t1.begin) * t1.step;
      const T *from =
          x + int64_t{(i * g.in[1] + j) * g.in[2] + t2.first} * g.channels;
      int position = (a * g.kernel[1] + b) * g.kernel[2];
      for (int c = t2.begin; c < t2.end; c += kTogether) {
        Pack<T, V> packs[kTogether];
#pragma unroll
        for (int u = 0; u < kTogether; ++u) {
          if (c + u < t2.end) {
            load(packs[u], from + u * step);
          }
        }
#pragma unroll
        for (int u = 0; u < kTogether; ++u) {
          if (c + u < t2.end) {
            float values[V];
            widen(values, packs[u]);
            visit(values, position + c + u);
          }
        }
        from += kTogether * step;
      }
    }
  }
}

template <typename T, int V, bool Indexed>
static __device__ void maxPool(const Geometry &g, const void *xs, void *ys,
                               int8_t *indices) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  Taps t0 = Taps::of(g, 0, place.at[0]), t1 = Taps::of(g, 1, place.at[1]),
       t2 = Taps::of(g, 2, place.at[2]);
  // A window of padding alone has no maximum.
  bool none = t0.empty() || t1.empty() || t2.empty();
  int first =
      none ? 0 : (t0.begin * g.kernel[1] + t1.begin) * g.kernel[2] + t2.begin;
  for (int64_t image = blockIdx.y; image < g.batch; image += gridDim.y) {
    float best[V];
    int8_t where[V];
#pragma unroll
    for (int c = 0; c < V; ++c) {
      best[c] = -INFINITY;
      where[c] = static_cast<int8_t>(first);
    }
    const T *x = static_cast<const T *>(xs) +
                 image * g.inPixels() * g.channels + place.channel;
    forWindow<T, V>(g, x, t0, t1, t2,
                    [&](const float(&values)[V], int position) {
#pragma unroll
                      for (int c = 0; c < V; ++c) {
                        if (replaces(values[c], best[c])) {
                          best[c] = values[c];
                          where[c] = static_cast<int8_t>(position);
                        }
                      }
                    });
    int64_t at = image * g.outPixels() * g.channels + int64_t{item} * V;
    store(static_cast<T *>(ys) + at, best);
    if (Indexed) {
      storeRaw(indices + at, where);
    }
  }
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    maxPoolKernel(Geometry g, const void *x, void *y) {
  maxPool<T, V, false>(g, x, y, nullptr);
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    indexedMaxPoolKernel(Geometry g, const void *x, void *y, int8_t *index) {
  maxPool<T, V, true>(g, x, y, index);
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    avgPoolKernel(Geometry g, const void *xs, void *ys) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  Taps t0 = Taps::of(g, 0, place.at[0]), t1 = Taps::of(g, 1, place.at[1]),
       t2 = Taps::of(g, 2, place.at[2]);
  float divisor = g.divisor(place.at);
  for (int64_t image = blockIdx.y; image < g.batch; image += gridDim.y) {
    float sum[V] = {};
    const T *x = static_cast<const T *>(xs) +
                 image * g.inPixels() * g.channels + place.channel;
    forWindow<T, V>(g, x, t0, t1, t2, [&](const float(&values)[V], int) {
#pragma unroll
      for (int c = 0; c < V; ++c) {
        sum[c] += values[c];
      }
    });
#pragma unroll
    for (int c = 0; c < V; ++c) {
      sum[c] /= divisor;
    }
    store(static_cast<T *>(ys) + image * g.outPixels() * g.channels +
              int64_t{item} * V,
          sum);
  }
}

cudaError_t launchMaxPool(const PoolGeometry &geometry, Storage storage,
                          const void *x, void *y, int8_t *index,
                          cudaStream_t stream) {
  if (geometry.channels == 1 && isTiled(geometry, storage)) {
    return launchTiledMaxPool(geometry, storage, x, y, index, stream);
  }
  if (isNine(geometry)) {
    return launchNineMaxPool(geometry, storage, x, y, index, stream);
  }
  if (index) {
    VDNN_LAUNCH_POOL(geometry.out, indexedMaxPoolKernel, x, y, index);
  }
  VDNN_LAUNCH_POOL(geometry.out, maxPoolKernel, x, y);
}

cudaError_t launchAvgPool(const PoolGeometry &geometry, Storage storage,
                          const void *x, void *y, cudaStream_t stream) {
  VDNN_LAUNCH_POOL(geometry.out, avgPoolKernel, x, y);
}

} // namespace vdnn::rt::cuda
