//===- Backend.h - what a backend gives to the conformance suite ----------===//

#ifndef VDNN_TEST_UNIT_CONFORMANCE_BACKEND_H
#define VDNN_TEST_UNIT_CONFORMANCE_BACKEND_H

#include "runtime/exec/Device.h"

#include <functional>
#include <memory>

namespace vdnn::rt::conformance {

struct Backend {
  /// Of operands and workspaces: `Device::alignment`.
  uint64_t alignment;

  /// Whether convolutions have kernels for row-major order too.
  bool convolvesPlanes;

  /// Whether all kernels take activations of bf16, not pointwise ones alone.
  bool bf16;

  std::function<std::unique_ptr<Device>()> create;

  /// Bytes of workspace for a kernel with its algorithm, or why the backend
  /// cannot run it.
  std::function<Result<uint64_t>(const schedule::KernelT &,
                                 const LaunchTypes &)>
      workspaceBytes;

  /// Algorithms for a kernel, at least one; a single empty name where there is
  /// no choice.
  std::function<std::vector<std::string>(const schedule::KernelT &,
                                         const LaunchTypes &)>
      algorithms;
};

/// Defined once per test binary.
const Backend &backend();

} // namespace vdnn::rt::conformance

#endif
