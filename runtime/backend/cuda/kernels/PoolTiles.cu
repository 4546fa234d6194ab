//===- PoolTiles.cu -------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/PoolTiles.h"

#include "runtime/backend/cuda/kernels/Pool.cuh"

namespace vdnn::rt::cuda {

using pool::replaces;

static constexpr int kThreads = 256;

/// Windows of a plane that a thread handles: its pixels fill 16 bytes a row.
static int planeWindows(Storage storage) { return wideElements(storage) / 2; }

/// Neighbours that a thread handles: channels of a window, or windows of a
/// plane.
static int neighbours(const PoolGeometry &g, Storage storage) {
  return g.channels == 1 ? planeWindows(storage) : wideElements(storage);
}

bool isTiled(const PoolGeometry &g, Storage storage) {
  if (g.batch == 0 || g.in[0] != g.out[0] || g.kernel[0] != 1 ||
      g.stride[0] != 1 || g.padBegin[0] != 0) {
    return false;
  }
  for (int d = 1; d < 3; ++d) {
    if (g.kernel[d] != 2 || g.stride[d] != 2 || g.dilation[d] != 1 ||
        g.padBegin[d] != 0 || g.in[d] != 2 * g.out[d]) {
      return false;
    }
  }
  int64_t elements =
      g.batch * g.out[0] * g.out[1] * g.out[2] * int64_t{g.channels};
  int inner = g.channels == 1 ? g.out[2] : g.channels;
  return elements < (int64_t{1} << 31) && inner % neighbours(g, storage) == 0;
}

/// A row of windows is two rows of pixels.
struct Tiles {
  unsigned items;      ///< threads
  FastDivide perRow;   ///< threads of a row of windows
  FastDivide perPixel; ///< threads of a window; 1 in a plane
  int columns, channels;
};

static Tiles tilesOf(const PoolGeometry &g, Storage storage) {
  int width = neighbours(g, storage);
  int perPixel = g.channels == 1 ? 1 : g.channels / width;
  int perRow = g.channels == 1 ? g.out[2] / width : g.out[2] * perPixel;
  auto rows = static_cast<unsigned>(g.batch * g.out[0] * g.out[1]);
  return {rows * static_cast<unsigned>(perRow), FastDivide(perRow),
          FastDivide(perPixel), g.out[2], g.channels};
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    channelsBackward(Tiles t, const T *__restrict__ dy,
                     const int8_t *__restrict__ index, T *__restrict__ dx) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= t.items) {
    return;
  }
  unsigned row = t.perRow.divide(item), inRow = item - row * t.perRow.divisor();
  unsigned column = t.perPixel.divide(inRow),
           part = inRow - column * t.perPixel.divisor();
  float gradient[V];
  int8_t where[V];
  load(gradient, dy + int64_t{item} * V);
  loadRaw(where, index + int64_t{item} * V);
#pragma unroll
  for (int position = 0; position < 4; ++position) {
    int64_t pixel = (2 * int64_t{row} + position / 2) * 2 * t.columns +
                    2 * column + position % 2;
    float values[V];
#pragma unroll
    for (int c = 0; c < V; ++c) {
      values[c] = where[c] == position ? gradient[c] : 0;
    }
    store(dx + pixel * t.channels + part * V, values);
  }
}

/// First pixel of a thread's windows, in the upper of their rows.
static __device__ int64_t firstPixel(const Tiles &t, unsigned item, int width) {
  unsigned row = t.perRow.divide(item), inRow = item - row * t.perRow.divisor();
  return 4 * int64_t{row} * t.columns + int64_t{inRow} * 2 * width;
}

template <typename T, int W>
static __global__ void __launch_bounds__(kThreads)
    planesBackward(Tiles t, const T *__restrict__ dy,
                   const int8_t *__restrict__ index, T *__restrict__ dx) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= t.items) {
    return;
  }
  float gradient[W];
  int8_t where[W];
  load(gradient, dy + int64_t{item} * W);
  loadRaw(where, index + int64_t{item} * W);
  int64_t first = firstPixel(t, item, W);
#pragma unroll
  for (int a = 0; a < 2; ++a) {
    float values[2 * W];
#pragma unroll
    for (int i = 0; i < 2 * W; ++i) {
      values[i] = where[i / 2] == 2 * a + i % 2 ? gradient[i / 2] : 0;
    }
    store(dx + first + a * 2 * int64_t{t.columns}, values);
  }
}

template <typename T, int W>
static __global__ void __launch_bounds__(kThreads)
    planesForward(Tiles t, const T *__restrict__ x, T *__restrict__ y,
                  int8_t *__restrict__ index) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= t.items) {
    return;
  }
  int64_t first = firstPixel(t, item, W);
  float rows[2][2 * W];
  load(rows[0], x + first);
  load(rows[1], x + first + 2 * int64_t{t.columns});
  float best[W];
  int8_t where[W];
#pragma unroll
  for (int w = 0; w < W; ++w) {
    best[w] = rows[0][2 * w];
    where[w] = 0;
#pragma unroll
    for (int position = 1; position < 4; ++position) {
      float value = rows[position / 2][2 * w + position % 2];
      if (replaces(value, best[w])) {
        best[w] = value;
        where[w] = static_cast<int8_t>(position);
      }
    }
  }
  store(y + int64_t{item} * W, best);
  if (index) {
    storeRaw(index + int64_t{item} * W, where);
  }
}

static unsigned blocksOf(const Tiles &t) {
  return static_cast<unsigned>(ceilDivide(t.items, kThreads));
}

template <typename T>
static cudaError_t forward(const Tiles &t, const void *x, void *y,
                           int8_t *index, cudaStream_t stream) {
  planesForward<T, kWide<T> / 2><<<blocksOf(t), kThreads, 0, stream>>>(
      t, static_cast<const T *>(x), static_cast<T *>(y), index);
  return cudaGetLastError();
}

template <typename T>
static cudaError_t backward(const Tiles &t, const void *dy, const int8_t *index,
                            void *dx, cudaStream_t stream) {
  auto *gradient = static_cast<const T *>(dy);
  auto *result = static_cast<T *>(dx);
  if (t.channels == 1) {
    planesBackward<T, kWide<T> / 2>
        <<<blocksOf(t), kThreads, 0, stream>>>(t, gradient, index, result);
  } else {
    channelsBackward<T, kWide<T>>
        <<<blocksOf(t), kThreads, 0, stream>>>(t, gradient, index, result);
  }
  return cudaGetLastError();
}

cudaError_t launchTiledMaxPool(const PoolGeometry &geometry, Storage storage,
                               const void *x, void *y, int8_t *index,
                               cudaStream_t stream) {
  Tiles t = tilesOf(geometry, storage);
  return storage == Storage::F32
             ? forward<float>(t, x, y, index, stream)
             : forward<__nv_bfloat16>(t, x, y, index, stream);
}

cudaError_t launchTiledMaxPoolBackward(const PoolGeometry &geometry,
                                       Storage storage, const void *dy,
                                       const int8_t *index, void *dx,
                                       cudaStream_t stream) {
  Tiles t = tilesOf(geometry, storage);
  return storage == Storage::F32
             ? backward<float>(t, dy, index, dx, stream)
             : backward<__nv_bfloat16>(t, dy, index, dx, stream);
}

} // namespace vdnn::rt::cuda
