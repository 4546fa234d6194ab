//===- Cupti.h - what the GPU did, as CUPTI tells it ----------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_CUPTI_H
#define VDNN_RUNTIME_BACKEND_CUDA_CUPTI_H

#include "runtime/exec/Activity.h"

#include <memory>

namespace vdnn::rt::cuda {

/// Kernels, copies and fills of this process from now on, those of CUDA graphs
/// included. CUPTI is loaded here, so that no machine needs it for anything
/// else. It takes some memory of the GPU.
Result<std::unique_ptr<ActivityTracer>> createCuptiTracer();

} // namespace vdnn::rt::cuda

#endif
