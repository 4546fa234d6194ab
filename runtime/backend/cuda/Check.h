//===- Check.h - CUDA's and cuDNN's errors as Status ----------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_CHECK_H
#define VDNN_RUNTIME_BACKEND_CUDA_CHECK_H

#include "runtime/support/Error.h"

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cudnn.h>

namespace vdnn::rt::cuda {

/// `what`: the call, for the message.
Status toStatus(cudaError_t code, const char *what);
Status toStatus(cudnnStatus_t code, const char *what);
Status toStatus(cublasStatus_t code, const char *what);

/// Returns the error of a call of CUDA, cuDNN or cuBLAS from a function that
/// returns a Result or a Status.
#define VDNN_CUDA(call)                                                        \
  do {                                                                         \
    if (::vdnn::rt::Status status_ =                                           \
            ::vdnn::rt::cuda::toStatus((call), #call);                         \
        !status_.ok()) {                                                       \
      return status_.error();                                                  \
    }                                                                          \
  } while (false)

} // namespace vdnn::rt::cuda

#endif
