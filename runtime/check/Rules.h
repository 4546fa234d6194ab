//===- Rules.h - the rule groups, one file each ---------------------------===//

#ifndef VDNN_RUNTIME_CHECK_RULES_H
#define VDNN_RUNTIME_CHECK_RULES_H

#include "runtime/check/HappensBefore.h"

namespace vdnn::rt::check_detail {

/// Clocks take space by the product of waits and streams; no device gains from
/// more streams than this.
inline constexpr size_t kMaxStreams = 64;

/// Waits times streams: what the clocks of both steps take stays below 256 MiB.
/// The plan of a network of a thousand layers has a few thousand waits.
inline constexpr size_t kMaxWaitsByStreams = size_t(1) << 24;

/// P1, P2, P4, P10: ranges inside arenas and as long as what they hold,
/// aligned, viewed as what they hold, header equal to body (P12 on the host).
void checkRanges(Context &context);

/// P5: every event is recorded once a step, before it is waited for.
void checkEvents(Context &context);

/// P6: what may stand on which stream.
void checkStreams(Context &context);

/// P8: workspaces.
void checkWorkspaces(Context &context);

/// P9: entries and exits; P4, P9: the one launch that makes a tensor.
void checkPersistent(Context &context);

/// P4, P7: every read sees the write it names; a prefetch sees a completed
/// offload.
void checkDataFlow(Context &context, const HappensBefore &order);

/// P3: overlapping ranges are never in use unordered (P12 on the host).
void checkConflicts(Context &context, const HappensBefore &order);

} // namespace vdnn::rt::check_detail

#endif
