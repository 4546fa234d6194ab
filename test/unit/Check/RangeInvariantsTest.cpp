//===- RangeInvariantsTest.cpp - where bytes lie: P1 to P3, P8, P12 -------===//

#include "Expect.h"

using namespace vdnn::rt;
using namespace vdnn::rt::test;
using namespace vdnn::schedule;

namespace {

TEST(Invariants, P1AcceptsARangeThatEndsWithItsArena) {
  PlanBuilder plan;
  plan.device("w", 64, 0);
  plan.persistent("w", "w");
  expectAccepted(plan.finish());
}

TEST(Invariants, P1RejectsARangeOutsideItsArena) {
  ScheduleT plan = trainingStep();
  plan.device_arena -= 16;
  expectRejected(plan, "P1", {"'loss.device'", "[320, 336)", "[0, 320)"});
}

TEST(Invariants, P1RejectsABufferShorterThanItsTensor) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "relu").bytes = 48;
  expectRejected(plan, "P1", {"'relu'", "48", "64"});
}

TEST(Invariants, P1RejectsAnOperandThatReachesBeyondItsBuffer) {
  ScheduleT plan = trainingStep();
  plan.types.push_back(std::make_unique<TypeT>());
  plan.types.back()->shape = {17};
  setType(commandNamed(plan, "relu").reads[0], plan.types.size() - 1);
  expectRejected(plan, "P1", {"'relu'", "reads 68", "'out'"});
}

TEST(Invariants, P1RejectsAWriteThatLeavesAPartUnwritten) {
  ScheduleT plan = trainingStep();
  plan.types.push_back(std::make_unique<TypeT>());
  plan.types.back()->shape = {15};
  setType(commandNamed(plan, "relu").writes[0], plan.types.size() - 1);
  expectRejected(plan, "P1", {"'relu'", "writes 60"});
}

TEST(Invariants, P2AcceptsAStricterAlignmentThatHolds) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "act.made").alignment = 64;
  expectAccepted(plan);
}

TEST(Invariants, P2RejectsAMisalignedBuffer) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "act.made").alignment = 128;
  expectRejected(plan, "P2", {"'act.made'", "128"});
}

TEST(Invariants, P2RejectsAnAlignmentThatIsNoPowerOfTwo) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "act.made").alignment = 24;
  expectRejected(plan, "P2", {"'act.made'", "24", "power of two"});
}

TEST(Invariants, P2RejectsAnElementAcrossItsAlignment) {
  ScheduleT plan = trainingStep();
  BufferT &buffer = bufferNamed(plan, "ws");
  buffer.tensor = -1;
  BufferT &loss = bufferNamed(plan, "loss.device");
  loss.alignment = 1;
  loss.offset += 2;
  fitHeader(plan);
  expectRejected(plan, "P2", {"'loss.device'", "elements of 4"});
}

TEST(Invariants, P2AcceptsAndRejectsAlignmentsByThePage) {
  for (bool within : {true, false}) {
    PlanBuilder builder;
    builder.device("w", 64, 0);
    builder.persistent("w", "w");
    ScheduleT plan = builder.finish();
    bufferNamed(plan, "w").alignment = within ? 4096 : 8192;
    if (within) {
      expectAccepted(plan);
    } else {
      expectRejected(plan, "P2", {"'w'", "8192", "at most 4096"});
    }
  }
}

TEST(Invariants, P3AcceptsReuseAfterACompletedCopy) {
  expectAccepted(trainingStep());
}

TEST(Invariants, P3RejectsReuseWhileACopyReads) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "relu") -
                         1); // compute no longer waits for the offload
  expectRejected(
      plan, "P3",
      {"'act.made'", "'relu'", "[192, 256)", "act.made->act.host", "before"});
}

TEST(Invariants, P3RejectsReuseWithinOneStream) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "grad").offset =
      192; // over 'relu', which the same launch reads
  expectRejected(plan, "P3", {"'relu'", "'grad'", "wgrad", "not in place"});
}

TEST(Invariants, P3RejectsAMissingOrderToTheNextStep) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan,
               commandIndex(plan, "sgd") -
                   1); // h2d no longer waits for the last reader of act.back
  expectRejected(plan, "P3",
                 {"'act.back'", "'x.device'", "wgrad", "next step"});
}

TEST(Invariants, P3AcceptsAndRejectsABufferInTheNextStep) {
  for (bool ordered : {true, false}) {
    PlanBuilder plan;
    plan.device("a.device", 64, 0);
    plan.host("a.host", 64, 0);
    plan.output("a.host");
    plan.launch("k", {}, {"a.device"});
    plan.wait("d2h", plan.record("compute"));
    plan.copy("d2h", "a.device", "a.host");
    uint32_t copied = plan.record("d2h");
    if (ordered) {
      plan.wait("compute", copied);
      expectAccepted(plan.finish());
    } else {
      expectRejected(plan.finish(), "P3",
                     {"'a.device'", "conflicts with itself", "a.device->a.host",
                      "next step"});
    }
  }
}

TEST(Invariants, P3RejectsAWriteOverAPersistentTensorAfterItsUpdate) {
  PlanBuilder plan;
  plan.device("w.old", 64, 0);
  plan.device("w.new", 64, 0);
  plan.device("t", 64, 0);
  plan.persistent("w.old", "w.new");
  plan.launch("sgd", {"w.old"}, {"w.new"}, {{0, 0}});
  plan.launch("scratch", {}, {"t"});
  expectRejected(plan.finish(), "P3", {"'w.new'", "'t'", "end of the step"});
}

TEST(Invariants, P3RejectsTwoPersistentTensorsInOneRange) {
  PlanBuilder plan;
  plan.device("v", 64, 0);
  plan.device("w.old", 64, 0);
  plan.device("w.new", 64, 0);
  plan.persistent("v", "v");
  plan.persistent("w.old", "w.new");
  plan.launch("sgd", {"w.old"}, {"w.new"}, {{0, 0}});
  expectRejected(plan.finish(), "P3", {"'v'", "'w.old'", "both hold a value"});
  plan.persistent("v", "w.new"); // no tensor of its own: P9, and still no crash
  expectRejected(plan.finish(), "P3", {"'v'", "'w.old'", "both hold a value"});
}

TEST(Invariants, P3RejectsAWriteOverAnUnchangedPersistentTensor) {
  PlanBuilder plan;
  plan.device("w", 64, 0);
  plan.device("t", 64, 48);
  plan.persistent("w", "w");
  plan.launch("scratch", {"w"}, {"t"});
  expectRejected(plan.finish(), "P3", {"'w'", "'t'", "[48, 64)"});
}

TEST(Invariants, P3AcceptsUseOfAPersistentRangeBetweenItsLastReadAndItsUpdate) {
  PlanBuilder plan;
  plan.device("w.old", 64, 0);
  plan.device("t", 64, 0);
  plan.device("u", 64, 64);
  plan.device("w.new", 64, 0);
  plan.persistent("w.old", "w.new");
  plan.launch("read", {"w.old"}, {"u"});
  plan.launch("scratch", {"u"}, {"t"});
  plan.launch("rewrite", {"u"}, {"w.new"});
  expectAccepted(plan.finish());
}

TEST(Invariants, P3RejectsALateReaderOfAnExitThatTheNextStepOverwrites) {
  PlanBuilder plan;
  plan.device("w.old", 64, 0);
  plan.device("w.new", 64, 0);
  plan.host("w.host", 64, 0);
  plan.persistent("w.old", "w.new");
  plan.launch("sgd", {"w.old"}, {"w.new"}, {{0, 0}});
  plan.wait("d2h", plan.record("compute"));
  plan.copy("d2h", "w.new", "w.host");
  expectRejected(plan.finish(), "P3",
                 {"'w.new'", "w.new->w.host", "sgd", "next step"});
}

TEST(Invariants, P3RejectsTwoResultsOfOneLaunchInOneRange) {
  PlanBuilder plan;
  plan.device("a", 64, 0);
  plan.device("b", 64, 32);
  plan.launch("split", {}, {"a", "b"});
  expectRejected(plan.finish(), "P3", {"'a'", "'b'", "split"});
}

TEST(Invariants, P3AcceptsAndRejectsAnUpdateByItsDeclaration) {
  ScheduleT plan = trainingStep();
  expectAccepted(plan);
  commandNamed(plan, "sgd").in_place.clear();
  expectRejected(plan, "P3",
                 {"sgd", "'weight.old'", "'weight.new'", "not in place"});
}

/// 'second' computes 'b' over 'a', which it reads twice.
ScheduleT readTwiceInPlace() {
  PlanBuilder plan;
  plan.device("a", 64, 0);
  plan.device("b", 64, 0);
  plan.launch("first", {}, {"a"});
  plan.launch("second", {"a", "a"}, {"b"}, {{0, 0}});
  return plan.finish();
}

TEST(Invariants, P3AcceptsASecondReadInPlaceOfTheSameType) {
  ScheduleT plan = readTwiceInPlace();
  expectAccepted(plan);
  setType(commandNamed(plan, "second").reads[1],
          addType(plan, {16})); // equal, if another entry of the table
  expectAccepted(plan);
}

TEST(Invariants, P3RejectsASecondReadInPlaceThroughAnotherView) {
  ScheduleT plan = readTwiceInPlace();
  setType(commandNamed(plan, "second").reads[1],
          addType(plan, {4})); // a row of it, broadcast
  expectRejected(plan, "P3", {"second", "'a'", "read 1", "another type"});
}

TEST(Invariants, P3RejectsAnOperandInPlaceOfAnotherSize) {
  ScheduleT plan = readTwiceInPlace();
  for (Operand &read : commandNamed(plan, "second").reads) {
    setType(read, addType(plan, {4}));
  }
  expectRejected(plan, "P3", {"second", "'b'", "'a'", "16 bytes"});
}

TEST(Invariants, P3RejectsTwoResultsInPlaceOfOneOperand) {
  PlanBuilder plan;
  plan.device("a", 64, 0);
  plan.device("b", 64, 0);
  plan.device("c", 64, 0);
  plan.launch("first", {}, {"a"});
  plan.launch("second", {"a"}, {"b", "c"}, {{0, 0}, {0, 1}});
  expectRejected(plan.finish(), "P3", {"second", "'b'", "'c'"});
}

TEST(Invariants, P8AcceptsAWorkspaceInARangeThatIsFree) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "ws").offset = 256; // before 'out' is written
  expectAccepted(plan);
}

TEST(Invariants, P8AcceptsAndRejectsAWorkspaceByItsAlignment) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "ws").alignment = 64;
  expectAccepted(plan);
  bufferNamed(plan, "ws").alignment = 32;
  expectRejected(plan, "P8", {"conv1", "'ws'", "alignment 32", "at least 64"});
}

TEST(Invariants, P8RejectsASharedWorkspace) {
  ScheduleT plan = trainingStep();
  commandNamed(plan, "conv2").workspace = bufferIndex(plan, "ws");
  expectRejected(plan, "P8", {"conv1", "conv2", "'ws'"});
}

TEST(Invariants, P8RejectsAWorkspaceThatHoldsATensor) {
  ScheduleT plan = trainingStep();
  commandNamed(plan, "conv2").workspace = bufferIndex(plan, "grad");
  expectRejected(plan, "P8", {"conv2", "'grad'"});
}

TEST(Invariants, P8RejectsAWorkspaceAsOperand) {
  ScheduleT plan = trainingStep();
  setBuffer(commandNamed(plan, "relu").reads[0], bufferIndex(plan, "ws"));
  expectRejected(plan, "P8", {"relu", "'ws'", "operand"});
}

TEST(Invariants, P8RejectsAWorkspaceOnTheHost) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "ws").arena = Arena::Host;
  expectRejected(plan, "P8", {"conv1", "'ws'", "device"});
}

TEST(Invariants, P8RejectsAWorkspaceOverAnOperandOfItsLaunch) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "ws").offset = 128;
  expectRejected(plan, "P3", {"'ws'", "'x.device'", "conv1"});
}

TEST(Invariants, P12RejectsAHostRangeOutsideItsArena) {
  ScheduleT plan = trainingStep();
  plan.host_arena -= 16;
  expectRejected(plan, "P12", {"P1", "'loss.host'"});
  expectRejected(plan, "P12", {"P10", "host arena of 128"});
}

TEST(Invariants, P12AcceptsAndRejectsByTheHostBudget) {
  ScheduleT plan = trainingStep();
  plan.host_budget = plan.host_arena;
  expectAccepted(plan);
  plan.host_budget -= 1;
  expectRejected(plan, "P12", {"host arena of 144", "host budget of 143"});
}

TEST(Invariants, P12RejectsAMisalignedHostRange) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "act.host").alignment = 128;
  expectRejected(plan, "P12", {"P2", "'act.host'"});
}

TEST(Invariants, P12RejectsHostRangesInUseAtOnce) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "loss.host").offset =
      64; // both are written by d2h, but the prefetch may still read the first
  fitHeader(plan);
  expectRejected(plan, "P12", {"P3", "'act.host'", "'loss.host'"});
}

// A persistent tensor that no command touches is still there in the next step.
TEST(Invariants, P12RejectsACopyOverAnIdleTensor) {
  for (uint64_t offset : {64, 60, 0}) {
    PlanBuilder plan;
    plan.device("act.made", 64, 0);
    plan.device("act.back", 64, 64);
    plan.device("y", 64, 128);
    plan.host("act.host", 64, 0);
    plan.host("w", 64, offset);
    plan.persistent("w", "w");
    plan.wait("compute", plan.record("d2h")); // act.made is copied out
    plan.wait("d2h", plan.record("h2d"));     // act.host is copied in
    plan.launch("make", {}, {"act.made"});
    plan.wait("d2h", plan.record("compute"));
    plan.copy("d2h", "act.made", "act.host");
    plan.wait("h2d", plan.record("d2h"));
    plan.copy("h2d", "act.host", "act.back");
    plan.wait("compute", plan.record("h2d"));
    plan.launch("read", {"act.back"}, {"y"});
    if (offset == 64) {
      expectAccepted(plan.finish());
    } else {
      expectRejected(plan.finish(), "P12", {"P3", "'act.host'", "'w'"});
    }
  }
}

TEST(Invariants, P12RejectsAnOutputInTheRangeOfAnInput) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "loss.host").offset = 0;
  fitHeader(plan);
  expectRejected(plan, "P12",
                 {"P3", "'loss.host'", "'x.host'", "the host may fill"});
}

TEST(Invariants, P12AcceptsAnInputsRangeAfterItsLastRead) {
  // The host fills the input only when no command runs, so the next step needs
  // no event here.
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "act.host").offset = 0;
  expectAccepted(plan);
}

} // namespace
