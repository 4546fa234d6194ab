//===- MappedFile.h - a file as read-only memory --------------------------===//

#ifndef VDNN_RUNTIME_SUPPORT_MAPPEDFILE_H
#define VDNN_RUNTIME_SUPPORT_MAPPEDFILE_H

#include "runtime/support/Error.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace vdnn::rt {

/// The bytes of a regular file. Copies share the mapping, which lives as long
/// as the last of them. Safe to read from several threads. A file that another
/// process truncates while it is mapped ends this process (as with every
/// mapping).
class MappedFile {
public:
  static Result<MappedFile> open(const std::string &path);

  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  /// A copy.
  std::string text() const {
    return {reinterpret_cast<const char *>(data_.get()), size_};
  }
  const std::string &path() const { return path_; }

  /// Keeps the mapping alive.
  std::shared_ptr<const void> owner() const { return data_; }

private:
  std::shared_ptr<const std::byte> data_;
  size_t size_ = 0;
  std::string path_;
};

} // namespace vdnn::rt

#endif
