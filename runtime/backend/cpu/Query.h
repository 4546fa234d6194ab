//===- Query.h - what the compiler asks -----------------------------------===//
//
// No device is created and no code is generated. A query takes microseconds to
// a fraction of a millisecond the first time and a look-up after that.
// Thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_QUERY_H
#define VDNN_RUNTIME_BACKEND_CPU_QUERY_H

#include "runtime/exec/Device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace vdnn::rt::cpu {

/// One way to run a kernel. `workspaceBytes` is exactly what `Device::prepare`
/// will ask for; it holds for the given number of threads and for this
/// machine's fingerprint. Workspaces are aligned to 64 bytes.
struct Candidate {
  std::string algorithm;
  uint64_t workspaceBytes;
};

/// All ways to run a kernel, fastest first; its `algorithm` is ignored. At
/// least one, or an error that says why the kernel cannot run here. `threads`
/// as for `createCpuDevice`.
Result<std::vector<Candidate>> queryKernel(const schedule::KernelT &kernel,
                                           const LaunchTypes &types,
                                           unsigned threads = 0);

/// What a device of that many threads gives as its fingerprint: "onednn 2.6.3;
/// isa avx512_core_bf16; threads 2".
std::string cpuFingerprint(unsigned threads = 0);

/// The number of compute threads that `threads` stands for: itself, or with 0
/// OpenMP's default (all cores, or OMP_NUM_THREADS).
unsigned resolveThreads(unsigned threads);

} // namespace vdnn::rt::cpu

#endif
