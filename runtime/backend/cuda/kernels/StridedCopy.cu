//===- StridedCopy.cu -----------------------------------------------------===//

#include "runtime/backend/cuda/kernels/StridedCopy.h"

#include "runtime/backend/cuda/kernels/FastDivide.h"
#include "runtime/backend/cuda/kernels/Storage.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

#include <algorithm>

namespace vdnn::rt::cuda {

constexpr int kThreads = 256;
/// Units that a thread of a plain copy has in flight.
constexpr int kUnroll = 4;
/// Narrower transpositions are not worth tiles.
constexpr int64_t kNarrow = 16;
/// Planes that one thread interleaves, as of an image's colours.
constexpr int64_t kMostPlanes = 4;
constexpr int64_t kMostBlocks = int64_t{1} << 30;

//===----------------------------------------------------------------------===//
// Choosing the method
//===----------------------------------------------------------------------===//

/// Drops dimensions of one element, sorts by the place in `to`, and joins
/// neighbours that are contiguous on both sides.
static std::vector<CopyDim> simplify(std::vector<CopyDim> dims) {
  dims.erase(std::remove_if(dims.begin(), dims.end(),
                            [](const CopyDim &dim) { return dim.size == 1; }),
             dims.end());
  std::stable_sort(
      dims.begin(), dims.end(),
      [](const CopyDim &a, const CopyDim &b) { return a.to > b.to; });
  for (size_t i = dims.size(); i-- > 1;) {
    CopyDim &outer = dims[i - 1], inner = dims[i];
    if (outer.from == inner.from * inner.size &&
        outer.to == inner.to * inner.size) {
      outer = {outer.size * inner.size, inner.from, inner.to};
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return dims;
}

/// Whether the last of the dimensions counts planes whose elements, along
/// `row`, are to lie side by side, and all of it can be copied by 16 bytes.
static bool arePlanes(const std::vector<CopyDim> &dims, const CopyDim &row,
                      uint64_t elementBytes, uint64_t alignment) {
  auto elements = 16 / static_cast<int64_t>(elementBytes);
  const CopyDim &planes = dims.back();
  return planes.size <= kMostPlanes && row.to == planes.size &&
         row.size % elements == 0 && alignment % 16 == 0 &&
         std::all_of(dims.begin(), dims.end(), [&](const CopyDim &dim) {
           bool isRow = &dim == &row, isPlanes = &dim == &planes;
           return (isRow || dim.from % elements == 0) &&
                  (isRow || isPlanes || dim.to % elements == 0);
         });
}

StridedCopy::StridedCopy(std::vector<CopyDim> dims, uint64_t elementBytes,
                         uint64_t alignment)
    : unitBytes_(static_cast<int>(elementBytes)) {
  for (const CopyDim &dim : dims) {
    if (dim.size == 0) {
      method_ = Method::Empty;
      return;
    }
  }
  dims = simplify(std::move(dims));
  if (!dims.empty() && dims.back().from == 1 && dims.back().to == 1) {
    // Contiguous rows: the widest units that divide everything.
    CopyDim &inner = dims.back();
    while (unitBytes_ < 16 &&
           alignment % static_cast<uint64_t>(2 * unitBytes_) == 0 &&
           inner.size % 2 == 0 &&
           std::all_of(
               dims.begin(), dims.end() - 1,
               [](const CopyDim &dim) {
                 return dim.from % 2 == 0 && dim.to % 2 == 0;
               })) {
      unitBytes_ *= 2;
      inner.size /= 2;
      for (size_t i = 0; i + 1 < dims.size(); ++i) {
        dims[i].from /= 2;
        dims[i].to /= 2;
      }
    }
  } else if (!dims.empty() && dims.back().to == 1) {
    auto contiguous =
        std::find_if(dims.begin(), dims.end(),
                     [](const CopyDim &dim) { return dim.from == 1; });
    if (contiguous != dims.end() &&
        std::min(contiguous->size, dims.back().size) >= kNarrow) {
      method_ = Method::Tiles;
      column_ = dims.back();
      row_ = *contiguous;
      dims.pop_back();
      dims.erase(contiguous);
    } else if (contiguous != dims.end() &&
               arePlanes(dims, *contiguous, elementBytes, alignment)) {
      method_ = Method::Planes;
      column_ = dims.back();
      dims.pop_back();
      // Each thread takes what it can load at once of every plane.
      auto elements = 16 / static_cast<int64_t>(elementBytes);
      *contiguous = {contiguous->size / elements, elements,
                     elements * column_.size};
    }
  }
  fits_ = dims.size() <= static_cast<size_t>(CopyDims::kMost);
  for (const CopyDim &dim : dims) {
    units_ *= dim.size;
    if (fits_) {
      dims_.dims[dims_.count++] = dim;
    }
  }
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

namespace {

/// Divides numbers of 64 bits, where `FastDivide` is too narrow.
struct WideDivide {
  int64_t size = 1;

  WideDivide() = default;
  explicit WideDivide(int64_t divisor) : size(divisor) {}
  __device__ int64_t divide(int64_t number) const { return number / size; }
};

/// Offsets by number of a unit, of the dimensions in row-major order.
template <typename Divide>
struct Offsets {
  int count;
  Divide divides[CopyDims::kMost];
  CopyDim dims[CopyDims::kMost];

  explicit Offsets(const CopyDims &from) : count(from.count) {
    for (int d = 0; d < CopyDims::kMost; ++d) {
      dims[d] = from.dims[d];
      divides[d] = d < count ? Divide(from.dims[d].size) : Divide();
    }
  }

  __device__ void add(int64_t number, int64_t &from, int64_t &to) const {
#pragma unroll
    for (int d = CopyDims::kMost - 1; d >= 0; --d) {
      if (d < count) {
        auto quotient = static_cast<int64_t>(divides[d].divide(number));
        int64_t index = number - quotient * dims[d].size;
        from += index * dims[d].from;
        to += index * dims[d].to;
        number = quotient;
      }
    }
  }
};

} // namespace

/// Calls `launch` with the offsets of the narrowest kind that can count to
/// `most`.
template <typename Launch>
static void withOffsets(const CopyDims &dims, int64_t most,
                        const Launch &launch) {
  if (most < (int64_t{1} << 31)) {
    launch(Offsets<FastDivide>(dims));
  } else {
    launch(Offsets<WideDivide>(dims));
  }
}

/// Calls `body` with a value of the type of so many bytes.
template <typename Body>
static void dispatch(int bytes, const Body &body) {
  switch (bytes) {
  case 1:
    return body(Raw<1>::Type{});
  case 2:
    return body(Raw<2>::Type{});
  case 4:
    return body(Raw<4>::Type{});
  case 8:
    return body(Raw<8>::Type{});
  default:
    return body(Raw<16>::Type{});
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

template <typename T, typename Divide>
static __global__ void __launch_bounds__(kThreads)
    unitKernel(Offsets<Divide> offsets, int64_t units, const T *from, T *to) {
  for (int64_t first = int64_t{blockIdx.x} * kThreads * kUnroll + threadIdx.x;
       first < units; first += int64_t{gridDim.x} * kThreads * kUnroll) {
    T values[kUnroll];
    int64_t targets[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads < units) {
        int64_t source = 0;
        targets[u] = 0;
        offsets.add(first + u * kThreads, source, targets[u]);
        values[u] = from[source];
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads < units) {
        to[targets[u]] = values[u];
      }
    }
  }
}

/// Tiles of kTile x kTile, read along rows and written along columns.
template <typename T, int kTile, typename Divide>
static __global__ void __launch_bounds__(kThreads)
    tileKernel(Offsets<Divide> outer, CopyDim row, CopyDim column,
               int64_t rowTiles, int64_t columnTiles, int64_t tiles,
               const T *from, T *to) {
  __shared__ T tile[kTile][kTile + 1];
  constexpr int kLines = kThreads / kTile;
  int lane = static_cast<int>(threadIdx.x) % kTile,
      line = static_cast<int>(threadIdx.x) / kTile;
  for (int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    int64_t rest = index / columnTiles,
            firstColumn = (index - rest * columnTiles) * kTile;
    int64_t number = rest / rowTiles,
            firstRow = (rest - number * rowTiles) * kTile;
    int64_t source = firstColumn * column.from + firstRow,
            target = firstColumn + firstRow * row.to;
    outer.add(number, source, target);
    int rows = static_cast<int>(min(row.size - firstRow, int64_t{kTile})),
        columns =
            static_cast<int>(min(column.size - firstColumn, int64_t{kTile}));
#pragma unroll
    for (int i = 0; i < kTile; i += kLines) {
      if (lane < rows && line + i < columns) {
        tile[line + i][lane] = from[source + (line + i) * column.from + lane];
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; i += kLines) {
      if (lane < columns && line + i < rows) {
        to[target + (line + i) * row.to + lane] = tile[lane][line + i];
      }
    }
    __syncthreads();
  }
}

/// A thread's elements of one plane.
template <typename T>
struct alignas(16) PlaneUnit {
  static constexpr int kSize = 16 / sizeof(T);
  T elements[kSize];
};

/// Reads a unit of each plane, `stride` elements apart, and writes the elements
/// that belong together side by side.
template <typename T, int kPlanes, typename Divide>
static __global__ void __launch_bounds__(kThreads)
    planesKernel(Offsets<Divide> offsets, int64_t units, int64_t stride,
                 const T *from, T *to) {
  using Unit = PlaneUnit<T>;
  for (int64_t unit = int64_t{blockIdx.x} * kThreads + threadIdx.x;
       unit < units; unit += int64_t{gridDim.x} * kThreads) {
    int64_t source = 0, target = 0;
    offsets.add(unit, source, target);
    Unit planes[kPlanes], mixed[kPlanes];
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) {
      planes[p] = *reinterpret_cast<const Unit *>(from + source + p * stride);
    }
#pragma unroll
    for (int i = 0; i < kPlanes * Unit::kSize; ++i) {
      mixed[i / Unit::kSize].elements[i % Unit::kSize] =
          planes[i % kPlanes].elements[i / kPlanes];
    }
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) {
      reinterpret_cast<Unit *>(to + target)[p] = mixed[p];
    }
  }
}

template <int kPlanes, typename T>
static void launchPlanes(const CopyDims &dims, int64_t units, int64_t stride,
                         const T *from, T *to, cudaStream_t stream) {
  int64_t blocks = std::min(ceilDivide(units, kThreads), kMostBlocks);
  withOffsets(dims, units, [&](const auto &offsets) {
    planesKernel<T, kPlanes>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
            offsets, units, stride, from, to);
  });
}

template <int kTile, typename T>
static void launchTiles(const CopyDims &outer, int64_t outerSize,
                        const CopyDim &row, const CopyDim &column,
                        const T *from, T *to, cudaStream_t stream) {
  int64_t rowTiles = ceilDivide(row.size, kTile),
          columnTiles = ceilDivide(column.size, kTile),
          tiles = rowTiles * columnTiles * outerSize;
  withOffsets(outer, outerSize, [&](const auto &offsets) {
    tileKernel<T, kTile><<<static_cast<unsigned>(std::min(tiles, kMostBlocks)),
                           kThreads, 0, stream>>>(
        offsets, row, column, rowTiles, columnTiles, tiles, from, to);
  });
}

cudaError_t StridedCopy::launch(const void *from, void *to,
                                cudaStream_t stream) const {
  if (method_ == Method::Empty) {
    return cudaSuccess;
  }
  dispatch(unitBytes_, [&](auto unit) {
    using T = decltype(unit);
    const T *source = static_cast<const T *>(from);
    T *target = static_cast<T *>(to);
    if (method_ == Method::Units) {
      int64_t blocks = ceilDivide(units_, kThreads * kUnroll);
      withOffsets(dims_, units_, [&](const auto &offsets) {
        unitKernel<<<static_cast<unsigned>(std::min(blocks, kMostBlocks)),
                     kThreads, 0, stream>>>(offsets, units_, source, target);
      });
      return;
    }
    if constexpr (sizeof(T) <= 8) {
      if (method_ == Method::Planes) {
        auto launch = column_.size == 2   ? launchPlanes<2, T>
                      : column_.size == 3 ? launchPlanes<3, T>
                                          : launchPlanes<4, T>;
        launch(dims_, units_, column_.from, source, target, stream);
        return;
      }
    }
    if constexpr (sizeof(T) <= 4) {
      if (std::min(row_.size, column_.size) >= 64) {
        launchTiles<64>(dims_, units_, row_, column_, source, target, stream);
        return;
      }
    }
    if constexpr (sizeof(T) <= 8) {
      launchTiles<32>(dims_, units_, row_, column_, source, target, stream);
    }
  });
  return cudaGetLastError();
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

namespace {
/// In units: where each part ends in a row of the result.
struct Parts {
  int count;
  const void *from[ConcatParts::kMost];
  int64_t end[ConcatParts::kMost];
};
} // namespace

template <typename T, typename Divide>
static __global__ void __launch_bounds__(kThreads)
    concatKernel(Parts parts, Divide row, int64_t rowUnits, int64_t toUnits,
                 int64_t units, T *to) {
  for (int64_t first = int64_t{blockIdx.x} * kThreads * kUnroll + threadIdx.x;
       first < units; first += int64_t{gridDim.x} * kThreads * kUnroll) {
    T values[kUnroll];
    int64_t targets[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      int64_t unit = first + u * kThreads;
      if (unit < units) {
        auto index = static_cast<int64_t>(row.divide(unit));
        int64_t at = unit - index * rowUnits, begin = 0;
        int part = 0;
        while (at >= parts.end[part]) {
          begin = parts.end[part++];
        }
        values[u] = static_cast<const T *>(
            parts.from[part])[index * (parts.end[part] - begin) + at - begin];
        targets[u] = index * toUnits + at;
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads < units) {
        to[targets[u]] = values[u];
      }
    }
  }
}

cudaError_t launchConcat(const ConcatParts &parts, int64_t rows,
                         int64_t toBytes, void *to, cudaStream_t stream) {
  // The widest units that divide all rows of all parts.
  auto address = reinterpret_cast<uintptr_t>(to);
  uint64_t all = 16 | static_cast<uint64_t>(toBytes) | address;
  int64_t rowBytes = 0;
  for (int i = 0; i < parts.count; ++i) {
    all |= static_cast<uint64_t>(parts.bytes[i]);
    rowBytes += parts.bytes[i];
  }
  auto unitBytes = static_cast<int>(all & (~all + 1));
  if (rows == 0 || rowBytes == 0) {
    return cudaSuccess;
  }
  Parts units{parts.count, {}, {}};
  int64_t end = 0;
  for (int i = 0; i < parts.count; ++i) {
    end += parts.bytes[i] / unitBytes;
    units.from[i] = parts.from[i];
    units.end[i] = end;
  }
  int64_t total = rows * end, toUnits = toBytes / unitBytes;
  auto blocks = static_cast<unsigned>(
      std::min(ceilDivide(total, kThreads * kUnroll), kMostBlocks));
  dispatch(unitBytes, [&](auto unit) {
    using T = decltype(unit);
    if (total < (int64_t{1} << 31)) {
      concatKernel<<<blocks, kThreads, 0, stream>>>(
          units, FastDivide(end), end, toUnits, total, static_cast<T *>(to));
    } else {
      concatKernel<<<blocks, kThreads, 0, stream>>>(
          units, WideDivide(end), end, toUnits, total, static_cast<T *>(to));
    }
  });
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
