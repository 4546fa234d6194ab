//===- TraceSummaryTest.cpp - hidden copies and costs ---------------------===//

#include "ToyPlan.h"

#include "runtime/exec/TraceSummary.h"

#include <gtest/gtest.h>
#include <random>

using namespace vdnn;
using namespace vdnn::rt;

namespace {

using Kind = Activity::Kind;

TEST(OverlapTest, CountsWhatLiesUnderKernels) {
  CopyTime time = overlap({{0, 10}, {20, 30}}, {{5, 25}});
  EXPECT_EQ(time.copyNs, 20);
  EXPECT_EQ(time.hiddenNs, 10);
  EXPECT_EQ(time.exposedNs(), 10);
}

TEST(OverlapTest, CountsOverlappingIntervalsOnce) {
  CopyTime time =
      overlap({{10, 20}, {0, 12}, {15, 15}}, {{8, 9}, {0, 9}, {18, 40}});
  EXPECT_EQ(time.copyNs, 20);
  EXPECT_EQ(time.hiddenNs, 11);
}

TEST(OverlapTest, TouchingIsNotOverlapping) {
  EXPECT_EQ(overlap({{10, 20}}, {{0, 10}, {20, 30}}).hiddenNs, 0);
  EXPECT_EQ(overlap({{10, 20}}, {}).hiddenNs, 0);
  EXPECT_EQ(overlap({}, {{0, 10}}).copyNs, 0);
  EXPECT_EQ(overlap({{10, 20}}, {{0, 5}, {5, 15}, {15, 25}}).hiddenNs, 10);
}

// The same, nanosecond by nanosecond.
TEST(OverlapTest, AgreesWithCounting) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<Interval> lists[2];
    std::vector<bool> marks[2] = {std::vector<bool>(80), std::vector<bool>(80)};
    for (int list = 0; list < 2; ++list) {
      for (uint32_t i = random() % 6; i > 0; --i) {
        int64_t begin = random() % 40, end = begin + random() % 40;
        lists[list].push_back({begin, end});
        std::fill(marks[list].begin() + begin, marks[list].begin() + end, true);
      }
    }
    int64_t copied = 0, hidden = 0;
    for (size_t i = 0; i < 80; ++i) {
      copied += marks[0][i];
      hidden += marks[0][i] && marks[1][i];
    }
    CopyTime time = overlap(lists[0], lists[1]);
    ASSERT_EQ(time.copyNs, copied) << round;
    ASSERT_EQ(time.hiddenNs, hidden) << round;
  }
}

class TraceSummaryTest : public testing::Test {
protected:
  /// The slices of a step that takes `unit` for each command.
  std::vector<Slice> step(uint64_t number, int64_t unit, bool replayed) {
    std::vector<int64_t> start, end;
    for (size_t i = 0; i < plan.commands.size(); ++i) {
      start.push_back(static_cast<int64_t>(i) * unit);
      end.push_back(static_cast<int64_t>(i + 1) * unit);
    }
    std::vector<Slice> slices = slicesOf(plan, start, end);
    for (Slice &slice : slices) {
      slice.step = number;
      slice.activity.replayed = replayed;
    }
    return slices;
  }

  static void append(std::vector<Slice> &all, const std::vector<Slice> &more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  schedule::ScheduleT plan = test::makeToyPlan();
};

TEST_F(TraceSummaryTest, LeavesTheFirstStepOut) {
  std::vector<Slice> slices = step(0, 1000, false);
  append(slices, step(1, 10, false));
  append(slices, step(2, 20, false));
  TraceSummary summary = summarize(plan, slices);
  EXPECT_EQ(summary.steps, 2u);
  EXPECT_FALSE(summary.replayed);
  EXPECT_EQ(summary.toHost.copyNs, 2 * 15); // act and loss
  EXPECT_EQ(summarize(plan, step(0, 7, false)).toHost.copyNs, 2 * 7);
}

TEST_F(TraceSummaryTest, PrefersReplayedSteps) {
  std::vector<Slice> slices = step(0, 1000, false);
  append(slices, step(1, 500, false));
  append(slices, step(2, 10, true));
  TraceSummary summary = summarize(plan, slices);
  EXPECT_EQ(summary.steps, 1u);
  EXPECT_TRUE(summary.replayed);
  EXPECT_EQ(summary.toHost.copyNs, 20);
}

TEST_F(TraceSummaryTest, RatesAreThoseOfLargeCopies) {
  std::vector<Slice> slices = step(0, 1000, false);
  append(slices, step(1, 10, false));
  TraceSummary small = summarize(plan, slices);
  EXPECT_EQ(small.toHostRate, 0);
  EXPECT_EQ(small.toDeviceRate, 0);
  // The loss stays small: a copy that does not count.
  for (const auto &buffer : plan.buffers) {
    buffer->bytes = buffer->name == "act" ? kLargeCopy : buffer->bytes;
  }
  TraceSummary large = summarize(plan, slices);
  double rate = double(kLargeCopy) / 10e-9;
  EXPECT_DOUBLE_EQ(large.toHostRate, rate);
  EXPECT_DOUBLE_EQ(large.toDeviceRate, rate);
  // While both directions run, each is slower than alone.
  plan.link = std::make_unique<schedule::LinkT>();
  plan.link->duplex_factor = 0.5;
  for (Slice &slice : slices) {
    Activity &activity = slice.activity;
    if (activity.kind == Kind::CopyToHost) {
      activity.startNs = 0;
      activity.endNs = 20;
    } else if (activity.kind == Kind::CopyToDevice) {
      activity.startNs = 10;
      activity.endNs = 40;
    }
  }
  TraceSummary both = summarize(plan, slices);
  EXPECT_DOUBLE_EQ(both.toHostRate, double(kLargeCopy) / 15e-9);
  EXPECT_DOUBLE_EQ(both.toDeviceRate, double(kLargeCopy) / 25e-9);
  // What is not known to be a plan's copy has no size.
  for (Slice &slice : slices) {
    slice.activity.command = Activity::kNoCommand;
  }
  EXPECT_EQ(summarize(plan, slices).toHostRate, 0);
}

TEST_F(TraceSummaryTest, CostsAddUpByKindAndAlgorithm) {
  for (size_t i = 0; i < plan.commands.size(); ++i) {
    plan.commands[i]->predicted_ns = 3;
    plan.commands[i]->location = "op" + std::to_string(i);
  }
  std::vector<Slice> slices = step(0, 10, false);
  for (Slice &slice : slices) {
    const schedule::CommandT &command = *plan.commands[slice.activity.command];
    if (slice.activity.kind == Kind::Work &&
        plan.kernels[command.kernel]->kind == "update") {
      slice.activity.endNs += 90;
    }
  }
  slices.push_back({0, {Kind::Work, Activity::kNoCommand, 0, 1, false, "?"}});
  TraceSummary summary = summarize(plan, slices);
  int64_t all = 0;
  for (const Slice &slice : slices) {
    all += slice.activity.endNs - slice.activity.startNs;
  }
  for (const Cost &cost : summary.costs) {
    all -= cost.measuredNs;
    EXPECT_EQ(cost.predictedNs, static_cast<int64_t>(cost.count) * 3);
  }
  EXPECT_EQ(all, 0);
  EXPECT_EQ(summary.costs.front().kind, "update");
  EXPECT_EQ(summary.costs.front().measuredNs, 100);
  EXPECT_EQ(summary.costs.front().slowestNs, 100);
  EXPECT_TRUE(summary.costs.front().slowest.starts_with("op"));
  EXPECT_EQ(summary.costs.back().kind, "");
  EXPECT_EQ(summary.costs.back().count, 0u);
}

TEST(AssignCommandsTest, ByOrderWithinEachKind) {
  std::vector<Activity> known = {{Kind::Work, 4, 20, 25, false, "b"},
                                 {Kind::Work, 2, 0, 5, false, "a"},
                                 {Kind::CopyToHost, 3, 1, 9, false, ""}};
  std::vector<Activity> replayed = {
      {Kind::CopyToHost, Activity::kNoCommand, 130, 139, true, ""},
      {Kind::Work, Activity::kNoCommand, 100, 105, true, "a"},
      {Kind::Work, Activity::kNoCommand, 110, 115, true, "b"}};
  assignCommands(known, replayed);
  EXPECT_EQ(replayed[0].command, 3u);
  EXPECT_EQ(replayed[1].command, 2u);
  EXPECT_EQ(replayed[2].command, 4u);
}

TEST(AssignCommandsTest, NotWhereNamesOrNumbersDiffer) {
  std::vector<Activity> known = {{Kind::Work, 2, 0, 5, false, "a"},
                                 {Kind::Work, 4, 6, 7, false, "b"},
                                 {Kind::CopyToHost, 3, 1, 9, false, ""}};
  std::vector<Activity> replayed = {
      {Kind::Work, Activity::kNoCommand, 100, 105, true, "other"},
      {Kind::Work, Activity::kNoCommand, 106, 107, true, "b"},
      {Kind::CopyToHost, Activity::kNoCommand, 130, 139, true, ""},
      {Kind::CopyToHost, Activity::kNoCommand, 140, 149, true, ""}};
  assignCommands(known, replayed);
  EXPECT_EQ(replayed[0].command, Activity::kNoCommand);
  EXPECT_EQ(replayed[1].command, 4u);
  EXPECT_EQ(replayed[2].command, Activity::kNoCommand);
  EXPECT_EQ(replayed[3].command, Activity::kNoCommand);
}

} // namespace
