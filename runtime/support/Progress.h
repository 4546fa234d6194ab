//===- Progress.h - one live line on a terminal, plain lines elsewhere ----===//

#ifndef VDNN_RUNTIME_SUPPORT_PROGRESS_H
#define VDNN_RUNTIME_SUPPORT_PROGRESS_H

#include <cstdio>
#include <string>

namespace vdnn::rt {

/// Not thread-safe.
class Progress {
public:
  /// Live if `stream` is a terminal.
  explicit Progress(std::FILE *stream);
  ~Progress() { finish(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  bool live() const { return live_; }

  /// Replaces the live line; nothing where there is none.
  void update(const std::string &line);

  /// Prints a line that stays, above the live line.
  void print(const std::string &line);

  /// Ends the live line, which stays as it is.
  void finish();

private:
  std::FILE *stream_;
  bool live_;
  bool open_ = false;
};

} // namespace vdnn::rt

#endif
