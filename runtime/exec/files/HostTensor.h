//===- HostTensor.h - a tensor in host memory, row major ------------------===//

#ifndef VDNN_RUNTIME_EXEC_FILES_HOSTTENSOR_H
#define VDNN_RUNTIME_EXEC_FILES_HOSTTENSOR_H

#include "runtime/schedule/Schedule.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace vdnn::rt {

/// Dense, little endian, row major; not necessarily aligned. A view: `owner`
/// keeps the bytes alive.
struct HostTensor {
  std::string name;
  schedule::ElementType element = schedule::ElementType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner;
};

/// Number of elements, or nothing where a dimension is negative or the product
/// exceeds 2^62.
std::optional<uint64_t> elementCount(std::span<const int64_t> shape);

/// "f32", "i64", ...
const char *elementName(schedule::ElementType element);

/// Whether every value of `from` is a value of `to`.
bool convertsExactly(schedule::ElementType from, schedule::ElementType to);

/// Converts `source` element by element, between floating-point types to the
/// nearest value, ties to even; other types only where `convertsExactly` holds.
/// The spans hold the same number of elements.
void convert(std::span<const std::byte> source, schedule::ElementType from,
             std::span<std::byte> destination, schedule::ElementType to);

/// Elements `first` to `first + count` as doubles (exact but for I64 beyond
/// 2^53).
std::vector<double> toDoubles(const HostTensor &tensor, uint64_t first,
                              uint64_t count);

/// A tensor that owns its bytes.
HostTensor makeHostTensor(std::string name, schedule::ElementType element,
                          std::vector<int64_t> shape,
                          std::vector<std::byte> bytes);

} // namespace vdnn::rt

#endif
