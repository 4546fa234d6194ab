//===- TimelineTest.cpp - against schedules worked out by hand ------------===//

#include "runtime/sim/Timeline.h"

#include <gtest/gtest.h>

using namespace vdnn::rt;

namespace {

enum : uint8_t { kCompute = 0, kToHost = 1, kToDevice = 2 };

TimedCommand work(uint32_t stream, int64_t ns, uint8_t direction = kCompute) {
  return {TimedCommand::Kind::Work, stream, 0, ns, direction};
}
TimedCommand record(uint32_t stream, uint32_t event) {
  return {TimedCommand::Kind::Record, stream, event, 0, 0};
}
TimedCommand wait(uint32_t stream, uint32_t event) {
  return {TimedCommand::Kind::Wait, stream, event, 0, 0};
}

TEST(Timeline, NothingTakesNoTime) {
  Timeline timeline = simulate({}, 3, 1.0);
  EXPECT_EQ(timeline.totalNs, 0);
  EXPECT_EQ(timeline.stallNs, 0);
  EXPECT_EQ(simulate({}, 0, 1.0).totalNs, 0);
}

TEST(Timeline, OneStreamRunsInOrder) {
  TimedCommand commands[] = {work(0, 10), work(0, 0), work(0, 5)};
  Timeline timeline = simulate(commands, 1, 1.0);
  EXPECT_EQ(timeline.startNs, (std::vector<int64_t>{0, 10, 10}));
  EXPECT_EQ(timeline.endNs, (std::vector<int64_t>{10, 10, 15}));
  EXPECT_EQ(timeline.totalNs, 15);
  EXPECT_EQ(timeline.stallNs, 0);
}

// An offload hides behind the next kernel; the kernel after that must wait for
// the rest of it.
TEST(Timeline, CopyOverlapsComputeAndStallsIt) {
  TimedCommand commands[] = {
      work(0, 100), record(0, 0), wait(1, 0), work(1, 250, kToHost),
      record(1, 1), work(0, 100), wait(0, 1), work(0, 40)};
  Timeline timeline = simulate(commands, 2, 1.0);
  EXPECT_EQ(timeline.startNs[3], 100);
  EXPECT_EQ(timeline.endNs[3], 350);
  EXPECT_EQ(timeline.startNs[5], 100);
  EXPECT_EQ(timeline.startNs[6], 200);
  EXPECT_EQ(timeline.endNs[6], 350);
  EXPECT_EQ(timeline.startNs[7], 350);
  EXPECT_EQ(timeline.totalNs, 390);
  EXPECT_EQ(timeline.stallNs, 150);
}

TEST(Timeline, TheLastWaitIsNoStall) {
  TimedCommand commands[] = {work(1, 70, kToHost), record(1, 0), work(0, 20),
                             wait(0, 0)};
  Timeline timeline = simulate(commands, 2, 1.0);
  EXPECT_EQ(timeline.endNs[3], 70);
  EXPECT_EQ(timeline.stallNs, 0);
}

// Both copies run at 0.8 until the shorter ends at 80 / 0.8 = 100; the longer
// has 160 - 80 = 80 left and goes on alone.
TEST(Timeline, DuplexCopiesSlowDown) {
  TimedCommand commands[] = {work(1, 80, kToHost), work(2, 160, kToDevice),
                             work(0, 500)};
  Timeline timeline = simulate(commands, 3, 0.8);
  EXPECT_EQ(timeline.endNs[0], 100);
  EXPECT_EQ(timeline.endNs[1], 180);
  EXPECT_EQ(timeline.endNs[2], 500);
}

// To-device runs alone for 50, then beside the other one at half rate: 100 left
// take 200, of which the other one's 30 take 60: at 110, 70 are left alone.
TEST(Timeline, DuplexOnlyWhileBothRun) {
  TimedCommand commands[] = {work(2, 150, kToDevice), work(0, 50), record(0, 0),
                             wait(1, 0), work(1, 30, kToHost)};
  Timeline timeline = simulate(commands, 3, 0.5);
  EXPECT_EQ(timeline.startNs[4], 50);
  EXPECT_EQ(timeline.endNs[4], 110);
  EXPECT_EQ(timeline.endNs[0], 180);
}

TEST(Timeline, CopiesOfOneDirectionDoNotDisturb) {
  TimedCommand commands[] = {work(1, 80, kToHost), work(2, 160, kToHost)};
  EXPECT_EQ(simulate(commands, 3, 0.5).totalNs, 160);
}

TEST(Timeline, WaitWithoutRecordIsSatisfied) {
  TimedCommand commands[] = {wait(0, 7), work(0, 3), record(1, 7)};
  EXPECT_EQ(simulate(commands, 2, 1.0).totalNs, 3);
}

// A wait means the last record submitted before it, not one that comes later.
TEST(Timeline, EventRecordedTwice) {
  TimedCommand commands[] = {work(0, 10), record(0, 0), wait(1, 0), work(1, 1),
                             work(0, 10), record(0, 0), wait(1, 0), work(1, 1)};
  Timeline timeline = simulate(commands, 2, 1.0);
  EXPECT_EQ(timeline.startNs[3], 10);
  EXPECT_EQ(timeline.startNs[7], 20);
}

// Order of streams in the table does not matter: chains of zero-length commands
// settle at one time.
TEST(Timeline, ChainAcrossStreamsSettlesAtOnce) {
  TimedCommand commands[] = {work(2, 5),   record(2, 0), wait(1, 0),
                             record(1, 1), wait(0, 1),   work(0, 5)};
  Timeline timeline = simulate(commands, 3, 1.0);
  EXPECT_EQ(timeline.startNs[5], 5);
  EXPECT_EQ(timeline.stallNs, 5);
  EXPECT_EQ(timeline.totalNs, 10);
}

TEST(Timeline, LongTimesStayExact) {
  std::vector<TimedCommand> commands(100000, work(0, 1234567891));
  EXPECT_EQ(simulate(commands, 1, 1.0).totalNs, 123456789100000);
}

} // namespace
