//===- BesideTest.cpp - when what runs beside a step goes wrong -----------===//

#include "FakeDevice.h"
#include "ToyPlan.h"

#include "runtime/exec/Executor.h"
#include "runtime/exec/Session.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

/// An executor of the staged toy plan, three steps in: the next one is replayed
/// if the device captures steps. Its next step fails with `message`.
class BesideTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    log.captures = GetParam();
    log.marks = true;
    Result<std::unique_ptr<Executor>> created =
        Executor::create(makeStagedToyPlan(), createFakeDevice(log));
    ASSERT_TRUE(created.ok()) << created.message();
    executor = std::move(*created);
    executor->observe(observer);
    for (int step = 0; step < 3; ++step) {
      ASSERT_TRUE(executor->step(beside).ok());
    }
    EXPECT_EQ(count("beside"), 3);
    EXPECT_EQ(observer.ended, 3);
    log.calls.clear();
  }

  /// The error is reported once all queued work has ended, and from then on
  /// nothing is run.
  void expectLastStep(const std::string &message) {
    Status status = executor->step(beside);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), message);
    EXPECT_EQ(count("launch 0 update"), 1) << "the whole step was queued";
    EXPECT_EQ(log.calls.back(), "synchronize");
    EXPECT_EQ(observer.ended, 3) << "its values are nobody's to see";

    std::vector<std::string> calls = log.calls;
    for (bool again : {false, true}) {
      status = executor->step(again ? beside : nullptr);
      ASSERT_FALSE(status.ok());
      EXPECT_NE(status.message().find("an earlier step failed"),
                std::string::npos)
          << status.message();
    }
    EXPECT_EQ(log.calls, calls);
  }

  int64_t count(const std::string &call) const {
    return std::count(log.calls.begin(), log.calls.end(), call);
  }

  struct Ends final : Observer {
    bool seesCommands() const override { return false; }
    Status stepEnds(const schedule::ScheduleT &, Device &) override {
      ++ended;
      return {};
    }
    int ended = 0;
  };

  FakeLog log;
  Status besideStatus;
  std::function<Status()> beside = [this] {
    log.calls.push_back("beside");
    return besideStatus;
  };
  Ends observer;
  std::unique_ptr<Executor> executor;
};

INSTANTIATE_TEST_SUITE_P(Captures, BesideTest, testing::Bool());

TEST_P(BesideTest, AnErrorOfItsOwn) {
  besideStatus = Error{"there are no data"};
  expectLastStep("there are no data");
  EXPECT_EQ(log.calls[log.calls.size() - 3], "awaitMark 0");
  EXPECT_EQ(log.calls[log.calls.size() - 2], "beside");
}

// The copy may still be reading the staging buffer: nobody may write to it.
TEST_P(BesideTest, NothingRunsWhereTheWaitForAMarkFails) {
  log.markError = "the mark is lost";
  expectLastStep("the mark is lost");
  EXPECT_EQ(count("awaitMark 0"), 1);
  EXPECT_EQ(count("beside"), 0);
}

TEST_P(BesideTest, NothingRunsWhereTheEndOfAStreamCannotBeNoted) {
  log.callbackError = "the stream takes no function";
  expectLastStep("the stream takes no function");
  EXPECT_EQ(count("awaitMark 0"), 0);
  EXPECT_EQ(count("beside"), 0);
}

// The device's own error is the cause, whatever else comes of it.
TEST_P(BesideTest, TheErrorOfTheWorkComesFirst) {
  log.failingCommand = 5; // add
  besideStatus = Error{"there are no data"};
  expectLastStep("the kernel failed");
  EXPECT_EQ(count("beside"), 1);
}

TEST_P(BesideTest, TheErrorOfTheWorkComesBeforeThatOfTheWait) {
  log.failingCommand = 5; // add
  log.markError = "the mark is lost";
  expectLastStep("the kernel failed");
  EXPECT_EQ(count("beside"), 0);
}

// A session does not take the failed step for run.
TEST_P(BesideTest, ASessionNamesTheStepAndStaysThere) {
  FakeLog log;
  log.captures = GetParam();
  log.marks = true;
  Result<std::unique_ptr<Session>> session =
      Session::create(makeStagedToyPlan(), createFakeDevice(log), {});
  ASSERT_TRUE(session.ok()) << session.message();
  for (int step = 0; step < 2; ++step) {
    ASSERT_TRUE((*session)->step().ok());
  }
  log.markError = "the mark is lost";
  Status status = (*session)->step();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "step 2: the mark is lost");
  log.markError.clear();
  status = (*session)->step();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("step 2: an earlier step failed"),
            std::string::npos)
      << status.message();
  EXPECT_EQ((*session)->nextStep(), 2u);
}

} // namespace
