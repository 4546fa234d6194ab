//===- Kernel.h - what a kernel factory takes and returns -----------------===//
//
// A factory reads a kernel's attributes and types, refuses what it cannot do,
// and returns a `Kernel`. It needs no GPU: the compiler calls it for workspace
// sizes. What needs one (loading code, building cuDNN's plans) waits for
// `Kernel::build`.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNEL_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNEL_H

#include "runtime/backend/common/Checks.h"
#include "runtime/backend/cuda/Check.h"
#include "runtime/backend/cuda/kernels/BadLabel.h"
#include "runtime/backend/cuda/kernels/Storage.h"
#include "runtime/backend/plugin/Plugin.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace vdnn::rt::cuda {

using namespace backend;

namespace cudnn {
class Plan;
} // namespace cudnn

/// The GPU that kernels are chosen for; it need not be in this machine.
struct Properties {
  /// cuDNN's own description of the device (JSON), which its heuristics read.
  std::string json;
  std::string name;
  int computeCapability = 0; ///< 90: sm_90
  int multiprocessors = 0;

  static Result<Properties> parse(const std::string &json);
};

/// A command to be prepared.
struct Request {
  const schedule::KernelT &kernel;
  LaunchTypes types;
  const Properties &device;
};

// The checks of runtime/backend/common, on a request.
inline Status expectArity(const Request &request, Arity arity) {
  return backend::expectArity(request.types, arity);
}
inline Status expectAllF32(const Request &request,
                           std::initializer_list<size_t> except = {}) {
  return backend::expectAllF32(request.types, except);
}

/// How the elements of an activation lie, which `expectActivation` has seen.
inline Storage storageOf(const schedule::TypeT &type) {
  return type.element == schedule::ElementType::BF16 ? Storage::BF16
                                                     : Storage::F32;
}

/// What all kernels of a device share.
struct Context {
  cudnnHandle_t cudnn = nullptr;
  cublasLtHandle_t cublasLt = nullptr;
  /// The device's address of what `Device::synchronize` looks at.
  BadLabel *badLabel = nullptr;
  /// cuDNN's plans by graph and engine: networks repeat their shapes.
  std::unordered_map<std::string, std::shared_ptr<const cudnn::Plan>> plans =
      {};
};

/// Addresses of one launch, in the order of the command's reads and writes.
struct Operands {
  std::span<void *const> reads;
  std::span<void *const> writes;
  void *workspace;
  cudaStream_t stream;
  uint32_t command; ///< its number in the schedule

  template <typename T>
  const T *read(size_t i) const {
    return static_cast<const T *>(reads[i]);
  }
  template <typename T>
  T *write(size_t i) const {
    return static_cast<T *>(writes[i]);
  }
};

/// A kernel for one command.
struct Kernel {
  /// Bytes beside the operands, aligned to 256; a bound until `build` has told
  /// them.
  uint64_t workspaceBytes = 0;
  /// Pairs (read, write) that may share a range.
  std::vector<schedule::InPlace> inPlace = {};
  /// Does what is costly or needs the GPU, once, before the first run; may be
  /// empty. Returns the bytes of workspace that a run needs on this GPU.
  std::function<Result<uint64_t>(Context &)> build = {};
  /// Queues the work on the stream; allocates nothing, waits for nothing, so
  /// that it can be captured into a graph.
  std::function<Status(Context &, const Operands &)> run = {};
};

using Factory = Result<Kernel> (*)(const Request &);
using Query = Result<std::vector<KernelCandidate>> (*)(const Request &);

/// One kernel kind: its factory, and what lists its algorithms (null where
/// there is no choice).
struct TableEntry {
  const char *kind;
  Factory factory;
  Query query = nullptr;
};

/// All kernels of this backend (Table.cpp).
const std::vector<TableEntry> &kernelTable();

/// Looks the kind up and calls its factory; errors name the kernel.
Result<Kernel> createKernel(const Request &request);

/// Looks the kind up and lists its candidates.
Result<std::vector<KernelCandidate>> queryKernel(const Request &request);

/// Why a nondeterministic algorithm does not run.
Error refuseNondeterministic(const Request &request);

/// What a plan for such a device carries: library versions and the GPU.
std::string fingerprint(const Properties &device);

} // namespace vdnn::rt::cuda

#endif
