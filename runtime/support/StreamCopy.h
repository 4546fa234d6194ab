//===- StreamCopy.h - copies past the caches ------------------------------===//

#ifndef VDNN_RUNTIME_SUPPORT_STREAMCOPY_H
#define VDNN_RUNTIME_SUPPORT_STREAMCOPY_H

#include <cstddef>

namespace vdnn::rt {

/// memcpy for what no core will read soon: the destination's lines are written
/// to memory without being read first.
void streamCopy(std::byte *destination, const std::byte *source, size_t bytes);

} // namespace vdnn::rt

#endif
