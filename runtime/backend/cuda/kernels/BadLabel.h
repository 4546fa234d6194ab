//===- BadLabel.h - a label that is no class ------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BADLABEL_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BADLABEL_H

#include <cstdint>

namespace vdnn::rt::cuda {

/// Lies in host memory that kernels write; one of the bad labels, if there are
/// several.
struct BadLabel {
  int found; ///< 0: none
  uint32_t command;
  int64_t label;
  int64_t sample;
};

} // namespace vdnn::rt::cuda

#endif
