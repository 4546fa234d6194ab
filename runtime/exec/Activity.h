//===- Activity.h - what a device did, by its own clock -------------------===//

#ifndef VDNN_RUNTIME_EXEC_ACTIVITY_H
#define VDNN_RUNTIME_EXEC_ACTIVITY_H

#include "runtime/support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace vdnn::rt {

/// One kernel, copy or fill that ran.
struct Activity {
  enum class Kind : uint8_t { Work, CopyToHost, CopyToDevice };
  static constexpr uint32_t kNoCommand = ~uint32_t{0};

  Kind kind = Kind::Work;
  uint32_t command = kNoCommand; ///< that it was submitted for
  int64_t startNs = 0;
  int64_t endNs = 0;
  bool replayed = false; ///< as part of a captured step
  std::string name;      ///< the device's own, may be empty
};

/// Notes what a device does while it lives. One at a time, used by one thread.
class ActivityTracer {
public:
  virtual ~ActivityTracer() = default;

  /// What is submitted until `leave` belongs to this command.
  virtual Status enter(uint32_t command) = 0;
  virtual Status leave() = 0;

  /// What was done since the last call; only while no work is queued. What was
  /// replayed belongs to no command.
  virtual Result<std::vector<Activity>> take() = 0;
};

} // namespace vdnn::rt

#endif
