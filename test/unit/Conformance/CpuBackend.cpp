//===- CpuBackend.cpp - the cpu backend in the conformance suite ----------===//

#include "Backend.h"

#include "runtime/backend/cpu/Query.h"

namespace vdnn::rt::conformance {

// ThreadSanitizer does not know OpenMP's barriers: its builds compute on one
// thread.
#ifdef __SANITIZE_THREAD__
static constexpr unsigned kThreads = 1;
#else
static constexpr unsigned kThreads = 2;
#endif

static Result<uint64_t> workspaceBytes(const schedule::KernelT &kernel,
                                       const LaunchTypes &types) {
  Result<std::vector<cpu::Candidate>> candidates =
      cpu::queryKernel(kernel, types, kThreads);
  if (!candidates) {
    return candidates.error();
  }
  for (const cpu::Candidate &candidate : *candidates) {
    if (kernel.algorithm.empty() || candidate.algorithm == kernel.algorithm) {
      return candidate.workspaceBytes;
    }
  }
  return Error{"no algorithm '" + kernel.algorithm + "'"};
}

static std::vector<std::string> algorithms(const schedule::KernelT &kernel,
                                           const LaunchTypes &types) {
  std::vector<std::string> names;
  Result<std::vector<cpu::Candidate>> candidates =
      cpu::queryKernel(kernel, types, kThreads);
  if (candidates) {
    for (const cpu::Candidate &candidate : *candidates) {
      names.push_back(candidate.algorithm);
    }
  }
  return names;
}

const Backend &backend() {
  static const Backend cpu{64,
                           false,
                           false,
                           [] { return createCpuDevice(kThreads); },
                           workspaceBytes,
                           algorithms};
  return cpu;
}

} // namespace vdnn::rt::conformance
