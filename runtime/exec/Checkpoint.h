//===- Checkpoint.h - what a checkpoint says beside its tensors -----------===//

#ifndef VDNN_RUNTIME_EXEC_CHECKPOINT_H
#define VDNN_RUNTIME_EXEC_CHECKPOINT_H

#include "runtime/exec/RateSchedule.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace vdnn::rt {

/// Where a run stands. Stored as text in the file's metadata, under names that
/// begin with "vdnn.".
struct RunState {
  uint64_t step = 0;
  uint64_t seed = 0;
  std::optional<uint64_t> shuffle;
  uint64_t samples = 0;
  uint64_t batch = 0;
  RateSchedule rate;
};

std::map<std::string, std::string> toMetadata(const RunState &state);

/// An error where an entry is missing or no number.
Result<RunState>
fromMetadata(const std::map<std::string, std::string> &metadata);

/// "constant", "step" or "cosine".
const char *rateKindName(RateSchedule::Kind kind);
std::optional<RateSchedule::Kind> parseRateKind(const std::string &name);

} // namespace vdnn::rt

#endif
