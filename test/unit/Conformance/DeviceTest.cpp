//===- DeviceTest.cpp - streams, events, copies, errors -------------------===//

#include "Harness.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace vdnn::rt::conformance {

namespace {

using schedule::Arena;
constexpr uint32_t kCompute = 0, kToHost = 1, kToDevice = 2;
constexpr uint64_t kBytes = 1 << 16;
constexpr uint64_t kDelay = 20'000'000;

class DeviceTest : public testing::Test {
protected:
  void SetUp() override {
    device = backend().create();
    std::vector<schedule::StreamT> streams(3);
    streams[0].kind = schedule::StreamKind::Compute;
    streams[1].kind = schedule::StreamKind::DeviceToHost;
    streams[2].kind = schedule::StreamKind::HostToDevice;
    ok(device->allocate(4 * kBytes, 2 * kBytes, streams, 4));
  }

  void ok(const Status &status) {
    ASSERT_TRUE(status.ok()) << status.message();
  }

  void refused(const Status &status, const std::string &part) {
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message();
  }

  std::vector<std::byte> download(uint64_t offset, uint64_t bytes = kBytes) {
    std::vector<std::byte> result(bytes);
    ok(device->download(offset, result));
    return result;
  }

  static std::vector<std::byte> all(std::byte value, uint64_t bytes = kBytes) {
    return std::vector<std::byte>(bytes, value);
  }

  std::unique_ptr<Device> device;
};

} // namespace

TEST_F(DeviceTest, ArenasAreAligned) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(device->hostArena()) % 4096, 0u);
  EXPECT_FALSE(device->kind().empty());
  EXPECT_FALSE(device->fingerprint().empty());
}

TEST_F(DeviceTest, UploadAndDownload) {
  std::vector<std::byte> data(kBytes);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::byte>(i * 7);
  }
  ok(device->upload(kBytes, data));
  EXPECT_EQ(download(kBytes), data);
}

TEST_F(DeviceTest, CopiesGoBothWays) {
  ok(device->upload(0, all(std::byte{1})));
  ok(device->copyToHost(kToHost, kBytes, 0, kBytes));
  ok(device->synchronize());
  EXPECT_EQ(std::memcmp(device->hostArena() + kBytes, all(std::byte{1}).data(),
                        kBytes),
            0);
  std::fill_n(device->hostArena(), kBytes, std::byte{2});
  ok(device->copyToDevice(kToDevice, 2 * kBytes, 0, kBytes));
  ok(device->synchronize());
  EXPECT_EQ(download(2 * kBytes), all(std::byte{2}));
}

TEST_F(DeviceTest, SubmissionDoesNotWait) {
  auto begin = std::chrono::steady_clock::now();
  for (uint32_t stream : {kCompute, kToHost, kToDevice}) {
    ok(device->delay(stream, 10 * kDelay));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::nanoseconds(5 * kDelay));
  ok(device->synchronize());
  auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, std::chrono::nanoseconds(10 * kDelay));
  // Three delays beside each other, not one after the other.
  EXPECT_LT(took, std::chrono::nanoseconds(25 * kDelay));
}

TEST_F(DeviceTest, AStreamKeepsItsOrder) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    ok(device->callback(kCompute, [&order, i] { order.push_back(i); }));
  }
  ok(device->synchronize());
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(DeviceTest, AnEventOrdersTwoStreams) {
  for (int step = 0; step < 5; ++step) {
    std::byte value = static_cast<std::byte>(step + 1);
    ok(device->delay(kCompute, kDelay));
    ok(device->fill(kCompute, Arena::Device, 0, kBytes, value));
    ok(device->record(kCompute, 0));
    ok(device->wait(kToHost, 0));
    ok(device->copyToHost(kToHost, 0, 0, kBytes));
    ok(device->record(kToHost, 1));
    ok(device->wait(kToDevice, 1));
    ok(device->copyToDevice(kToDevice, kBytes, 0, kBytes));
    ok(device->record(kToDevice, 2));
    ok(device->wait(kCompute, 2));
  }
  ok(device->synchronize());
  EXPECT_EQ(download(kBytes), all(std::byte{5}));
}

TEST_F(DeviceTest, AWaitMeansTheLatestRecordBeforeIt) {
  std::atomic<int> done = 0;
  std::atomic<int> seenFirst = -1, seenSecond = -1;
  ok(device->callback(kCompute, [&] { done = 1; }));
  ok(device->record(kCompute, 0));
  ok(device->wait(kToHost, 0));
  ok(device->callback(kToHost, [&] { seenFirst = done.load(); }));
  ok(device->delay(kCompute, kDelay));
  ok(device->callback(kCompute, [&] { done = 2; }));
  ok(device->record(kCompute, 0));
  ok(device->wait(kToDevice, 0));
  // Many may wait for one record.
  ok(device->wait(kToHost, 0));
  ok(device->callback(kToDevice, [&] { seenSecond = done.load(); }));
  ok(device->synchronize());
  EXPECT_GE(seenFirst, 1);
  EXPECT_EQ(seenSecond, 2);
}

TEST_F(DeviceTest, TheHostWaitsForTheLatestMark) {
  std::atomic<int> passed = 0;
  for (int step = 1; step <= 3; ++step) {
    ok(device->delay(kToDevice, kDelay));
    ok(device->callback(kToDevice, [&] { ++passed; }));
    ok(device->mark(kToDevice, 1));
    ok(device->mark(kCompute, 0));
    ok(device->awaitMark(1));
    EXPECT_EQ(passed, step);
    ok(device->awaitMark(0));
  }
  ok(device->synchronize());
}

TEST_F(DeviceTest, AReplayMarksAgain) {
  if (!device->canCapture()) {
    GTEST_SKIP() << "the device captures no step";
  }
  ok(device->capture([&] {
    Status status =
        device->fill(kCompute, Arena::Device, 0, kBytes, std::byte{0});
    status = status ? device->delay(kToDevice, kDelay) : status;
    status =
        status ? device->copyToDevice(kToDevice, kBytes, 0, kBytes) : status;
    return status ? device->mark(kToDevice, 0) : status;
  }));
  // What the host writes behind the mark comes with the next replay alone.
  std::fill_n(device->hostArena(), kBytes, std::byte{1});
  for (int step = 1; step <= 3; ++step) {
    ok(device->replay());
    ok(device->awaitMark(0));
    std::fill_n(device->hostArena(), kBytes, static_cast<std::byte>(step + 1));
    ok(device->synchronize());
    EXPECT_EQ(download(kBytes), all(static_cast<std::byte>(step)));
  }
}

TEST_F(DeviceTest, FillAndTap) {
  ok(device->fill(kCompute, Arena::Device, 100, 50, std::byte{9}));
  ok(device->fill(kCompute, Arena::Host, 0, 10, std::byte{8}));
  std::vector<std::byte> onDevice(50), onHost(10), before(1);
  ok(device->tap(kCompute, Arena::Device, 100, onDevice));
  ok(device->tap(kCompute, Arena::Device, 99, before));
  ok(device->tap(kCompute, Arena::Host, 0, onHost));
  ok(device->synchronize());
  EXPECT_EQ(onDevice, all(std::byte{9}, 50));
  EXPECT_EQ(onHost, all(std::byte{8}, 10));
  EXPECT_EQ(before, all(std::byte{0}, 1));
}

TEST_F(DeviceTest, RangesOutsideTheArenasAreRefused) {
  refused(device->copyToHost(kToHost, 0, 4 * kBytes - 1, 2),
          "outside the device arena");
  refused(device->copyToDevice(kToDevice, 0, 2 * kBytes, 1),
          "outside the host arena");
  refused(device->upload(UINT64_MAX, all(std::byte{0}, 2)), "outside");
  refused(device->fill(kCompute, Arena::Host, 0, 2 * kBytes + 1, std::byte{0}),
          "outside");
}

TEST_F(DeviceTest, UnknownStreamsEventsAndCommandsAreRefused) {
  refused(device->record(9, 0), "stream 9");
  refused(device->record(kCompute, 4), "event 4");
  refused(device->wait(kCompute, 3),
          "event 3 is waited for before it is recorded");
  refused(device->launch(kCompute, 77, {}), "command 77");
  refused(device->allocate(1, 1, {}, 0), "allocated already");
}

TEST_F(DeviceTest, AnErrorSticksAndHangsNobody) {
  schedule::KernelT kernel;
  kernel.kind = "softmax_cross_entropy";
  schedule::TypeT logits = makeType({2, 3}),
                  labels = makeType({2}, Layout::RowMajor, ElementType::I64),
                  loss = makeType({});
  std::vector<const schedule::TypeT *> reads = {&logits, &labels},
                                       writes = {&loss, &logits};
  Result<uint64_t> workspace =
      backend().workspaceBytes(kernel, {reads, writes});
  ASSERT_TRUE(workspace.ok()) << workspace.message();
  ok(device->prepare(5, kernel, {reads, writes}, {}, *workspace));
  std::vector<int64_t> wrong = {1, 3};
  ok(device->upload(64, std::as_bytes(std::span(wrong))));
  uint64_t readOffsets[] = {0, 64}, writeOffsets[] = {128, 192};
  // All is queued before the error is there, however slow this thread is. The
  // bound is for devices that first load a kernel once their streams stand.
  std::atomic<bool> queued = false;
  ok(device->callback(kCompute, [&] {
    for (int i = 0; i < 5000 && !queued; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }));
  ok(device->launch(kCompute, 5, {readOffsets, writeOffsets, 256, *workspace}));
  ok(device->fill(kCompute, Arena::Device, kBytes, 1, std::byte{1}));
  ok(device->record(kCompute, 0));
  ok(device->wait(kToHost, 0));
  ok(device->mark(kToHost, 0));
  queued = true;
  // Ends, whether the device knows the error already or not.
  static_cast<void>(device->awaitMark(0).ok());
  refused(device->synchronize(), "command 5, kernel 'softmax_cross_entropy': "
                                 "label 3 of sample 1 is no class");
  refused(device->synchronize(), "label 3");
  refused(device->fill(kCompute, Arena::Device, 0, 1, std::byte{1}), "label 3");
  refused(device->record(kCompute, 0), "label 3");
  refused(device->mark(kToHost, 0), "label 3");
  refused(device->awaitMark(0), "label 3");
  std::vector<std::byte> byte(1);
  refused(device->download(kBytes, byte), "label 3");
}

TEST_F(DeviceTest, DestructionFinishesQueuedWork) {
  std::atomic<int> count = 0;
  ok(device->delay(kCompute, kDelay));
  ok(device->record(kCompute, 0));
  ok(device->wait(kToHost, 0));
  ok(device->callback(kToHost, [&] { ++count; }));
  device.reset();
  EXPECT_EQ(count, 1);
}

// Where a device has a tracer, every activity bears the command that it was
// submitted for, also when streams run beside each other; what is replayed
// bears none.
TEST_F(DeviceTest, ActivitiesBearTheirCommands) {
  Result<std::unique_ptr<ActivityTracer>> tracer = device->traceActivities();
  if (!tracer) {
    GTEST_SKIP() << tracer.message();
  }
  if (!*tracer) {
    GTEST_SKIP() << "the device has no tracer of its own";
  }
  using Kind = Activity::Kind;
  auto submit = [this](const std::function<void(uint32_t)> &enter,
                       const std::function<void()> &leave) {
    enter(7);
    ok(device->delay(kCompute, kDelay));
    leave();
    enter(3);
    ok(device->copyToHost(kToHost, 0, 0, kBytes));
    leave();
    enter(5);
    ok(device->copyToDevice(kToDevice, 2 * kBytes, kBytes, kBytes));
    leave();
    enter(9);
    ok(device->fill(kCompute, Arena::Device, 3 * kBytes, kBytes, std::byte{1}));
    leave();
  };
  auto enter = [&](uint32_t command) { ok((*tracer)->enter(command)); };
  auto leave = [&] { ok((*tracer)->leave()); };
  auto take = [&] {
    ok(device->synchronize());
    Result<std::vector<Activity>> taken = (*tracer)->take();
    EXPECT_TRUE(taken.ok()) << taken.message();
    return taken.ok() ? *taken : std::vector<Activity>();
  };
  for (int step = 0; step < 2; ++step) {
    submit(enter, leave);
    std::vector<Activity> activities = take();
    ASSERT_EQ(activities.size(), 4u);
    for (const Activity &activity : activities) {
      EXPECT_GE(activity.endNs, activity.startNs);
      EXPECT_FALSE(activity.replayed);
      switch (activity.command) {
      case 7:
        EXPECT_GE(activity.endNs - activity.startNs,
                  static_cast<int64_t>(kDelay) * 9 / 10);
        [[fallthrough]];
      case 9:
        EXPECT_EQ(activity.kind, Kind::Work);
        EXPECT_NE(activity.name, "");
        break;
      case 3:
        EXPECT_EQ(activity.kind, Kind::CopyToHost);
        break;
      default:
        EXPECT_EQ(activity.command, 5u);
        EXPECT_EQ(activity.kind, Kind::CopyToDevice);
      }
    }
  }
  EXPECT_TRUE(take().empty());
  if (device->canCapture()) {
    ok(device->capture([&]() -> Status {
      submit([](uint32_t) {}, [] {});
      return {};
    }));
    ok(device->replay());
    std::vector<Activity> activities = take();
    EXPECT_EQ(activities.size(), 4u);
    for (const Activity &activity : activities) {
      EXPECT_TRUE(activity.replayed) << activity.name;
      EXPECT_EQ(activity.command, Activity::kNoCommand);
    }
  }
  // A second one, when the first is gone.
  tracer->reset();
  tracer = device->traceActivities();
  ASSERT_TRUE(tracer.ok()) << tracer.message();
  submit(enter, leave);
  EXPECT_EQ(take().size(), 4u);
}

} // namespace vdnn::rt::conformance
