//===- RaceTest.cpp - a missing event is a race that ThreadSanitizer sees -===//

#include "Harness.h"

namespace vdnn::rt::conformance {

/// Copies to the host what a kernel computes, with or without the events
/// between them.
static void offloadResult(bool withEvents) {
  std::unique_ptr<Device> device = backend().create();
  std::vector<schedule::StreamT> streams(2);
  streams[1].kind = schedule::StreamKind::DeviceToHost;
  ASSERT_TRUE(device->allocate(8192, 4096, streams, 2).ok());

  schedule::KernelT kernel;
  kernel.kind = "pointwise";
  kernel.program.push_back(std::make_unique<schedule::ScalarOpT>());
  kernel.program[0]->code = "negf";
  kernel.program[0]->operands = {0};
  kernel.program_results = {1};
  schedule::TypeT type = makeType({1024});
  const schedule::TypeT *types[] = {&type};
  ASSERT_TRUE(device->prepare(0, kernel, {types, types}, {}, 0).ok());

  // Many steps without a barrier: whatever the machine does besides, some
  // kernel and some copy run without an order between them.
  uint64_t read[] = {0}, write[] = {4096};
  for (int step = 0; step < 200; ++step) {
    if (withEvents && step > 0) {
      ASSERT_TRUE(device->wait(0, 1).ok());
    }
    ASSERT_TRUE(device->launch(0, 0, {read, write, 0, 0}).ok());
    if (withEvents) {
      ASSERT_TRUE(device->record(0, 0).ok());
      ASSERT_TRUE(device->wait(1, 0).ok());
    }
    ASSERT_TRUE(device->copyToHost(1, 0, 4096, 4096).ok());
    if (withEvents) {
      ASSERT_TRUE(device->record(1, 1).ok());
    }
  }
  ASSERT_TRUE(device->synchronize().ok());
}

TEST(RaceTest, WithEvents) { offloadResult(true); }

TEST(RaceTest, WithoutEvents) { offloadResult(false); }

} // namespace vdnn::rt::conformance
