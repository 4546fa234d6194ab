//===- RaceTest.cpp - a missing event is a race that ThreadSanitizer sees -----------------------------------===//

#include "Harness.h"

namespace vdnn::rt::conformance {

/// Copies to the host what a kernel computes, with or without the event between them.
static void offloadResult(bool withEvent) {
  std::unique_ptr<Device> device = backend().create();
  std::vector<schedule::StreamT> streams(2);
  streams[1].kind = schedule::StreamKind::DeviceToHost;
  ASSERT_TRUE(device->allocate(8192, 4096, streams, 1).ok());

  schedule::KernelT kernel;
  kernel.kind = "pointwise";
  kernel.program.push_back(std::make_unique<schedule::ScalarOpT>());
  kernel.program[0]->code = "negf";
  kernel.program[0]->operands = {0};
  kernel.program_results = {1};
  schedule::TypeT type = makeType({1024});
  const schedule::TypeT *types[] = {&type};
  ASSERT_TRUE(device->prepare(0, kernel, {types, types}, {}, 0).ok());

  uint64_t read[] = {0}, write[] = {4096};
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(device->launch(0, 0, {read, write, 0, 0}).ok());
    if (withEvent) {
      ASSERT_TRUE(device->record(0, 0).ok());
      ASSERT_TRUE(device->wait(1, 0).ok());
    }
    ASSERT_TRUE(device->copyToHost(1, 0, 4096, 4096).ok());
    ASSERT_TRUE(device->synchronize().ok());
  }
}

TEST(RaceTest, WithEvent) { offloadResult(true); }

TEST(RaceTest, WithoutEvent) { offloadResult(false); }

} // namespace vdnn::rt::conformance
