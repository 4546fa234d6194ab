//===- Link.h - measuring the link to the host ----------------------------===//

#ifndef VDNN_RUNTIME_PROFILE_LINK_H
#define VDNN_RUNTIME_PROFILE_LINK_H

#include "runtime/profile/Profile.h"

namespace vdnn::rt {

/// Bytes of a copy that is measured, at the beginning of the device arena and
/// of the host arena; a second range of the host arena follows for the other
/// direction.
inline constexpr uint64_t kLinkBytes = uint64_t{256} << 20;

/// Stream 1 copies to the host, stream 2 to the device.
Result<MeasuredLink> measureLink(Device &device);

} // namespace vdnn::rt

#endif
