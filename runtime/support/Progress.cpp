//===- Progress.cpp -------------------------------------------------------===//

#include "runtime/support/Progress.h"

#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace vdnn::rt {

Progress::Progress(std::FILE *stream) : stream_(stream) {
  const char *terminal = std::getenv("TERM");
  live_ = ::isatty(::fileno(stream)) && terminal &&
          std::strcmp(terminal, "dumb") != 0;
}

void Progress::update(const std::string &line) {
  if (!live_) {
    return;
  }
  winsize size{};
  // A line that wraps cannot be replaced, so cut it at the width of the
  // terminal.
  size_t width =
      ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1
          ? size.ws_col - 1u
          : 79u;
  std::fprintf(stream_, "\r\033[K%s", line.substr(0, width).c_str());
  std::fflush(stream_);
  open_ = true;
}

void Progress::print(const std::string &line) {
  std::fprintf(stream_, "%s%s\n", open_ ? "\r\033[K" : "", line.c_str());
  std::fflush(stream_);
  open_ = false;
}

void Progress::finish() {
  if (open_) {
    std::fputc('\n', stream_);
    std::fflush(stream_);
    open_ = false;
  }
}

} // namespace vdnn::rt
