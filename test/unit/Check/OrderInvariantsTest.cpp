//===- OrderInvariantsTest.cpp - streams and header: P0, P5, P6, P10, P11 -===//

#include "Expect.h"

using namespace vdnn::rt;
using namespace vdnn::rt::test;
using namespace vdnn::schedule;

namespace {

TEST(Invariants, P0RejectsADamagedSchedule) {
  ScheduleT plan = trainingStep();
  plan.commands[0]->stream = 7;
  expectRejected(plan, "P0", {"command 0", "stream 7"});
}

TEST(Invariants, AllAcceptATrainingStep) { expectAccepted(trainingStep()); }

TEST(Invariants, AllAcceptAnEmptyPlan) {
  expectAccepted(PlanBuilder().finish());
}

TEST(Invariants, P5AcceptsAnEventWithTwoWaits) {
  ScheduleT plan = trainingStep(); // 'offloaded' has two
  expectAccepted(plan);
}

TEST(Invariants, P5RejectsAWaitBeforeItsRecord) {
  ScheduleT plan = trainingStep();
  moveCommand(plan, commandIndex(plan, "conv1") - 1, 0);
  expectRejected(
      plan, "P5",
      {"wait for event 0", "record of event 0", "expected the record first"});
}

TEST(Invariants, P5RejectsAWaitWithoutARecord) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "conv1") + 1);
  expectRejected(plan, "P5", {"wait for event 1", "no command records"});
}

TEST(Invariants, P5RejectsTwoRecordsOfOneEvent) {
  ScheduleT plan = trainingStep();
  plan.commands[commandIndex(plan, "conv1") + 1]->event = 0;
  expectRejected(plan, "P5", {"record of event 0", "one record a step"});
}

TEST(Invariants, P5RejectsStreamsThatWaitForEachOther) {
  PlanBuilder plan;
  plan.wait("compute", 0);
  plan.record("compute"); // event 0, behind its own wait
  plan.wait("d2h", 0);
  expectRejected(plan.finish(), "P5", {"wait for event 0"});
}

TEST(Invariants, P6AcceptsASecondComputeStream) {
  PlanBuilder plan;
  plan.stream("compute2", StreamKind::Compute);
  plan.device("a", 64, 0);
  plan.launch("k", {}, {"a"}, {}, "", "compute2");
  expectAccepted(plan.finish());
}

TEST(Invariants, P6RejectsAKernelOnACopyStream) {
  ScheduleT plan = trainingStep();
  commandNamed(plan, "relu").stream = 1;
  expectRejected(plan, "P6", {"relu", "device-to-host"});
}

TEST(Invariants, P6RejectsACopyOnAComputeStream) {
  ScheduleT plan = trainingStep();
  commandNamed(plan, "act.made->act.host").stream = 0;
  expectRejected(plan, "P6", {"act.made->act.host", "compute"});
}

TEST(Invariants, P6RejectsACopyAgainstItsStreamsDirection) {
  ScheduleT plan = trainingStep();
  commandNamed(plan, "act.made->act.host").stream = 2;
  expectRejected(plan, "P6", {"'act.made'", "'act.host'", "host-to-device"});
}

TEST(Invariants, P6RejectsAKernelOnHostMemory) {
  ScheduleT plan = trainingStep();
  setBuffer(commandNamed(plan, "conv2").reads[0],
            bufferIndex(plan, "act.host"));
  expectRejected(plan, "P6", {"conv2", "'act.host'"});
}

TEST(Invariants, P6RejectsMoreWaitsThanClocksHaveRoomFor) {
  PlanBuilder builder;
  for (int i = 0; i < 61; ++i) {
    builder.stream("s" + std::to_string(i), StreamKind::Compute);
  }
  uint32_t event = builder.record("compute");
  ScheduleT plan = builder.finish();
  auto addWaits = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      plan.commands.push_back(std::make_unique<CommandT>());
      plan.commands.back()->kind = CommandKind::Wait;
      plan.commands.back()->event = static_cast<int32_t>(event);
      plan.commands.back()->stream =
          static_cast<uint32_t>(i % plan.streams.size());
    }
  };
  addWaits((1 << 24) / 64);
  expectAccepted(plan);
  addWaits(1);
  expectRejected(plan, "P6", {"262145 waits", "64 streams"});
}

TEST(Invariants, P6RejectsMoreStreamsThanAnyDeviceHas) {
  PlanBuilder plan;
  for (int i = 0; i < 64; ++i) {
    plan.stream("s" + std::to_string(i), StreamKind::Compute);
  }
  expectRejected(plan.finish(), "P6", {"67 streams", "64"});
}

TEST(Invariants, P10AcceptsABudgetThatIsJustEnough) {
  ScheduleT plan = trainingStep();
  plan.overhead_bytes = 1000;
  plan.budget = 1000 + plan.device_arena;
  expectAccepted(plan);
  plan.budget -= 1;
  expectRejected(plan, "P10", {"336", "1000", "1335"});
}

TEST(Invariants, P10RejectsAHeaderThatDeclaresMore) {
  ScheduleT plan = trainingStep();
  plan.device_arena += 16;
  expectRejected(plan, "P10", {"device", "352", "336", "'loss.device'"});
}

TEST(Invariants, P10AcceptsAndRejectsASummaryByTheCopies) {
  // The input's copy and the output's are no transfers of the plan; the
  // activation's are.
  ScheduleT plan = trainingStep();
  plan.summary = std::make_unique<SummaryT>();
  expectAccepted(plan);
  plan.summary->offloaded_bytes = 64;
  plan.summary->prefetched_bytes = 64;
  expectAccepted(plan);
  plan.summary->prefetched_bytes = 128;
  expectRejected(plan, "P10", {"128 bytes are prefetched", "move 64"});
  plan.summary->offloaded_bytes = 80;
  expectRejected(plan, "P10", {"80 bytes are offloaded", "move 64"});
}

TEST(Invariants, P10AcceptsAndRejectsNondeterministicKernelsByTheHeader) {
  ScheduleT plan = trainingStep();
  markNondeterministic(plan, "conv1");
  expectRejected(plan, "P10",
                 {"conv1", "marked nondeterministic",
                  "plan again with --allow-nondeterministic"});
  plan.allow_nondeterministic = true;
  expectAccepted(plan);
  EXPECT_EQ(countNondeterministic(plan), 1u);
}

TEST(Invariants, P11AcceptsItsDeviceAndRejectsOthers) {
  ScheduleT plan = trainingStep();
  EXPECT_TRUE(checkDevice(plan, "cpu", "test").empty());
  for (const auto &violations :
       {checkDevice(plan, "cuda", "test"), checkDevice(plan, "cpu", "other")}) {
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_EQ(violations[0].invariant, "P11");
  }
}

} // namespace
