//===- PoolNine.cu --------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/PoolNine.cuh"

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

namespace {

/// Maxima of some channels and the taps they were found at.
template <int V>
struct Best {
  float value[V];
  int tap[V];

  __device__ void fill(float number, int at) {
#pragma unroll
    for (int c = 0; c < V; ++c) {
      value[c] = number;
      tap[c] = at;
    }
  }
  __device__ void take(const float (&values)[V], int at) {
#pragma unroll
    for (int c = 0; c < V; ++c) {
      if (replaces(values[c], value[c])) {
        value[c] = values[c];
        tap[c] = at;
      }
    }
  }
  /// Those of a row, `before` taps further on.
  __device__ void take(const Best &row, int before) {
#pragma unroll
    for (int c = 0; c < V; ++c) {
      if (replaces(row.value[c], value[c])) {
        value[c] = row.value[c];
        tap[c] = before + row.tap[c];
      }
    }
  }
};

/// The three columns of a strip of windows.
template <typename T, int V>
class Columns {
public:
  /// `x`: the thread's channels of the image.
  __device__ Columns(const Geometry &g, const T *x, int left)
      : x_(x), rows_(g.in[1]), rowElements_(g.in[2] * g.channels),
        first_(max(-left, 0)) {
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      inside_[b] = isWithin(left + b, g.in[2]);
      offset_[b] = min(max(left + b, 0), g.in[2] - 1) * g.channels;
    }
  }

  /// The tap of the first column that lies inside.
  __device__ int first() const { return first_; }

  /// The maxima within one row; of a row that lies outside nothing that
  /// replaces.
  __device__ void read(Best<V> &best, int row) const {
    best.fill(-INFINITY, first_);
    if (!isWithin(row, rows_)) {
      return;
    }
    // All three are loaded, so that no load waits for a branch.
    float values[3][V];
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      load(values[b], x_ + (row * rowElements_ + offset_[b]));
    }
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      if (inside_[b]) {
        best.take(values[b], b);
      }
    }
  }

private:
  const T *x_;
  int rows_, rowElements_, first_;
  int offset_[3];
  bool inside_[3];
};

} // namespace

template <typename T, int V, int S>
static __device__ void forward(const Geometry &g, int rows, const void *xs,
                               void *ys, int8_t *indices) {
  unsigned item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= static_cast<unsigned>(g.items)) {
    return;
  }
  Place place(g, item, V);
  int begin = place.at[1] * rows, end = min(begin + rows, g.out[1]);
  for (int64_t image = blockIdx.y; image < g.batch; image += gridDim.y) {
    const T *x =
        static_cast<const T *>(xs) +
        (image * g.inPixels() + int64_t{place.at[0]} * g.in[1] * g.in[2]) *
            g.channels +
        place.channel;
    Columns<T, V> columns(g, x, place.at[2] * S - g.padBegin[2]);
    Best<V> upper, middle, lower;
    columns.read(upper, begin * S - g.padBegin[1]);
    if (S == 1) {
      columns.read(middle, begin - g.padBegin[1] + 1);
    }
    for (int i = begin; i < end; ++i) {
      int top = i * S - g.padBegin[1];
      if (S == 2) {
        columns.read(middle, top + 1);
      }
      columns.read(lower, top + 2);
      Best<V> best = upper;
      if (top < 0) {
        best.fill(-INFINITY, -3 * top + columns.first());
      }
      best.take(middle, 3);
      best.take(lower, 6);
      int64_t at = (image * g.outPixels() +
                    (place.at[0] * g.out[1] + i) * g.out[2] + place.at[2]) *
                       g.channels +
                   place.channel;
      store(static_cast<T *>(ys) + at, best.value);
      if (indices) {
        int8_t taps[V];
#pragma unroll
        for (int c = 0; c < V; ++c) {
          taps[c] = static_cast<int8_t>(best.tap[c]);
        }
        storeRaw(indices + at, taps);
      }
      upper = S == 1 ? middle : lower;
      middle = lower;
    }
  }
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    forwardByOne(Geometry g, int rows, const void *x, void *y, int8_t *index) {
  forward<T, V, 1>(g, rows, x, y, index);
}
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads)
    forwardByTwo(Geometry g, int rows, const void *x, void *y, int8_t *index) {
  forward<T, V, 2>(g, rows, x, y, index);
}

cudaError_t launchNineMaxPool(const PoolGeometry &geometry, Storage storage,
                              const void *x, void *y, int8_t *index,
                              cudaStream_t stream) {
  Strips strips(geometry.out[1]);
  int own[3] = {geometry.out[0], strips.count, geometry.out[2]};
  if (geometry.stride[1] == 1) {
    VDNN_LAUNCH_POOL(own, forwardByOne, strips.rows, x, y, index);
  }
  VDNN_LAUNCH_POOL(own, forwardByTwo, strips.rows, x, y, index);
}

} // namespace vdnn::rt::cuda
