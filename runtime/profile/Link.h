//===- Link.h - measuring the link to the host ----------------------------===//

#ifndef VDNN_RUNTIME_PROFILE_LINK_H
#define VDNN_RUNTIME_PROFILE_LINK_H

#include "runtime/profile/Load.h"
#include "runtime/profile/Profile.h"

namespace vdnn::rt {

/// What the copies need of the device arena: half for each direction, so that
/// they never meet.
inline constexpr uint64_t kLinkBytes = uint64_t{256} << 20;

/// Of the host arena, likewise: more than the caches of the host hold, since a
/// plan's copies do not find each other's bytes there.
inline constexpr uint64_t kLinkHostBytes = uint64_t{2} << 30;

/// Copies on stream 1 to the host, on stream 2 to the device. In the device
/// arena they use the kLinkBytes from an offset on, in the host arena the first
/// kLinkHostBytes in turn.
class LinkMeasurement {
public:
  LinkMeasurement(Device &device, uint64_t offset)
      : device(device), offset(offset) {}

  /// While nothing is computed.
  Result<MeasuredLink> alone();

  /// Adds the rates while `loads` run in turn, which touch none of the bytes
  /// that are copied. As in a plan, copies wait for launches and launches for
  /// copies: copies go slower while launches are queued behind them. The rates
  /// stay unknown where launches end faster than the host queues them. `loads`
  /// must not be empty, and none shorter than kShortestLoadNs.
  Status underCompute(const std::vector<ComputeLoad> &loads,
                      MeasuredLink &link);

private:
  /// Of at most half of kLinkBytes.
  Status copy(uint32_t stream, uint64_t bytes);
  /// The fastest of some runs: others may use the link too.
  Result<int64_t> fastest(uint32_t stream,
                          const std::function<Status()> &submit);
  /// Launches and copies beside each other, and what comes behind waits for
  /// both.
  Status queueRound(uint32_t stream, const ComputeLoad &load, double rateAlone);
  Result<double> rateUnderCompute(uint32_t stream, double rateAlone,
                                  int64_t latencyNs,
                                  const std::vector<ComputeLoad> &loads);

  Device &device;
  uint64_t offset;
  uint64_t turn = 0; ///< copies so far
};

} // namespace vdnn::rt

#endif
