//===- Compile.h - CUDA C to machine code, and the cache of it ------------===//
//
// NVRTC takes tens of milliseconds per kernel, so what it gives is kept: in
// this process, and in files for the next one. An entry of the cache holds all
// that it was made from; one that is damaged or of another make is made anew.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_COMPILE_H
#define VDNN_RUNTIME_BACKEND_CUDA_COMPILE_H

#include "runtime/backend/cuda/Check.h"

#include <memory>
#include <string>

namespace vdnn::rt::cuda {

/// The machine code (a cubin) of CUDA C, without contraction into fused
/// multiply-adds. `computeCapability`: 90 for sm_90. Needs no GPU. Looks into
/// the cache's files first and keeps the result there; where they cannot be
/// written it does without.
Result<std::string> compile(const std::string &source, int computeCapability);

/// $VDNN_CACHE_DIR, else $XDG_CACHE_HOME/vdnn, else $HOME/.cache/vdnn; empty:
/// there is no such folder, and no files are kept.
std::string cacheFolder();

/// How often this process has run NVRTC.
uint64_t compilations();

/// Code on the GPU, removed when the last one who holds it lets go.
class LoadedCode {
public:
  ~LoadedCode();
  LoadedCode(const LoadedCode &) = delete;
  LoadedCode &operator=(const LoadedCode &) = delete;

  /// Compiles once in the life of the process for equal sources, and loads once
  /// while one of them is held.
  static Result<std::shared_ptr<LoadedCode>> load(const std::string &source,
                                                  const std::string &kernel,
                                                  int computeCapability);

  /// Queues the kernel. `arguments`: addresses of its parameters.
  cudaError_t launch(dim3 blocks, dim3 threads, void **arguments,
                     cudaStream_t stream) const;

private:
  LoadedCode() = default;

  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

} // namespace vdnn::rt::cuda

#endif
