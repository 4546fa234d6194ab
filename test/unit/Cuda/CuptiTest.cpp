//===- CuptiTest.cpp - the tracer of activities, over a fake libcupti -----===//

#include "FakeCupti.h"

#include "runtime/backend/cuda/Cupti.h"

#include <cupti.h>
#include <functional>
#include <gtest/gtest.h>

using namespace vdnn::test;

namespace vdnn::rt::cuda {

namespace {

using Kind = Activity::Kind;

class CuptiTest : public testing::Test {
protected:
  void SetUp() override {
    fakeCupti() = FakeCupti();
    Result<std::unique_ptr<ActivityTracer>> created = createCuptiTracer();
    ASSERT_TRUE(created.ok()) << created.message();
    tracer = std::move(*created);
  }

  void during(uint32_t command, const std::function<void()> &work) {
    ASSERT_TRUE(tracer->enter(command).ok());
    work();
    ASSERT_TRUE(tracer->leave().ok());
  }

  std::vector<Activity> take() {
    Result<std::vector<Activity>> taken = tracer->take();
    EXPECT_TRUE(taken.ok()) << taken.message();
    return taken.ok() ? *taken : std::vector<Activity>();
  }

  std::unique_ptr<ActivityTracer> tracer;
};

TEST_F(CuptiTest, ActivitiesBearTheirCommandsInTheOrderOfTheirStart) {
  during(7, [] {
    fakeKernel("_ZN4vdnn3addEPfi", 30, 40);
    fakeFill(10, 20);
  });
  during(9, [] { fakeCopy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 15, 35); });
  during(4, [] { fakeCopy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 50, 60); });
  during(5, [] { fakeCopy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, 70, 80); });
  fakeKernel("plain", 90, 95);
  std::vector<Activity> activities = take();
  struct Expected {
    Kind kind;
    uint32_t command;
    int64_t start, end;
    const char *name;
  };
  const Expected expected[] = {
      {Kind::Work, 7, 10, 20, "fill"},
      {Kind::CopyToHost, 9, 15, 35, ""},
      {Kind::Work, 7, 30, 40, "vdnn::add(float*, int)"},
      {Kind::CopyToDevice, 4, 50, 60, ""},
      {Kind::Work, 5, 70, 80, "copy on the device"},
      {Kind::Work, Activity::kNoCommand, 90, 95, "plain"}};
  ASSERT_EQ(activities.size(), std::size(expected));
  for (size_t i = 0; i < activities.size(); ++i) {
    EXPECT_EQ(activities[i].kind, expected[i].kind) << i;
    EXPECT_EQ(activities[i].command, expected[i].command) << i;
    EXPECT_EQ(activities[i].startNs, expected[i].start) << i;
    EXPECT_EQ(activities[i].endNs, expected[i].end) << i;
    EXPECT_EQ(activities[i].name, expected[i].name) << i;
    EXPECT_FALSE(activities[i].replayed) << i;
  }
  EXPECT_TRUE(take().empty());
}

TEST_F(CuptiTest, WhatAGraphDoesIsReplayed) {
  fakeKernel("a", 1, 2, 3);
  fakeCopy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 2, 3, 3);
  fakeFill(3, 4, 3);
  std::vector<Activity> activities = take();
  ASSERT_EQ(activities.size(), 3u);
  for (const Activity &activity : activities) {
    EXPECT_TRUE(activity.replayed);
    EXPECT_EQ(activity.command, Activity::kNoCommand);
  }
}

TEST_F(CuptiTest, RecordsWithoutTimesAreNone) {
  fakeKernel("a", 0, 0);
  EXPECT_TRUE(take().empty());
}

TEST_F(CuptiTest, LostRecordsAreAnError) {
  fakeCupti().dropped = 3;
  Result<std::vector<Activity>> taken = tracer->take();
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.message(),
            "CUPTI lost 3 records for want of host memory: free some");
}

TEST_F(CuptiTest, ItEndsWithTheTracer) {
  EXPECT_GT(fakeCupti().enabled, 0);
  fakeKernel("before", 1, 2);
  tracer.reset();
  EXPECT_EQ(fakeCupti().enabled, 0);
  fakeKernel("between", 3, 4);
  Result<std::unique_ptr<ActivityTracer>> next = createCuptiTracer();
  ASSERT_TRUE(next.ok()) << next.message();
  tracer = std::move(*next);
  fakeKernel("after", 5, 6);
  std::vector<Activity> activities = take();
  ASSERT_EQ(activities.size(), 1u);
  EXPECT_EQ(activities[0].name, "after");
}

TEST_F(CuptiTest, ARefusalSaysWhatToDo) {
  tracer.reset();
  fakeCupti().failing = "enable";
  fakeCupti().failure = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  Result<std::unique_ptr<ActivityTracer>> refused = createCuptiTracer();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.message(),
            "CUPTI cannot trace: cuptiActivityEnable failed: the fake failed; "
            "end other profilers of this process, and see that the driver lets "
            "users trace (NVreg_RestrictProfilingToAdminUsers)");
  EXPECT_EQ(fakeCupti().enabled, 0);
}

} // namespace

} // namespace vdnn::rt::cuda
