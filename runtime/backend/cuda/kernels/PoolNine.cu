//===- PoolNine.cu --------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/PoolNine.h"

#include "runtime/backend/cuda/kernels/Pool.cuh"

namespace vdnn::rt::cuda {

using namespace pool;

bool isNine(const PoolGeometry &g) {
  bool flat = g.in[0] == g.out[0] && g.kernel[0] == 1 && g.stride[0] == 1 &&
              g.padBegin[0] == 0;
  for (int d = 1; d < 3; ++d) {
    flat = flat && g.kernel[d] == 3 && g.dilation[d] == 1 &&
           g.padBegin[d] < 3 && g.stride[d] == g.stride[1];
  }
  return flat && (g.stride[1] == 1 || g.stride[1] == 2);
}

/// The window that has an input's coordinate (plus the padding) at tap `tap`
/// along one dimension, if any.
template <int S>
static __device__ bool findWindow(int padded, int tap, int windows, int &at) {
  int start = padded - tap;
  at = start / S;
  return start >= 0 && start % S == 0 && at < windows;
}

template <typename T, int V, int S>
static __device__ void backward(const Geometry &g, const void *dys,
                                const int8_t *indices, void *dx) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  const T *dy = static_cast<const T *>(dys);
  for (int64_t image = blockIdx.y; image < g.batch; image += gridDim.y) {
    int64_t windows =
        image * g.outPixels() + int64_t{place.at[0]} * g.out[1] * g.out[2];
    float sum[V] = {};
#pragma unroll
    for (int a = 0; a < 3; ++a) {
#pragma unroll
      for (int b = 0; b < 3; ++b) {
        int i, j;
        bool inRow = findWindow<S>(place.at[1] + g.padBegin[1], a, g.out[1], i);
        bool inColumn =
            findWindow<S>(place.at[2] + g.padBegin[2], b, g.out[2], j);
        if (inRow && inColumn) {
          int64_t window =
              (windows + i * g.out[2] + j) * g.channels + place.channel;
          float gradient[V];
          int8_t where[V];
          load(gradient, dy + window);
          loadRaw(where, indices + window);
#pragma unroll
          for (int c = 0; c < V; ++c) {
            sum[c] += where[c] == 3 * a + b ? gradient[c] : 0.0f;
          }
        }
      }
    }
    store(static_cast<T *>(dx) + image * g.inPixels() * g.channels +
              int64_t{item} * V,
          sum);
  }
}

template <typename T, int V, int S>
static __device__ void forward(const Geometry &g, const void *xs, void *y,
                               int8_t *indices) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  int top = place.at[1] * S - g.padBegin[1],
      left = place.at[2] * S - g.padBegin[2];
  auto first = static_cast<int8_t>(3 * max(-top, 0) + max(-left, 0));
  for (int64_t image = blockIdx.y; image < g.batch; image += gridDim.y) {
    const T *x =
        static_cast<const T *>(xs) +
        (image * g.inPixels() + int64_t{place.at[0]} * g.in[1] * g.in[2]) *
            g.channels +
        place.channel;
    float best[V];
    int8_t where[V];
#pragma unroll
    for (int c = 0; c < V; ++c) {
      best[c] = -INFINITY;
      where[c] = first;
    }
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      // Loaded for all three, so that no load waits for a branch.
      float values[3][V];
      int row = min(max(top + a, 0), g.in[1] - 1);
#pragma unroll
      for (int b = 0; b < 3; ++b) {
        int column = min(max(left + b, 0), g.in[2] - 1);
        load(values[b], x + int64_t{row * g.in[2] + column} * g.channels);
      }
#pragma unroll
      for (int b = 0; b < 3; ++b) {
        bool inside = row == top + a && left + b >= 0 && left + b < g.in[2];
#pragma unroll
        for (int c = 0; c < V; ++c) {
          if (inside && replaces(values[b][c], best[c])) {
            best[c] = values[b][c];
            where[c] = static_cast<int8_t>(3 * a + b);
          }
        }
      }
    }
    int64_t at = image * g.outPixels() * g.channels + int64_t{item} * V;
    store(static_cast<T *>(y) + at, best);
    if (indices) {
      storeRaw(indices + at, where);
    }
  }
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    backwardByOne(Geometry g, const void *dy, const int8_t *index, void *dx) {
  backward<T, V, 1>(g, dy, index, dx);
}
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    backwardByTwo(Geometry g, const void *dy, const int8_t *index, void *dx) {
  backward<T, V, 2>(g, dy, index, dx);
}
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    forwardByOne(Geometry g, const void *x, void *y, int8_t *index) {
  forward<T, V, 1>(g, x, y, index);
}
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    forwardByTwo(Geometry g, const void *x, void *y, int8_t *index) {
  forward<T, V, 2>(g, x, y, index);
}

cudaError_t launchNineMaxPool(const PoolGeometry &geometry, Storage storage,
                              const void *x, void *y, int8_t *index,
                              cudaStream_t stream) {
  if (geometry.stride[1] == 1) {
    VDNN_LAUNCH_POOL(out, forwardByOne, x, y, index);
  }
  VDNN_LAUNCH_POOL(out, forwardByTwo, x, y, index);
}

cudaError_t launchNineMaxPoolBackward(const PoolGeometry &geometry,
                                      Storage storage, const void *dy,
                                      const int8_t *index, void *dx,
                                      cudaStream_t stream) {
  if (geometry.stride[1] == 1) {
    VDNN_LAUNCH_POOL(in, backwardByOne, dy, index, dx);
  }
  VDNN_LAUNCH_POOL(in, backwardByTwo, dy, index, dx);
}

} // namespace vdnn::rt::cuda
