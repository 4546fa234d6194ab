//===- Format.cpp ---------------------------------------------------------===//

#include "runtime/support/Format.h"

#include <cstdarg>
#include <cstdio>

namespace vdnn::rt {

std::string format(const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  va_list again;
  va_copy(again, arguments);
  int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

std::string formatBytes(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB",
                                           "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    return format("%llu B", static_cast<unsigned long long>(bytes));
  }
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.995 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return format("%.2f %s", value, kUnits[unit]);
}

std::string formatDuration(int64_t nanoseconds) {
  double value = static_cast<double>(nanoseconds);
  if (nanoseconds < 1000) {
    return format("%lld ns", static_cast<long long>(nanoseconds));
  }
  if (value < 1e6) {
    return format("%.3g us", value / 1e3);
  }
  if (value < 1e9) {
    return format("%.3g ms", value / 1e6);
  }
  if (value < 60e9) {
    return format("%.3g s", value / 1e9);
  }
  long long seconds = nanoseconds / 1000000000;
  if (seconds < 3600) {
    return format("%lld min %lld s", seconds / 60, seconds % 60);
  }
  return format("%lld h %lld min", seconds / 3600, seconds / 60 % 60);
}

std::string formatShape(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

} // namespace vdnn::rt
