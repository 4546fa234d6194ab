//===- SimDeviceTest.cpp --------------------------------------------------===//

#include "runtime/sim/SimDevice.h"

#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;

namespace {

/// Compute and one stream per direction; commands: a kernel of 100 ns, and one
/// copy each way, the first predicted, the second left to the link (1 byte per
/// ns, latency 10 ns).
schedule::ScheduleT makeSchedule() {
  schedule::ScheduleT schedule;
  schedule.link = std::make_unique<schedule::LinkT>();
  schedule.link->device_to_host_bytes_per_second = 1e9;
  schedule.link->host_to_device_bytes_per_second = 1e9;
  schedule.link->duplex_factor = 1.0;
  schedule.link->latency_ns = 10;
  for (auto [kind, ns] : {std::pair{schedule::CommandKind::Launch, 100},
                          std::pair{schedule::CommandKind::Copy, 70},
                          std::pair{schedule::CommandKind::Copy, 0}}) {
    auto command = std::make_unique<schedule::CommandT>();
    command->kind = kind;
    command->predicted_ns = ns;
    schedule.commands.push_back(std::move(command));
  }
  return schedule;
}

class SimDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    device = SimDevice::create(makeSchedule());
    std::vector<schedule::StreamT> streams(3);
    ASSERT_TRUE(
        device->allocate(uint64_t{1} << 50, uint64_t{1} << 40, streams, 1)
            .ok());
  }

  std::unique_ptr<SimDevice> device;
};

TEST_F(SimDeviceTest, ArenasLargerThanTheMachineCostNothing) {
  device->hostArena()[(uint64_t{1} << 40) - 1] = std::byte{1};
  std::byte bytes[4] = {std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}};
  ASSERT_TRUE(device->upload(0, bytes).ok());
  ASSERT_TRUE(device->download(0, bytes).ok());
  EXPECT_EQ(bytes[3], std::byte{0});
}

TEST_F(SimDeviceTest, ClockFollowsTheTimeline) {
  std::vector<int64_t> marks;
  auto mark = [&] { marks.push_back(device->nowNs()); };
  ASSERT_TRUE(device->launch(0, 0, {}).ok());
  ASSERT_TRUE(device->record(0, 0).ok());
  ASSERT_TRUE(device->callback(0, mark).ok());
  ASSERT_TRUE(device->wait(1, 0).ok());
  ASSERT_TRUE(device->copyToHost(1, 0, 0, 5000).ok()); // predicted: 70
  ASSERT_TRUE(device->callback(1, mark).ok());
  ASSERT_TRUE(device->copyToDevice(2, 0, 0, 40).ok()); // by the link: 10 + 40
  ASSERT_TRUE(device->callback(2, mark).ok());
  EXPECT_TRUE(marks.empty()) << "nothing has run before synchronize";
  ASSERT_TRUE(device->synchronize().ok());
  EXPECT_EQ(marks, (std::vector<int64_t>{50, 100, 170}));
  EXPECT_EQ(device->nowNs(), 170);
  EXPECT_EQ(device->lastTimeline().totalNs, 170);
}

TEST_F(SimDeviceTest, StepsFollowEachOther) {
  for (int step = 1; step <= 3; ++step) {
    ASSERT_TRUE(device->launch(0, 0, {}).ok());
    ASSERT_TRUE(device->copyToHost(1, 0, 0, 5000).ok());
    ASSERT_TRUE(device->copyToDevice(2, 0, 0, 40).ok());
    ASSERT_TRUE(device->delay(0, 7).ok());
    ASSERT_TRUE(device->synchronize().ok());
    EXPECT_EQ(device->nowNs(), step * 107);
  }
}

TEST_F(SimDeviceTest, RefusesAStreamThatDoesNotExist) {
  Status status = device->launch(3, 0, {});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("stream 3"), std::string::npos);
}

} // namespace
