//===- AtomicFile.h - a file appears whole or not at all ------------------===//

#ifndef VDNN_RUNTIME_SUPPORT_ATOMICFILE_H
#define VDNN_RUNTIME_SUPPORT_ATOMICFILE_H

#include "runtime/support/Error.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace vdnn::rt {

/// Writes to a temporary file beside `path`, or beside the file that a link of
/// that name leads to; `commit` makes it durable and renames it. A process that
/// dies before leaves the old file as it was; an AtomicFile that is destroyed
/// without `commit` removes its temporary.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);

  /// Flushes the file, renames it, and flushes the folder. To be called once,
  /// last.
  Status commit();

private:
  AtomicFile() = default;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// All of it at once.
Status writeFile(const std::string &path, std::string_view text);

} // namespace vdnn::rt

#endif
