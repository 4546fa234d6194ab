//===- Reduce.cu ----------------------------------------------------------===//
//
// Sums run in double precision (integers in 64 bits): a thread over its share,
// a block over its threads, and where few results leave blocks idle, a second
// kernel over chunks.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Reduce.h"

#include "runtime/backend/cuda/kernels/Storage.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace vdnn::rt::cuda {

constexpr int kThreads = 256;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

template <typename Acc>
struct Sum {
  __device__ static Acc initial() { return 0; }
  __device__ static Acc add(Acc acc, Acc value) { return acc + value; }
  __device__ static Acc join(Acc a, Acc b) { return a + b; }
};
template <typename Acc>
struct SumSquare {
  __device__ static Acc initial() { return 0; }
  __device__ static Acc add(Acc acc, Acc value) { return acc + value * value; }
  __device__ static Acc join(Acc a, Acc b) { return a + b; }
};
template <typename Acc>
struct Prod {
  __device__ static Acc initial() { return 1; }
  __device__ static Acc add(Acc acc, Acc value) { return acc * value; }
  __device__ static Acc join(Acc a, Acc b) { return a * b; }
};
/// A NaN stays.
template <typename Acc>
struct Max {
  __device__ static Acc initial() {
    if constexpr (std::is_floating_point<Acc>::value) {
      return -INFINITY;
    }
    return static_cast<Acc>(int64_t{1} << 63);
  }
  __device__ static Acc add(Acc acc, Acc value) {
    return value > acc || value != value ? value : acc;
  }
  __device__ static Acc join(Acc a, Acc b) { return add(a, b); }
};
template <typename Acc>
struct Min {
  __device__ static Acc initial() {
    if constexpr (std::is_floating_point<Acc>::value) {
      return INFINITY;
    }
    return static_cast<Acc>(~(int64_t{1} << 63));
  }
  __device__ static Acc add(Acc acc, Acc value) {
    return value < acc || value != value ? value : acc;
  }
  __device__ static Acc join(Acc a, Acc b) { return add(a, b); }
};

} // namespace

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

ReduceGrid ReduceGrid::of(const std::vector<ReduceDim> &dims, int widest,
                          bool chunked) {
  ReduceGrid g;
  g.innerReduced = !dims.empty() && dims.back().reduced;
  if (!dims.empty()) {
    int64_t inner = dims.back().size;
    g.width = inner % widest == 0            ? widest
              : widest > 4 && inner % 4 == 0 ? 4
                                             : 1;
  }
  int64_t stride = 1;
  std::vector<int64_t> strides(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    // In units: the innermost dimension has stride 1, all others are multiples
    // of its size.
    strides[i] = stride;
    stride *= i + 1 == dims.size() ? dims[i].size / g.width : dims[i].size;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    ReduceAxes &axes = dims[i].reduced ? g.reduced : g.kept;
    if (axes.count == ReduceAxes::kMost) {
      g.fits = false;
      return g;
    }
    int64_t size = i + 1 == dims.size() ? dims[i].size / g.width : dims[i].size;
    axes.size[axes.count] = size;
    axes.stride[axes.count++] = strides[i];
    axes.total *= size;
  }
  if (g.innerReduced) {
    g.threadsReduced = static_cast<int>(
        powerOfTwo(ceilDivide(g.reduced.total, 4), 1, kThreads));
    g.threadsKept = kThreads / g.threadsReduced;
  } else {
    // A warp along the kept elements reads whole lines.
    int64_t inner = g.kept.count ? g.kept.size[g.kept.count - 1] : 1;
    g.threadsKept = static_cast<int>(powerOfTwo(inner, 1, 32));
    g.threadsReduced = static_cast<int>(
        powerOfTwo(g.reduced.total, 1, kThreads / g.threadsKept));
    g.threadsKept = kThreads / g.threadsReduced;
  }
  g.blocks = ceilDivide(g.kept.total, g.threadsKept);
  g.chunks = 1;
  if (chunked) {
    // At least eight units per thread, and blocks for one wave.
    g.chunks = std::clamp<int64_t>(
        ceilDivide(g.reduced.total, int64_t{8} * g.threadsReduced), 1,
        std::max<int64_t>(kWaveBlocks / g.blocks, 1));
  }
  g.chunkSize = ceilDivide(g.reduced.total, g.chunks);
  g.chunks = ceilDivide(g.reduced.total, g.chunkSize);
  return g;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The offset of an element by its number along the axes, in units.
static __device__ int64_t offsetOf(const ReduceAxes &axes, int64_t number) {
  int64_t offset = 0;
#pragma unroll
  for (int d = ReduceAxes::kMost - 1; d > 0; --d) {
    if (d < axes.count) {
      // Narrow divisions are several times as fast.
      int64_t quotient = number >> 32 == 0 && axes.size[d] >> 32 == 0
                             ? static_cast<uint32_t>(number) /
                                   static_cast<uint32_t>(axes.size[d])
                             : number / axes.size[d];
      offset += (number - quotient * axes.size[d]) * axes.stride[d];
      number = quotient;
    }
  }
  return offset + number * axes.stride[0];
}

template <typename T>
constexpr bool kIsFloat =
    std::is_same<T, float>::value || std::is_same<T, __nv_bfloat16>::value;

template <typename T, typename Acc, int V>
static __device__ void toAccumulators(Acc (&values)[V],
                                      const Pack<T, V> &pack) {
  std::conditional_t<kIsFloat<T>, float, T> elements[V];
  if constexpr (kIsFloat<T>) {
    widen(elements, pack);
  } else {
    loadRaw(elements, reinterpret_cast<const T *>(&pack.raw));
  }
#pragma unroll
  for (int v = 0; v < V; ++v) {
    values[v] = static_cast<Acc>(elements[v]);
  }
}

template <typename Out, typename Acc>
static __device__ void fromAccumulator(Out &to, Acc value) {
  if constexpr (std::is_same<Out, __nv_bfloat16>::value) {
    to = __double2bfloat16(value);
  } else {
    to = static_cast<Out>(value);
  }
}

/// `partial`: leaves accumulators, of chunk after chunk; else results, divided
/// by `divisor` if that is not 0.
template <typename Op, typename T, typename Out, typename Acc, int V>
static __global__ void __launch_bounds__(kThreads)
    reduceKernel(ReduceGrid g, const T *x, void *y, bool partial,
                 int64_t divisor) {
  __shared__ Acc shared[V * kThreads];
  int self = static_cast<int>(threadIdx.x), alongKept, alongReduced;
  if (g.innerReduced) {
    alongReduced = self & (g.threadsReduced - 1);
    alongKept = self / g.threadsReduced;
  } else {
    alongKept = self & (g.threadsKept - 1);
    alongReduced = self / g.threadsKept;
  }
  int64_t kept = int64_t{blockIdx.x} * g.threadsKept + alongKept;
  bool active = kept < g.kept.total;
  Acc lanes[V];
#pragma unroll
  for (int v = 0; v < V; ++v) {
    lanes[v] = Op::initial();
  }
  if (active) {
    const T *from = x + offsetOf(g.kept, kept) * V;
    int64_t unit = blockIdx.y * g.chunkSize + alongReduced,
            end = min((blockIdx.y + int64_t{1}) * g.chunkSize, g.reduced.total);
    auto add = [&](const Pack<T, V> &pack) {
      Acc values[V];
      toAccumulators(values, pack);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        lanes[v] = Op::add(lanes[v], values[v]);
      }
    };
    constexpr int kUnroll = 4;
    int step = g.threadsReduced;
    bool straight = g.reduced.count <= 1;
    int64_t stride = g.reduced.stride[0] * V;
    for (; unit + (kUnroll - 1) * step < end; unit += kUnroll * step) {
      Pack<T, V> packs[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        int64_t number = unit + u * step;
        load(packs[u], from + (straight ? number * stride
                                        : offsetOf(g.reduced, number) * V));
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        add(packs[u]);
      }
    }
    for (; unit < end; unit += step) {
      Pack<T, V> pack;
      load(pack, from + offsetOf(g.reduced, unit) * V);
      add(pack);
    }
  }
  // Joins the block's threads along the reduced dimensions.
  int distance = g.innerReduced ? 1 : g.threadsKept;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    shared[v * kThreads + self] = lanes[v];
  }
  for (int half = g.threadsReduced / 2; half > 0; half /= 2) {
    __syncthreads();
    if (alongReduced < half) {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        lanes[v] =
            Op::join(lanes[v], shared[v * kThreads + self + half * distance]);
        shared[v * kThreads + self] = lanes[v];
      }
    }
  }
  if (!active || alongReduced != 0) {
    return;
  }
  int results = g.innerReduced ? 1 : V;
  if (g.innerReduced) {
#pragma unroll
    for (int v = 1; v < V; ++v) {
      lanes[0] = Op::join(lanes[0], lanes[v]);
    }
  }
  int64_t at = kept * results;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    if (v < results) {
      if (partial) {
        static_cast<Acc *>(y)[blockIdx.y * (g.kept.total * results) + at + v] =
            lanes[v];
      } else {
        fromAccumulator(static_cast<Out *>(y)[at + v],
                        divisor ? lanes[v] / static_cast<Acc>(divisor)
                                : lanes[v]);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

template <typename Op, typename T, typename Out, typename Acc, int V>
static void launchOne(const ReduceGrid &g, const void *x, void *y, bool partial,
                      int64_t divisor, cudaStream_t stream) {
  reduceKernel<Op, T, Out, Acc, V>
      <<<dim3(static_cast<unsigned>(g.blocks), static_cast<unsigned>(g.chunks)),
         kThreads, 0, stream>>>(g, static_cast<const T *>(x), y, partial,
                                divisor);
}

/// Joins accumulators with `Join`, after adding elements with `Op`.
template <typename Op, typename Join, typename T, typename Out, typename Acc>
static void launchBoth(const ReduceGrid &grid, const ReduceGrid &join,
                       const void *x, void *y, void *workspace, int64_t divisor,
                       cudaStream_t stream) {
  bool partial = grid.chunks > 1;
  void *to = partial ? workspace : y;
  constexpr int kVector = kIsFloat<T> ? kWide<T> : 1,
                kNarrow = kIsFloat<T> ? 4 : 1;
  if (grid.width == kVector) {
    launchOne<Op, T, Out, Acc, kVector>(grid, x, to, partial, divisor, stream);
  } else if (grid.width == kNarrow) {
    launchOne<Op, T, Out, Acc, kNarrow>(grid, x, to, partial, divisor, stream);
  } else {
    launchOne<Op, T, Out, Acc, 1>(grid, x, to, partial, divisor, stream);
  }
  if (partial) {
    launchOne<Join, Acc, Out, Acc, 1>(join, workspace, y, false, divisor,
                                      stream);
  }
}

template <typename T, typename Out>
static void launchOf(ReduceKind kind, const ReduceGrid &grid,
                     const ReduceGrid &join, const void *x, void *y,
                     void *workspace, int64_t divisor, cudaStream_t stream) {
  using Acc = std::conditional_t<std::is_integral<T>::value, int64_t, double>;
  auto launch = [&](auto op, auto joined) {
    launchBoth<decltype(op), decltype(joined), T, Out, Acc>(
        grid, join, x, y, workspace, divisor, stream);
  };
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return launch(Sum<Acc>{}, Sum<Acc>{});
  case ReduceKind::Max:
    return launch(Max<Acc>{}, Max<Acc>{});
  case ReduceKind::Min:
    return launch(Min<Acc>{}, Min<Acc>{});
  case ReduceKind::Prod:
    return launch(Prod<Acc>{}, Prod<Acc>{});
  case ReduceKind::SumSquare:
    return launch(SumSquare<Acc>{}, Sum<Acc>{});
  }
}

/// Of the widest loads.
static int widthOf(ReduceElement element) {
  return element == ReduceElement::F32    ? wideElements(Storage::F32)
         : element == ReduceElement::BF16 ? wideElements(Storage::BF16)
                                          : 1;
}

Reduce::Reduce(const std::vector<ReduceDim> &dims, ReduceKind kind,
               ReduceElement element, bool wide)
    : kind_(kind), element_(element), wide_(wide),
      grid_(ReduceGrid::of(dims, widthOf(element), true)) {
  for (const ReduceDim &dim : dims) {
    reducedElements_ *= dim.reduced ? dim.size : 1;
  }
  join_ = ReduceGrid::of({{grid_.chunks, true}, {grid_.results(), false}}, 1,
                         false);
}

uint64_t Reduce::workspaceBytes() const {
  return grid_.chunks > 1 ? static_cast<uint64_t>(grid_.chunks) *
                                static_cast<uint64_t>(grid_.results()) * 8
                          : 0;
}

cudaError_t Reduce::launch(const void *x, void *y, void *workspace,
                           cudaStream_t stream) const {
  int64_t divisor = kind_ == ReduceKind::Mean ? reducedElements_ : 0;
  auto launch = [&](auto zero, auto result) {
    launchOf<decltype(zero), decltype(result)>(kind_, grid_, join_, x, y,
                                               workspace, divisor, stream);
  };
  switch (element_) {
  case ReduceElement::F32:
    launch(float{}, float{});
    break;
  case ReduceElement::F64:
    launch(double{}, double{});
    break;
  case ReduceElement::I64:
    launch(int64_t{}, int64_t{});
    break;
  case ReduceElement::I32:
    launch(int32_t{}, int32_t{});
    break;
  case ReduceElement::BF16:
    if (wide_) {
      launch(__nv_bfloat16{}, float{});
    } else {
      launch(__nv_bfloat16{}, __nv_bfloat16{});
    }
    break;
  }
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
