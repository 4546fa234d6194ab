//===- Load.h - work that keeps a device busy -----------------------------===//

#ifndef VDNN_RUNTIME_PROFILE_LOAD_H
#define VDNN_RUNTIME_PROFILE_LOAD_H

#include "runtime/support/Error.h"

#include <cstdint>
#include <functional>

namespace vdnn::rt {

/// Of shorter launches the host cannot queue enough ahead to keep a GPU busy.
inline constexpr int64_t kShortestLoadNs = 10'000;

struct ComputeLoad {
  int64_t launchNs = 0;           ///< of one launch, alone
  std::function<Status()> launch; ///< queues it once, on stream 0
};

} // namespace vdnn::rt

#endif
