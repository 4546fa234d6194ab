//===- Link.h - measuring the link to the host ----------------------------===//

#ifndef VDNN_RUNTIME_PROFILE_LINK_H
#define VDNN_RUNTIME_PROFILE_LINK_H

#include "runtime/profile/Profile.h"

namespace vdnn::rt {

/// What the copies need of both arenas: half for each direction, so that they
/// never meet.
inline constexpr uint64_t kLinkBytes = uint64_t{256} << 20;

/// Of shorter launches the host cannot queue enough ahead to keep a GPU busy.
inline constexpr int64_t kShortestLoadNs = 10'000;

/// Work that keeps the compute stream busy.
struct ComputeLoad {
  int64_t launchNs = 0;           ///< of one launch; at least kShortestLoadNs
  std::function<Status()> launch; ///< queues it once, on stream 0
};

/// Copies on stream 1 to the host, on stream 2 to the device. In the device
/// arena they use the kLinkBytes from an offset on, in the host arena the first
/// ones.
class LinkMeasurement {
public:
  LinkMeasurement(Device &device, uint64_t offset)
      : device(device), offset(offset) {}

  /// While nothing is computed.
  Result<MeasuredLink> alone();

  /// Adds the rates while `load` runs, which touches none of the bytes that are
  /// copied. They stay unknown where launches end faster than the host queues
  /// them.
  Status underCompute(const ComputeLoad &load, MeasuredLink &link);

private:
  /// A copy of half of the bytes.
  Status copy(uint32_t stream);
  /// The fastest of some runs: others may use the link too.
  Result<int64_t> fastest(uint32_t stream,
                          const std::function<Status()> &submit);
  Result<double> rateUnderCompute(uint32_t stream, double rateAlone,
                                  int64_t latencyNs, const ComputeLoad &load);

  Device &device;
  uint64_t offset;
};

} // namespace vdnn::rt

#endif
