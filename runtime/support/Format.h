//===- Format.h - sizes, times and shapes as text -------------------------===//

#ifndef VDNN_RUNTIME_SUPPORT_FORMAT_H
#define VDNN_RUNTIME_SUPPORT_FORMAT_H

#include <cstdint>
#include <span>
#include <string>

namespace vdnn::rt {

/// printf into a string.
std::string format(const char *pattern, ...)
    __attribute__((format(printf, 1, 2)));

/// "512 B", "1.50 KiB", "6.00 GiB".
std::string formatBytes(uint64_t bytes);

/// Nanoseconds as "250 ns", "12.3 us", "41.0 ms", "2.50 s", "3 min 20 s".
std::string formatDuration(int64_t nanoseconds);

/// "[8, 3, 224, 224]"; a scalar is "[]".
std::string formatShape(std::span<const int64_t> shape);

} // namespace vdnn::rt

#endif
