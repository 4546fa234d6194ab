//===- BatchNorm.cu - batch normalisation forward -------------------------===//
//
// Three kernels: sums by chunk of rows, one that joins the chunks, and the
// normalisation. Values are taken relative to the first row, so that a large
// mean does not swallow the variance, and summed in double precision, as far as
// their own digits reach (`ThreadSums`).
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/BatchNorm.cuh"

#include <algorithm>

namespace vdnn::rt::cuda {

using namespace norm;

NormGrid NormGrid::of(int64_t rows, int64_t channels, Storage storage) {
  NormGrid g;
  g.rows = rows;
  g.channels = static_cast<int>(channels);
  g.width = vectorWidth(storage, channels);
  int64_t vectors = channels / g.width;
  g.threadsX = static_cast<int>(powerOfTwo(vectors, 1, 32));
  g.threadsY = kThreads / g.threadsX;
  g.blocksX = static_cast<int>(ceilDivide(vectors, g.threadsX));
  // At least eight rows per thread, and blocks for one wave.
  int64_t chunks = std::min(ceilDivide(rows, int64_t{8} * g.threadsY),
                            std::max<int64_t>(kWaveBlocks / g.blocksX, 1));
  g.chunkRows = ceilDivide(ceilDivide(rows, chunks), g.threadsY) * g.threadsY;
  g.chunks = static_cast<int>(ceilDivide(rows, g.chunkRows));
  return g;
}

/// The vectors in the workspace.
enum { Shift, Factor };

/// Sums of x - shift and of its square over the block's rows. The shift is the
/// first row of all.
template <typename T, int V>
static __global__ void __launch_bounds__(kThreads, kLeastBlocks<V>)
    sumKernel(NormTraining a, NormGrid g) {
  __shared__ double shared[kNormSums * V * kThreads];
  int channel = firstChannel(g);
  using Sums = ThreadSums<T, kNormSums * V>;
  Sums threadSums(shared);
  if (channel < g.channels) {
    const T *x = static_cast<const T *>(a.x) + channel;
    float shift[V];
    load(shift, x);
    auto add = [&](const Pack<T, V> &pack) {
      float values[V];
      widen(values, pack);
#pragma unroll
      for (int c = 0; c < V; ++c) {
        typename Sums::Value d = values[c] - shift[c];
        threadSums.add(c, d);
        threadSums.add(V + c, d * d);
      }
    };
    Rows rows = Rows::of(g);
    int64_t row = rows.first;
    constexpr int kRows = 4;
    for (; row + (kRows - 1) * rows.step < rows.end; row += kRows * rows.step) {
      Pack<T, V> packs[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        load(packs[i], x + (row + i * rows.step) * g.channels);
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        add(packs[i]);
      }
      threadSums.endRows(kRows);
    }
    for (; row < rows.end; row += rows.step) {
      Pack<T, V> pack;
      load(pack, x + row * g.channels);
      add(pack);
    }
    if (blockIdx.y == 0 && threadIdx.y == 0) {
#pragma unroll
      for (int c = 0; c < V; ++c) {
        a.vectors[Shift * g.channels + channel + c] = shift[c];
      }
    }
  }
  double sums[kNormSums * V];
  threadSums.finish(sums);
  sumLines(sums, shared);
  writeSums<kNormSums, V>(a.sums, sums, channel, g);
}

static __global__ void __launch_bounds__(kJoinX *kJoinY)
    joinKernel(NormTraining a, NormGrid g) {
  __shared__ double shared[kNormSums * kJoinX * kJoinY];
  int c = static_cast<int>(blockIdx.x * kJoinX + threadIdx.x);
  double sums[kNormSums] = {};
  joinChunks(sums, a.sums, c, g, shared);
  if (c >= g.channels || threadIdx.y != 0) {
    return;
  }
  auto count = static_cast<double>(g.rows);
  double offset = sums[0] / count,
         mean = a.vectors[Shift * g.channels + c] + offset;
  double deviation = fmax(sums[1] - sums[0] * offset, 0.0);
  double variance = deviation / count;
  double inverse = 1.0 / sqrt(variance + a.epsilon);
  double runningVariance =
      a.unbiased && count > 1 ? deviation / (count - 1) : variance;
  a.mean[c] = static_cast<float>(mean);
  a.inverse[c] = static_cast<float>(inverse);
  a.vectors[Factor * g.channels + c] =
      normalFactor(a.scale[c], static_cast<float>(inverse));
  a.newMean[c] = static_cast<float>(a.runningMean[c] * a.momentum +
                                    mean * (1 - a.momentum));
  a.newVar[c] = static_cast<float>(a.runningVar[c] * a.momentum +
                                   runningVariance * (1 - a.momentum));
}

/// The vectors of one thread's channels.
template <int V>
struct Channels {
  float mean[V], factor[V], bias[V];
};

/// y = (x - mean) * factor + bias, plus the residual, through a ReLU, which a
/// NaN passes; the rows from the last to the first: what the sums read last is
/// still in the cache. The residual may be the same memory as y.
template <bool kResidual, bool kRelu, typename T, int V>
static __device__ void normalize(T *y, const T *x, const T *residual,
                                 const Channels<V> &of, const NormGrid &g) {
  Rows rows = Rows::of(g);
  auto apply = [&](T *to, const Pack<T, V> &pack, const Pack<T, V> &addend) {
    float values[V], added[V];
    widen(values, pack);
    if (kResidual) {
      widen(added, addend);
    }
#pragma unroll
    for (int c = 0; c < V; ++c) {
      float value =
          normalValue(values[c], of.mean[c], of.factor[c], of.bias[c]);
      value = kResidual ? value + added[c] : value;
      values[c] = kRelu && value <= 0 ? 0 : value;
    }
    store(to, values);
  };
  constexpr int kRows = kResidual && V == 8 ? 2 : 4;
  int64_t first = blockIdx.y * g.chunkRows, row = rows.end - 1 - threadIdx.y;
  for (; row - (kRows - 1) * rows.step >= first; row -= kRows * rows.step) {
    Pack<T, V> packs[kRows], addends[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      load(packs[i], x + (row - i * rows.step) * g.channels);
      if (kResidual) {
        load(addends[i], residual + (row - i * rows.step) * g.channels);
      }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      apply(y + (row - i * rows.step) * g.channels, packs[i], addends[i]);
    }
  }
  for (; row >= first; row -= rows.step) {
    Pack<T, V> pack, addend;
    load(pack, x + row * g.channels);
    if (kResidual) {
      load(addend, residual + row * g.channels);
    }
    apply(y + row * g.channels, pack, addend);
  }
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads, 4)
    normalizeKernel(NormTraining a, NormGrid g) {
  int channel = firstChannel(g);
  if (channel >= g.channels) {
    return;
  }
  Channels<V> of;
#pragma unroll
  for (int c = 0; c < V; ++c) {
    of.mean[c] = a.mean[channel + c];
    of.factor[c] = a.vectors[Factor * g.channels + channel + c];
    of.bias[c] = a.bias[channel + c];
  }
  T *y = static_cast<T *>(a.y) + channel;
  const T *x = static_cast<const T *>(a.x) + channel,
          *residual = static_cast<const T *>(a.residual) + channel;
  if (a.residual && a.relu) {
    normalize<true, true>(y, x, residual, of, g);
  } else if (a.residual) {
    normalize<true, false>(y, x, residual, of, g);
  } else if (a.relu) {
    normalize<false, true>(y, x, residual, of, g);
  } else {
    normalize<false, false>(y, x, residual, of, g);
  }
}

template <typename T, int V>
static __global__ void __launch_bounds__(kThreads, 4)
    inferenceKernel(NormInference a, NormGrid g) {
  int channel = firstChannel(g);
  if (channel >= g.channels) {
    return;
  }
  Channels<V> of;
#pragma unroll
  for (int c = 0; c < V; ++c) {
    of.mean[c] = a.mean[channel + c];
    of.factor[c] = static_cast<float>(
        a.scale[channel + c] / sqrt(a.variance[channel + c] + a.epsilon));
    of.bias[c] = a.bias[channel + c];
  }
  const T *none = nullptr;
  normalize<false, false>(static_cast<T *>(a.y) + channel,
                          static_cast<const T *>(a.x) + channel, none, of, g);
}

cudaError_t launchBatchNorm(const NormGrid &grid, Storage storage,
                            const NormTraining &arguments,
                            cudaStream_t stream) {
  VDNN_LAUNCH_NORM(sumKernel, arguments, grid);
  joinKernel<<<static_cast<unsigned>(ceilDivide(grid.channels, kJoinX)),
               dim3(kJoinX, kJoinY), 0, stream>>>(arguments, grid);
  VDNN_LAUNCH_NORM(normalizeKernel, arguments, grid);
  return cudaGetLastError();
}

cudaError_t launchBatchNormInference(const NormGrid &grid, Storage storage,
                                     const NormInference &arguments,
                                     cudaStream_t stream) {
  VDNN_LAUNCH_NORM(inferenceKernel, arguments, grid);
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
