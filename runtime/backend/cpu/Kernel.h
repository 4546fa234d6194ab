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
};

/// All kernels of this backend (Table.cpp).
const std::vector<TableEntry> &kernelTable();

/// Looks the kind up and calls its factory; errors name the kernel.
Result<Kernel> createKernel(const Request &request);

//===- checks that factories share ----------------------------------------===//

/// How many operands and results a kernel takes.
struct Arity {
  size_t minReads, maxReads, minWrites, maxWrites;
};
Status expectArity(const Request &request, Arity arity);
Status expectElement(const schedule::TypeT &type, schedule::ElementType element,
                     const char *what);
Status expectLayout(const schedule::TypeT &type, schedule::Layout layout,
                    const char *what);
Status expectShape(const schedule::TypeT &type,
                   const std::vector<int64_t> &shape, const char *what);
Status expectSameType(const schedule::TypeT &type, const schedule::TypeT &other,
                      const char *what);

/// Element type F32 for all reads and writes but those that `except` lists
/// (reads first, then writes).
Status expectAllF32(const Request &request,
                    std::initializer_list<size_t> except = {});

std::string toString(const std::vector<int64_t> &shape);

int64_t countElements(const std::vector<int64_t> &shape);

/// The dimensions of a type in the order of memory, outermost first: {0, 1, 2,
/// 3}, or {0, 2, 3, 1} where channels are last.
std::vector<size_t> memoryOrder(const schedule::TypeT &type);

/// The stride of each logical dimension, in elements.
std::vector<int64_t> memoryStrides(const schedule::TypeT &type);

/// Offsets of parts of a workspace, each aligned to 64 bytes.
class WorkspacePlan {
public:
  uint64_t add(uint64_t bytes) {
    uint64_t offset = (bytes_ + 63) / 64 * 64;
    bytes_ = offset + bytes;
    return offset;
  }
  uint64_t bytes() const { return bytes_; }

private:
  uint64_t bytes_ = 0;
};

/// Returns the error of a Status from a function that returns a Result or a
/// Status.
#define VDNN_TRY(expression)                                                   \
  do {                                                                         \
    if (::vdnn::rt::Status status_ = (expression); !status_.ok()) {            \
      return status_.error();                                                  \
    }                                                                          \
  } while (false)

} // namespace vdnn::rt::cpu

#endif
