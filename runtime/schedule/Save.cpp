//===- Save.cpp - writes schedules ----------------------------------------------------------------------------===//

#include "runtime/schedule/Schedule.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace vdnn::schedule {

std::vector<uint8_t> serialize(const ScheduleT &schedule) {
  flatbuffers::FlatBufferBuilder builder;
  FinishScheduleBuffer(builder, Schedule::Pack(builder, &schedule));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

static rt::Error failure(const std::string &path, const char *what) {
  return rt::Error{"cannot " + std::string(what) + " '" + path + "': " + std::strerror(errno)};
}

static bool writeAll(int file, const std::vector<uint8_t> &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    done += static_cast<size_t>(written);
  }
  return fsync(file) == 0;
}

rt::Status save(const ScheduleT &schedule, const std::string &path) {
  if (rt::Status status = validate(schedule); !status) {
    return rt::Error{"refusing to write '" + path + "': " + status.message()};
  }
  std::string temporary = path + ".XXXXXX";
  int file = mkstemp(temporary.data());
  if (file < 0) {
    return failure(path, "create a file beside");
  }
  // mkstemp gives 0600; a plan is as public as any other output of a compiler.
  mode_t mask = umask(0);
  umask(mask);
  bool written = writeAll(file, serialize(schedule)) && fchmod(file, 0666 & ~mask) == 0;
  written = close(file) == 0 && written;
  if (!written || rename(temporary.c_str(), path.c_str()) != 0) {
    rt::Error error = failure(path, "write");
    unlink(temporary.c_str());
    return error;
  }
  return {};
}

} // namespace vdnn::schedule
