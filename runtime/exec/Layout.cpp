//===- Layout.cpp ---------------------------------------------------------===//

#include "runtime/exec/Layout.h"

#include <cstring>

namespace vdnn::rt {

namespace {

/// Transposes each of `batch` matrices of `rows` x `columns` elements.
void transpose(size_t batch, size_t rows, size_t columns, size_t element,
               std::span<const std::byte> source,
               std::span<std::byte> destination) {
  size_t matrix = rows * columns * element;
  for (size_t b = 0; b < batch; ++b) {
    const std::byte *in = source.data() + b * matrix;
    std::byte *out = destination.data() + b * matrix;
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        std::memcpy(out + (c * rows + r) * element,
                    in + (r * columns + c) * element, element);
      }
    }
  }
}

/// Of a channels-last type: outermost dimension, channels, and the product of
/// the rest.
struct Extents {
  size_t outer;
  size_t channels;
  size_t inner = 1;

  explicit Extents(const std::vector<int64_t> &shape)
      : outer(static_cast<size_t>(shape[0])),
        channels(static_cast<size_t>(shape[1])) {
    for (size_t i = 2; i < shape.size(); ++i) {
      inner *= static_cast<size_t>(shape[i]);
    }
  }
};

void copy(std::span<const std::byte> source, std::span<std::byte> destination) {
  if (!source.empty()) {
    std::memcpy(destination.data(), source.data(), source.size());
  }
}

} // namespace

bool isRowMajor(const schedule::TypeT &type) {
  return type.layout == schedule::Layout::RowMajor || type.shape.size() < 3;
}

void fromRowMajor(const schedule::TypeT &type,
                  std::span<const std::byte> source,
                  std::span<std::byte> destination) {
  if (isRowMajor(type)) {
    return copy(source, destination);
  }
  Extents extents(type.shape);
  transpose(extents.outer, extents.channels, extents.inner,
            schedule::elementBytes(type.element), source, destination);
}

void toRowMajor(const schedule::TypeT &type, std::span<const std::byte> source,
                std::span<std::byte> destination) {
  if (isRowMajor(type)) {
    return copy(source, destination);
  }
  Extents extents(type.shape);
  transpose(extents.outer, extents.inner, extents.channels,
            schedule::elementBytes(type.element), source, destination);
}

} // namespace vdnn::rt
