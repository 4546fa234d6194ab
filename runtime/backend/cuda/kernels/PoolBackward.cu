//===- PoolBackward.cu - gradients of pools -------------------------------===//
//
// Every pixel of the input gathers from the windows that cover it, in a fixed
// order.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Pool.cuh"
#include "runtime/backend/cuda/kernels/PoolNine.h"
#include "runtime/backend/cuda/kernels/PoolTiles.h"

namespace vdnn::rt::cuda {

using namespace pool;

/// Offset of a window's channels within its image.
static __device__ int64_t windowOffset(const Geometry &g, const int (&at)[3],
                                       int channel) {
  return int64_t{(at[0] * g.out[1] + at[1]) * g.out[2] + at[2]} * g.channels +
         channel;
}

/// For every image: sums what `add(sum, offset of the window's channels, its
/// coordinates, position of the pixel in it, offset of the pixel's channels)`
/// adds, and stores it.
template <typename T, int V, typename Add>
static __device__ void gather(const Geometry &g, void *dx, const Add &add) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  CoveringWindows windows(g, place.at);
  for (int64_t image = blockIdx.y; image < g.batch; image += gridDim.y) {
    float sum[V] = {};
    int64_t out = image * g.outPixels() * g.channels,
            pixel = image * g.inPixels() * g.channels + int64_t{item} * V;
    windows.visit(g, [&](const int(&at)[3], int position) {
      add(sum, out + windowOffset(g, at, place.channel), at, position, pixel);
    });
    store(static_cast<T *>(dx) + pixel, sum);
  }
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    indexedKernel(Geometry g, const void *dy, const int8_t *index, void *dx) {
  gather<T, V>(g, dx,
               [&](float(&sum)[V], int64_t window, const int(&)[3],
                   int position, int64_t) {
                 float gradient[V];
                 int8_t where[V];
                 load(gradient, static_cast<const T *>(dy) + window);
                 loadRaw(where, index + window);
#pragma unroll
                 for (int c = 0; c < V; ++c) {
                   sum[c] += where[c] == position ? gradient[c] : 0.0f;
                 }
               });
}

static __device__ bool same(float x, float y) {
  return x == y || (x != x && y != y);
}

/// Clears the bits of `hits`, one per channel, whose maximum `largest` lies at
/// an earlier place of the window too. `x`: the channels of the image.
template <typename T, int V>
static __device__ unsigned firstHits(const Geometry &g, unsigned hits,
                                     const float (&largest)[V], const T *x,
                                     const int (&at)[3], int position) {
  Taps t0 = Taps::of(g, 0, at[0]), t1 = Taps::of(g, 1, at[1]),
       t2 = Taps::of(g, 2, at[2]);
  for (int a = t0.begin; a < t0.end; ++a) {
    int i = t0.first + (a - t0.begin) * t0.step;
    for (int b = t1.begin; b < t1.end; ++b) {
      int j = t1.first + (b - t1.begin) * t1.step;
      for (int c = t2.begin; c < t2.end; ++c) {
        if (hits == 0 || (a * g.kernel[1] + b) * g.kernel[2] + c >= position) {
          return hits;
        }
        int k = t2.first + (c - t2.begin) * t2.step;
        float values[V];
        load(values, x + int64_t{(i * g.in[1] + j) * g.in[2] + k} * g.channels);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          hits &= same(values[v], largest[v]) ? ~(1u << v) : ~0u;
        }
      }
    }
  }
  return hits;
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    forwardKernel(Geometry g, const void *dy, const void *xs, const void *ys,
                  void *dx) {
  const T *x = static_cast<const T *>(xs), *y = static_cast<const T *>(ys);
  int64_t imageElements = g.inPixels() * g.channels;
  gather<T, V>(
      g, dx,
      [&](float(&sum)[V], int64_t window, const int(&at)[3], int position,
          int64_t pixel) {
        float own[V], largest[V], gradient[V];
        load(own, x + pixel);
        load(largest, y + window);
        load(gradient, static_cast<const T *>(dy) + window);
        unsigned hits = 0;
#pragma unroll
        for (int c = 0; c < V; ++c) {
          hits |= same(own[c], largest[c]) ? 1u << c : 0u;
        }
        if (hits != 0) {
          const T *channels =
              x + pixel / imageElements * imageElements + pixel % g.channels;
          hits = firstHits<T, V>(g, hits, largest, channels, at, position);
        }
#pragma unroll
        for (int c = 0; c < V; ++c) {
          sum[c] += hits >> c & 1 ? gradient[c] : 0.0f;
        }
      });
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    avgKernel(Geometry g, const void *dy, void *dx) {
  gather<T, V>(
      g, dx,
      [&](float(&sum)[V], int64_t window, const int(&at)[3], int, int64_t) {
        float gradient[V], divisor = g.divisor(at);
        load(gradient, static_cast<const T *>(dy) + window);
#pragma unroll
        for (int c = 0; c < V; ++c) {
          sum[c] += gradient[c] / divisor;
        }
      });
}

cudaError_t launchMaxPoolBackwardIndexed(const PoolGeometry &geometry,
                                         Storage storage, const void *dy,
                                         const int8_t *index, void *dx,
                                         cudaStream_t stream) {
  if (isTiled(geometry, storage)) {
    return launchTiledMaxPoolBackward(geometry, storage, dy, index, dx, stream);
  }
  if (isNine(geometry)) {
    return launchNineMaxPoolBackward(geometry, storage, dy, index, dx, stream);
  }
  VDNN_LAUNCH_POOL(geometry.in, indexedKernel, dy, index, dx);
}

cudaError_t launchMaxPoolBackward(const PoolGeometry &geometry, Storage storage,
                                  const void *dy, const void *x, const void *y,
                                  void *dx, cudaStream_t stream) {
  VDNN_LAUNCH_POOL(geometry.in, forwardKernel, dy, x, y, dx);
}

cudaError_t launchAvgPoolBackward(const PoolGeometry &geometry, Storage storage,
                                  const void *dy, void *dx,
                                  cudaStream_t stream) {
  VDNN_LAUNCH_POOL(geometry.in, avgKernel, dy, dx);
}

} // namespace vdnn::rt::cuda
