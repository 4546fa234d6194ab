//===- FakeCupti.h - a libcupti that tells what a test did ----------------===//

#ifndef VDNN_TEST_UNIT_CUDA_FAKECUPTI_H
#define VDNN_TEST_UNIT_CUDA_FAKECUPTI_H

#include <cstddef>
#include <cstdint>

namespace vdnn::test {

struct FakeCupti {
  /// How a call of this name ends from now on: a CUptiResult.
  const char *failing = "";
  int failure = 0;
  size_t dropped = 0;
  int enabled = 0; ///< kinds
};

FakeCupti &fakeCupti();

/// A call of CUDA that starts this. `graph`: 0 outside of graphs.
void fakeKernel(const char *name, uint64_t start, uint64_t end,
                uint32_t graph = 0);
void fakeCopy(int copyKind, uint64_t start, uint64_t end, uint32_t graph = 0);
void fakeFill(uint64_t start, uint64_t end, uint32_t graph = 0);

} // namespace vdnn::test

#endif
