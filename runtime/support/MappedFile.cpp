//===- MappedFile.cpp -----------------------------------------------------===//

#include "runtime/support/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vdnn::rt {

Result<MappedFile> MappedFile::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{"cannot open '" + path + "': " + std::strerror(errno)};
  }
  struct stat info;
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Error{"'" + path + "' is not a regular file"};
  }
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<size_t>(info.st_size);
  if (file.size_ > 0) {
    void *address =
        ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      int code = errno;
      ::close(descriptor);
      return Error{"cannot map '" + path + "': " + std::strerror(code)};
    }
    size_t size = file.size_;
    file.data_ = std::shared_ptr<const std::byte>(
        static_cast<const std::byte *>(address), [size](const std::byte *data) {
          ::munmap(const_cast<std::byte *>(data), size);
        });
  }
  ::close(descriptor);
  return file;
}

} // namespace vdnn::rt
