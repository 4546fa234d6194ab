//===- Layout.h - a tensor's elements in row-major order and in its own ---===//

#ifndef VDNN_RUNTIME_EXEC_LAYOUT_H
#define VDNN_RUNTIME_EXEC_LAYOUT_H

#include "runtime/schedule/Schedule.h"

#include <cstddef>
#include <span>

namespace vdnn::rt {

/// Whether the elements lie in row-major order.
bool isRowMajor(const schedule::TypeT &type);

/// Copies `source`, row major, into `destination`, in the layout of `type`.
/// Both have the bytes of the type.
void fromRowMajor(const schedule::TypeT &type,
                  std::span<const std::byte> source,
                  std::span<std::byte> destination);

/// The other way.
void toRowMajor(const schedule::TypeT &type, std::span<const std::byte> source,
                std::span<std::byte> destination);

} // namespace vdnn::rt

#endif
