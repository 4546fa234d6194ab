//===- Check.cpp ----------------------------------------------------------===//

#include "runtime/backend/cuda/Check.h"

#include <string>

namespace vdnn::rt::cuda {

/// "cudaMalloc" of "cudaMalloc(&p, n)".
static std::string nameOf(const char *call) {
  std::string text = call;
  return text.substr(0, text.find('('));
}

Status toStatus(cudaError_t code, const char *what) {
  if (code == cudaSuccess) {
    return {};
  }
  return Error{nameOf(what) + " failed: " + cudaGetErrorString(code) + " (" +
               cudaGetErrorName(code) + ")"};
}

Status toStatus(cudnnStatus_t code, const char *what) {
  if (code == CUDNN_STATUS_SUCCESS) {
    return {};
  }
  char detail[1024] = "";
  cudnnGetLastErrorString(detail, sizeof(detail));
  std::string text = detail;
  // The library explains itself over many lines; the first says it.
  text = text.substr(0, text.find('\n'));
  return Error{nameOf(what) + " failed: " + cudnnGetErrorString(code) +
               (text.empty() ? "" : ": " + text)};
}

Status toStatus(cublasStatus_t code, const char *what) {
  if (code == CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  return Error{nameOf(what) + " failed: " + cublasLtGetStatusString(code)};
}

} // namespace vdnn::rt::cuda
