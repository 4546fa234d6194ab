//===- PoolNineBackward.cu ------------------------------------------------===//

#include "runtime/backend/cuda/kernels/PoolNine.cuh"

namespace vdnn::rt::cuda {

using namespace pool;

namespace {

/// The gradients of some channels of a window, and at which tap each arrives.
template <typename T, int V>
struct Window {
  float gradient[V];
  int8_t tap[V];

  /// Of the window at an offset; of none nothing arrives anywhere.
  __device__ void read(const T *dy, const int8_t *index, int at, bool exists) {
    if (exists) {
      load(gradient, dy + at);
      loadRaw(tap, index + at);
      return;
    }
#pragma unroll
    for (int c = 0; c < V; ++c) {
      tap[c] = -1;
    }
  }
  __device__ void addTo(float (&sum)[V], int wanted) const {
#pragma unroll
    for (int c = 0; c < V; ++c) {
      if (tap[c] == wanted) {
        sum[c] += gradient[c];
      }
    }
  }
};

template <int V>
__device__ inline void clear(float (&sum)[V]) {
#pragma unroll
  for (int c = 0; c < V; ++c) {
    sum[c] = 0;
  }
}

/// The thread's channels of an image of windows and of one of inputs.
template <typename T, int V>
struct Image {
  const T *dy;
  const int8_t *index;
  T *dx;

  __device__ Image(const Geometry &g, const Place &place, int64_t image,
                   const void *dys, const int8_t *indices, void *dxs) {
    int64_t windows =
        (image * g.outPixels() + int64_t{place.at[0]} * g.out[1] * g.out[2]) *
            g.channels +
        place.channel;
    dy = static_cast<const T *>(dys) + windows;
    index = indices + windows;
    dx = static_cast<T *>(dxs) +
         (image * g.inPixels() + int64_t{place.at[0]} * g.in[1] * g.in[2]) *
             g.channels +
         place.channel;
  }

  __device__ void readWindow(Window<T, V> &window, const Geometry &g, int row,
                             int column) const {
    window.read(dy, index, (row * g.out[2] + column) * g.channels,
                isWithin(row, g.out[1]) && isWithin(column, g.out[2]));
  }
  __device__ void write(const Geometry &g, int row, int column,
                        const float (&sum)[V]) const {
    if (isWithin(row, g.in[1]) && isWithin(column, g.in[2])) {
      store(dx + (row * g.in[2] + column) * g.channels, sum);
    }
  }
};

} // namespace

/// A strip is a column of inputs. Three windows of every row of windows have
/// it, at one tap of each of three rows of inputs.
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    backwardByOne(Geometry g, int rows, const void *dy, const int8_t *index,
                  void *dx) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  int begin = place.at[1] * rows, end = min(begin + rows, g.in[1]),
      column = place.at[2];
  for (int64_t number = blockIdx.y; number < g.batch; number += gridDim.y) {
    Image<T, V> image(g, place, number, dy, index, dx);
    float upper[V], middle[V], lower[V];
    clear(upper);
    clear(middle);
    // The upper row is complete once the windows that begin in it are added.
    for (int row = begin - 2; row < end; ++row) {
      clear(lower);
#pragma unroll
      for (int b = 0; b < 3; ++b) {
        Window<T, V> window;
        image.readWindow(window, g, row + g.padBegin[1],
                         column + g.padBegin[2] - b);
        window.addTo(upper, b);
        window.addTo(middle, 3 + b);
        window.addTo(lower, 6 + b);
      }
      if (row >= begin) {
        image.write(g, row, column, upper);
      }
#pragma unroll
      for (int c = 0; c < V; ++c) {
        upper[c] = middle[c];
        middle[c] = lower[c];
      }
    }
  }
}

/// A strip is a pair of columns of inputs, two rows for each row of windows:
/// the windows that begin there, those to the left of them, whose last column
/// is the pair's first, and from above the last row of either.
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    backwardByTwo(Geometry g, int rows, const void *dy, const int8_t *index,
                  void *dx) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  int begin = place.at[1] * rows + g.padBegin[1] / 2, end = begin + rows,
      column = place.at[2] + g.padBegin[2] / 2,
      first = 2 * column - g.padBegin[2];
  for (int64_t number = blockIdx.y; number < g.batch; number += gridDim.y) {
    Image<T, V> image(g, place, number, dy, index, dx);
    float fromAbove[2][V];
    clear(fromAbove[0]);
    clear(fromAbove[1]);
    for (int row = begin - 1; row < end; ++row) {
      Window<T, V> own, left;
      image.readWindow(own, g, row, column);
      image.readWindow(left, g, row, column - 1);
      if (row >= begin) {
        float sums[2][V];
        clear(sums[0]);
        clear(sums[1]);
        own.addTo(fromAbove[0], 0);
        left.addTo(fromAbove[0], 2);
        own.addTo(fromAbove[1], 1);
        own.addTo(sums[0], 3);
        left.addTo(sums[0], 5);
        own.addTo(sums[1], 4);
        int top = 2 * row - g.padBegin[1];
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          image.write(g, top, first + b, fromAbove[b]);
          image.write(g, top + 1, first + b, sums[b]);
        }
        clear(fromAbove[0]);
        clear(fromAbove[1]);
      }
      own.addTo(fromAbove[0], 6);
      left.addTo(fromAbove[0], 8);
      own.addTo(fromAbove[1], 7);
    }
  }
}

/// Pairs of inputs, of which the first lies where a window begins.
static int countPairs(const PoolGeometry &g, int dimension) {
  int pad = g.padBegin[dimension];
  return (g.in[dimension] - 1 + pad) / 2 - pad / 2 + 1;
}

cudaError_t launchNineMaxPoolBackward(const PoolGeometry &geometry,
                                      Storage storage, const void *dy,
                                      const int8_t *index, void *dx,
                                      cudaStream_t stream) {
  if (geometry.stride[1] == 1) {
    Strips strips(geometry.in[1]);
    int own[3] = {geometry.in[0], strips.count, geometry.in[2]};
    VDNN_LAUNCH_POOL(own, backwardByOne, strips.rows, dy, index, dx);
  }
  Strips strips(countPairs(geometry, 1));
  int own[3] = {geometry.in[0], strips.count, countPairs(geometry, 2)};
  VDNN_LAUNCH_POOL(own, backwardByTwo, strips.rows, dy, index, dx);
}

} // namespace vdnn::rt::cuda
