//===- Kernel.h - what a kernel factory takes and returns -----------------===//
//
// A factory reads a kernel's attributes and types, refuses what it cannot do,
// and returns a `Kernel`. It does no costly work: the compiler calls it
// thousands of times for workspace sizes. What is costly (generated code) waits
// for `Kernel::build`.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_KERNEL_H
#define VDNN_RUNTIME_BACKEND_CPU_KERNEL_H

#include "runtime/backend/common/Checks.h"
#include "runtime/exec/Device.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace vdnn::rt::cpu {

/// A command to be prepared. `threads` is how many compute threads will run it.
struct Request {
  const schedule::KernelT &kernel;
  LaunchTypes types;
  unsigned threads;
};

/// Addresses of one launch, in the order of the command's reads and writes.
struct Operands {
  std::span<std::byte *const> reads;
  std::span<std::byte *const> writes;
  std::byte *workspace;

  template <typename T>
  const T *read(size_t i) const {
    return reinterpret_cast<const T *>(reads[i]);
  }
  template <typename T>
  T *write(size_t i) const {
    return reinterpret_cast<T *>(writes[i]);
  }
};

/// A kernel for one command. Runs on one thread at a time.
struct Kernel {
  /// Bytes beside the operands, aligned to 64.
  uint64_t workspaceBytes = 0;
  /// Pairs (read, write) that may share a range.
  std::vector<schedule::InPlace> inPlace = {};
  /// Does what is costly, once, before the first run; may be empty. May throw
  /// `dnnl::error`.
  std::function<void()> build = {};
  /// Runs; allocates nothing. May throw `dnnl::error`.
  std::function<Status(const Operands &)> run = {};
};

using Factory = Result<Kernel> (*)(const Request &);

/// One kernel kind: its algorithms, fastest first (none where there is no
/// choice), and its factory. An empty name in a schedule means the first.
struct TableEntry {
  const char *kind;
  std::vector<const char *> algorithms;
  Factory factory;
  bool anyElement = false; ///< takes tensors of bf16 too
};

/// All kernels of this backend (Table.cpp).
const std::vector<TableEntry> &kernelTable();

/// Looks the kind up and calls its factory; errors name the kernel.
Result<Kernel> createKernel(const Request &request);

// The checks of runtime/backend/common, on a request.
using namespace backend;

inline Status expectArity(const Request &request, Arity arity) {
  return backend::expectArity(request.types, arity);
}
inline Status expectAllF32(const Request &request,
                           std::initializer_list<size_t> except = {}) {
  return backend::expectAllF32(request.types, except);
}

} // namespace vdnn::rt::cpu

#endif
