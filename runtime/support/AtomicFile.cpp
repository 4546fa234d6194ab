//===- AtomicFile.cpp -----------------------------------------------------===//

#include "runtime/support/AtomicFile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace vdnn::rt {

static Error systemError(const std::string &what, const std::string &path) {
  return Error{"cannot " + what + " '" + path + "': " + std::strerror(errno)};
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile file;
  // A link keeps leading to the file, wherever that is.
  std::error_code error;
  std::filesystem::path target = path;
  if (std::filesystem::is_symlink(target, error)) {
    target = std::filesystem::canonical(path, error);
  }
  file.path_ = error ? path : target.string();
  file.temporary_ = file.path_ + ".XXXXXX";
  file.descriptor_ = ::mkstemp(file.temporary_.data());
  if (file.descriptor_ < 0) {
    file.temporary_.clear();
    return systemError("write", path);
  }
  // mkstemp makes files that only the owner can read; what the user asked for
  // is an ordinary file.
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file.descriptor_, 0666 & ~mask);
  return Result<AtomicFile>(std::move(file));
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
  }
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      return systemError("write", path_);
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status AtomicFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Status AtomicFile::commit() {
  if (::fsync(descriptor_) != 0 ||
      ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return systemError("write", path_);
  }
  ::close(descriptor_);
  descriptor_ = -1;
  // The rename itself is durable only once the folder is.
  std::string folder = std::filesystem::path(path_).parent_path().string();
  int descriptor = ::open(folder.empty() ? "." : folder.c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
  return {};
}

Status writeFile(const std::string &path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status status = file->write(text); !status) {
    return status;
  }
  return file->commit();
}

} // namespace vdnn::rt
