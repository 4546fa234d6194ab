//===- BatchNormBackward.cu - the gradient of batch normalisation ---------===//
//
// Sums are in double precision: gradients behind a ReLU or a pool have both
// signs and are mostly zero, and their sum may be far smaller than they are.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/BatchNorm.cuh"

namespace vdnn::rt::cuda {

using namespace norm;

/// The vectors in the workspace. The gradient's mean is needed to more digits
/// than a float has where the gradient is nearly constant: `Low` is what `High`
/// lacks of it.
enum { High, Low, Factor, Slope };

/// Rows that a thread loads together, of all tensors: fewer blocks need more.
template <int V>
constexpr int kRowsAtOnce = V == 8 ? 4 : 2;

namespace {
/// What tells where the gradient counts.
enum class Mask { None, Bias, Output };

/// A thread's part of a row of each tensor that is read.
template <Mask kMask, typename T, int V>
struct GradientRow {
  Pack<T, V> dy, x, y, addend;

  __device__ void read(const NormGradient &a, int64_t at) {
    load(dy, static_cast<const T *>(a.dy) + at);
    load(x, static_cast<const T *>(a.x) + at);
    if (kMask == Mask::Output) {
      load(y, static_cast<const T *>(a.y) + at);
      if (a.addend) {
        load(addend, static_cast<const T *>(a.addend) + at);
      }
    }
  }

  /// Of `Mask::Output`: the gradient, as it is written too.
  __device__ void mask(float (&gradient)[V], const NormGradient &a,
                       int64_t at) const {
    float output[V], added[V];
    widen(output, y);
    if (a.addend) {
      widen(added, addend);
    }
#pragma unroll
    for (int c = 0; c < V; ++c) {
      float sum = a.addend ? gradient[c] + added[c] : gradient[c];
      gradient[c] = output[c] > 0 ? sum : 0;
    }
    Pack<T, V> rounded;
    store(reinterpret_cast<T *>(&rounded.raw), gradient);
    widen(gradient, rounded);
    store(static_cast<T *>(a.masked) + at, gradient);
  }
};
} // namespace

/// Sums of dy, masked by the ReLU if there is one, of dy * (x - mean) and of
/// x - mean over the block's rows.
template <Mask kMask, typename T, int V>
static __device__ void sumGradient(ThreadSums<T, kNormGradientSums * V> &sums,
                                   const NormGradient &a, int channel,
                                   const NormGrid &g) {
  float mean[V], factor[V], bias[V];
#pragma unroll
  for (int c = 0; c < V; ++c) {
    mean[c] = a.mean[channel + c];
    if (kMask == Mask::Bias) {
      factor[c] = normalFactor(a.scale[channel + c], a.inverse[channel + c]);
      bias[c] = a.bias[channel + c];
    }
  }
  using Row = GradientRow<kMask, T, V>;
  using Value = typename ThreadSums<T, kNormGradientSums * V>::Value;
  auto add = [&](const Row &row, int64_t at) {
    float gradient[V], value[V];
    widen(gradient, row.dy);
    widen(value, row.x);
    if constexpr (kMask == Mask::Output) {
      row.mask(gradient, a, at);
    }
#pragma unroll
    for (int c = 0; c < V; ++c) {
      bool passes = kMask != Mask::Bias ||
                    normalValue(value[c], mean[c], factor[c], bias[c]) > 0;
      Value dy = passes ? gradient[c] : 0, d = value[c] - mean[c];
      sums.add(c, dy);
      sums.add(V + c, dy * d);
      sums.add(2 * V + c, d);
    }
  };
  Rows rows = Rows::of(g);
  auto offsetOf = [&](int64_t row) { return row * g.channels + channel; };
  int64_t row = rows.first;
  constexpr int kRows = kMask == Mask::Output ? 1 : kRowsAtOnce<V>;
  for (; row + (kRows - 1) * rows.step < rows.end; row += kRows * rows.step) {
    Row together[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      together[i].read(a, offsetOf(row + i * rows.step));
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      add(together[i], offsetOf(row + i * rows.step));
    }
    sums.endRows(kRows);
  }
  for (; row < rows.end; row += rows.step) {
    Row one;
    one.read(a, offsetOf(row));
    add(one, offsetOf(row));
  }
}

template <Mask kMask, typename T, int V>
static __device__ void sumBlock(const NormGradient &a, const NormGrid &g) {
  __shared__ double shared[kNormGradientSums * V * kThreads];
  int channel = firstChannel(g);
  ThreadSums<T, kNormGradientSums * V> threadSums(shared);
  if (channel < g.channels) {
    sumGradient<kMask, T, V>(threadSums, a, channel, g);
  }
  double sums[kNormGradientSums * V];
  threadSums.finish(sums);
  sumLines(sums, shared);
  writeSums<kNormGradientSums, V>(a.sums, sums, channel, g);
}

// A kernel each: what one needs of registers is not taken from the others.
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads, kLeastBlocks<V>)
    gradientSumKernel(NormGradient a, NormGrid g) {
  sumBlock<Mask::None, T, V>(a, g);
}
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads, kLeastBlocks<V>)
    biasMaskedSumKernel(NormGradient a, NormGrid g) {
  sumBlock<Mask::Bias, T, V>(a, g);
}
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads, kLeastBlocks<V>)
    outputMaskedSumKernel(NormGradient a, NormGrid g) {
  sumBlock<Mask::Output, T, V>(a, g);
}

static __global__ void __launch_bounds__(kJoinX *kJoinY)
    joinGradientKernel(NormGradient a, NormGrid g) {
  __shared__ double shared[kNormGradientSums * kJoinX * kJoinY];
  int c = static_cast<int>(blockIdx.x * kJoinX + threadIdx.x);
  double sums[kNormGradientSums] = {};
  joinChunks(sums, a.sums, c, g, shared);
  if (c >= g.channels || threadIdx.y != 0) {
    return;
  }
  // The sum of x - mean is not quite zero, since the mean is rounded: that part
  // of a constant gradient is no part of the variance's gradient.
  auto count = static_cast<double>(g.rows);
  double mean = sums[0] / count, product = sums[1] - mean * sums[2];
  double inverse = a.inverse[c], factor = a.scale[c] * inverse;
  a.dbias[c] = static_cast<float>(sums[0]);
  a.dscale[c] = static_cast<float>(product * inverse);
  float *vectors = a.vectors + c, high = static_cast<float>(mean);
  vectors[High * g.channels] = high;
  vectors[Low * g.channels] = static_cast<float>(mean - high);
  vectors[Factor * g.channels] = normalFactor(a.scale[c], a.inverse[c]);
  vectors[Slope * g.channels] =
      static_cast<float>(-factor * inverse * inverse * product / count);
}

/// dx = (dy - high - low) * factor + (x - mean) * slope, dy masked by the ReLU
/// if there is one; the rows from the last to the first: what the sums read
/// last is still in the cache.
template <bool kRelu, typename T, int V>
static __device__ void computeGradient(const NormGradient &a, int channel,
                                       const NormGrid &g) {
  // Either may be the same memory as dx.
  const T *dy = static_cast<const T *>(a.dy) + channel,
          *x = static_cast<const T *>(a.x) + channel;
  T *dx = static_cast<T *>(a.dx) + channel;
  float high[V], low[V], factor[V], slope[V], mean[V], bias[V];
#pragma unroll
  for (int c = 0; c < V; ++c) {
    const float *vectors = a.vectors + channel + c;
    high[c] = vectors[High * g.channels];
    low[c] = vectors[Low * g.channels];
    factor[c] = vectors[Factor * g.channels];
    slope[c] = vectors[Slope * g.channels];
    mean[c] = a.mean[channel + c];
    bias[c] = kRelu ? a.bias[channel + c] : 0;
  }
  auto apply = [&](T *to, const Pack<T, V> &gradients,
                   const Pack<T, V> &values) {
    float gradient[V], value[V];
    widen(gradient, gradients);
    widen(value, values);
#pragma unroll
    for (int c = 0; c < V; ++c) {
      bool passes =
          !kRelu || normalValue(value[c], mean[c], factor[c], bias[c]) > 0;
      float dy = passes ? gradient[c] : 0;
      gradient[c] =
          (dy - high[c] - low[c]) * factor[c] + (value[c] - mean[c]) * slope[c];
    }
    store(to, gradient);
  };
  Rows rows = Rows::of(g);
  int64_t first = blockIdx.y * g.chunkRows, row = rows.end - 1 - threadIdx.y;
  constexpr int kRows = kRowsAtOnce<V>;
  for (; row - (kRows - 1) * rows.step >= first; row -= kRows * rows.step) {
    Pack<T, V> gradients[kRows], values[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      int64_t at = (row - i * rows.step) * g.channels;
      load(gradients[i], dy + at);
      load(values[i], x + at);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      apply(dx + (row - i * rows.step) * g.channels, gradients[i], values[i]);
    }
  }
  for (; row >= first; row -= rows.step) {
    Pack<T, V> gradients, values;
    load(gradients, dy + row * g.channels);
    load(values, x + row * g.channels);
    apply(dx + row * g.channels, gradients, values);
  }
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads, kLeastBlocks<V>)
    gradientKernel(NormGradient a, NormGrid g) {
  int channel = firstChannel(g);
  if (channel >= g.channels) {
    return;
  }
  if (a.bias) {
    computeGradient<true, T, V>(a, channel, g);
  } else {
    computeGradient<false, T, V>(a, channel, g);
  }
}

cudaError_t launchBatchNormBackward(const NormGrid &grid, Storage storage,
                                    const NormGradient &arguments,
                                    cudaStream_t stream) {
  if (arguments.y) {
    VDNN_LAUNCH_NORM(outputMaskedSumKernel, arguments, grid);
  } else if (arguments.bias) {
    VDNN_LAUNCH_NORM(biasMaskedSumKernel, arguments, grid);
  } else {
    VDNN_LAUNCH_NORM(gradientSumKernel, arguments, grid);
  }
  joinGradientKernel<<<static_cast<unsigned>(ceilDivide(grid.channels, kJoinX)),
                       dim3(kJoinX, kJoinY), 0, stream>>>(arguments, grid);
  NormGradient rest = arguments;
  if (rest.masked) {
    rest.dy = rest.masked;
  }
  VDNN_LAUNCH_NORM(gradientKernel, rest, grid);
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
