//===- StridedCopy.cpp - copies between strided views ---------------------===//

#include "runtime/backend/cpu/StridedCopy.h"

#include "runtime/backend/cpu/Parallel.h"

#include <cstring>

namespace vdnn::rt::cpu {

StridedCopy::StridedCopy(std::vector<int64_t> sizes,
                         std::vector<int64_t> fromStrides,
                         std::vector<int64_t> toStrides, uint64_t elementBytes)
    : elementBytes_(elementBytes) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) {
      dims.push_back({sizes[i], fromStrides[i], toStrides[i]});
    }
  }
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dim &a, const Dim &b) { return a.to > b.to; });
  // Neighbours that are contiguous on both sides become one dimension.
  for (size_t i = dims.size(); i-- > 1;) {
    if (dims[i - 1].from == dims[i].from * dims[i].size &&
        dims[i - 1].to == dims[i].to * dims[i].size) {
      dims[i - 1] = {dims[i - 1].size * dims[i].size, dims[i].from, dims[i].to};
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (!dims.empty()) {
    column_ = dims.back();
    dims.pop_back();
    auto contiguous = std::find_if(
        dims.begin(), dims.end(), [](const Dim &dim) { return dim.from == 1; });
    if (column_.from != 1 && contiguous != dims.end()) {
      row_ = *contiguous;
      dims.erase(contiguous);
    }
  }
  outer_ = std::move(dims);
}

/// A tile that is contiguous along rows in `from` and along columns in `to`.
template <typename T>
VDNN_MULTIVERSION static void transposeTile(T *to, const T *from, int64_t rows,
                                            int64_t toRow, int64_t columns,
                                            int64_t fromColumn) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      to[r * toRow + c] = from[c * fromColumn + r];
    }
  }
}

template <typename T>
static void gather(T *to, const T *from, int64_t count, int64_t toStep,
                   int64_t fromStep) {
  for (int64_t i = 0; i < count; ++i) {
    to[i * toStep] = from[i * fromStep];
  }
}

template <typename Body>
static void dispatch(uint64_t elementBytes, const Body &body) {
  switch (elementBytes) {
  case 1:
    return body(uint8_t{});
  case 2:
    return body(uint16_t{});
  case 4:
    return body(uint32_t{});
  default:
    return body(uint64_t{});
  }
}

void StridedCopy::run(unsigned threads, std::byte *to,
                      const std::byte *from) const {
  dispatch(elementBytes_, [&](auto element) {
    using T = decltype(element);
    // One item is a tile: the whole column where it is contiguous (cut, so that
    // threads find work), else a square that fits the cache.
    bool contiguous = column_.from == 1 && column_.to == 1;
    int64_t tileRows = 32, tileColumns = contiguous      ? 4096
                                         : row_.size > 1 ? 32
                                                         : 1024;
    int64_t rowTiles = (row_.size + tileRows - 1) / tileRows;
    int64_t columnTiles = (column_.size + tileColumns - 1) / tileColumns;
    int64_t items = rowTiles * columnTiles;
    for (const Dim &dim : outer_) {
      items *= dim.size;
    }
    parallelFor(threads, items, [&](int64_t item) {
      int64_t column = item % columnTiles * tileColumns,
              row = item / columnTiles % rowTiles * tileRows;
      int64_t rest = item / columnTiles / rowTiles;
      int64_t source = column * column_.from + row * row_.from,
              target = column * column_.to + row * row_.to;
      for (size_t d = outer_.size(); d-- > 0;) {
        int64_t index = rest % outer_[d].size;
        rest /= outer_[d].size;
        source += index * outer_[d].from;
        target += index * outer_[d].to;
      }
      const T *in = reinterpret_cast<const T *>(from) + source;
      T *out = reinterpret_cast<T *>(to) + target;
      int64_t columns = std::min(tileColumns, column_.size - column),
              rows = std::min(tileRows, row_.size - row);
      if (contiguous) {
        std::memcpy(out, in, static_cast<size_t>(columns) * sizeof(T));
      } else if (row_.size > 1 && column_.to == 1) {
        transposeTile(out, in, rows, row_.to, columns, column_.from);
      } else {
        for (int64_t r = 0; r < rows; ++r) {
          gather(out + r * row_.to, in + r * row_.from, columns, column_.to,
                 column_.from);
        }
      }
    });
  });
}

} // namespace vdnn::rt::cpu
