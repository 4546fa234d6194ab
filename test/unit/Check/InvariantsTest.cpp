//===- InvariantsTest.cpp - each invariant accepts what holds and rejects what
// does not -------------------------===//

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

uint32_t addType(ScheduleT &plan, std::vector<int64_t> shape,
                 ElementType element = ElementType::F32,
                 Layout layout = Layout::RowMajor) {
  plan.types.push_back(std::make_unique<TypeT>());
  plan.types.back()->shape = std::move(shape);
  plan.types.back()->element = element;
  plan.types.back()->layout = layout;
  return plan.types.size() - 1;
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

TEST(Invariants, P4RejectsTwoResultsInOneBuffer) {
  PlanBuilder plan;
  plan.device("a", 64, 0);
  plan.launch("split", {}, {"a", "a"});
  expectRejected(plan.finish(), "P4", {"split", "'a'", "twice"});
}

TEST(Invariants, P4AcceptsAReshape) {
  ScheduleT plan = trainingStep();
  setType(commandNamed(plan, "relu").reads[0], addType(plan, {2, 1, 8}));
  // With one channel, or one place, channels last is row major.
  setType(commandNamed(plan, "relu").writes[0],
          addType(plan, {2, 1, 8}, ElementType::F32, Layout::ChannelsLast));
  setType(commandNamed(plan, "loss").reads[0],
          addType(plan, {2, 8, 1}, ElementType::F32, Layout::ChannelsLast));
  expectAccepted(plan);
}

TEST(Invariants, P4RejectsOtherElements) {
  ScheduleT plan = trainingStep();
  setType(commandNamed(plan, "relu").reads[0],
          addType(plan, {16}, ElementType::I32));
  expectRejected(plan, "P4", {"relu", "reads", "'out'", "I32", "F32"});
  plan = trainingStep();
  setType(commandNamed(plan, "relu").writes[0],
          addType(plan, {8}, ElementType::F64));
  expectRejected(plan, "P4", {"relu", "writes", "'relu'", "F64", "F32"});
}

TEST(Invariants, P4RejectsAnotherOrderInMemory) {
  ScheduleT plan = trainingStep();
  setType(commandNamed(plan, "relu").reads[0],
          addType(plan, {2, 2, 4}, ElementType::F32, Layout::ChannelsLast));
  expectRejected(plan, "P4", {"relu", "'out'", "ChannelsLast", "RowMajor"});
}

TEST(Invariants, P4AcceptsAndRejectsViewsOfATensorThatIsChannelsLast) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{2, 2, 4}, {2, 4, 2}}) {
    ScheduleT plan = trainingStep();
    uint32_t type =
        addType(plan, {2, 2, 2, 2}, ElementType::F32, Layout::ChannelsLast);
    *tensorNamed(plan, "out").type = *plan.types[type];
    setType(commandNamed(plan, "conv2").writes[0], type);
    setType(commandNamed(plan, "relu").reads[0],
            addType(plan, shape, ElementType::F32, Layout::ChannelsLast));
    if (shape[1] == 2) {
      expectAccepted(plan);
    } else {
      expectRejected(plan, "P4", {"relu", "'out'"});
    }
  }
}

TEST(Invariants, P4AcceptsAndRejectsASecondLaunchOfATensorByItsDecision) {
  for (bool declared : {true, false}) {
    PlanBuilder builder;
    builder.device("a.made", 64, 0);
    builder.device("a.again", 64, 64);
    builder.launch("first", {}, {"a.made"});
    builder.launch("again", {}, {"a.again"});
    ScheduleT plan = builder.finish();
    if (declared) {
      tensorNamed(plan, "a").decision = Decision::Recompute;
      expectAccepted(plan);
    } else {
      expectRejected(
          plan, "P4",
          {"first", "'a.made'", "again", "'a.again'", "not to be recomputed"});
    }
  }
}

TEST(Invariants, P4RejectsALaunchThatWritesAnInput) {
  ScheduleT plan = trainingStep();
  plan.buffers.push_back(std::make_unique<BufferT>(bufferNamed(plan, "out")));
  plan.buffers.back()->tensor = bufferNamed(plan, "x.host").tensor;
  plan.buffers.back()->offset = 384;
  fitHeader(plan);
  commandNamed(plan, "loss")
      .writes.emplace_back(plan.buffers.size() - 1,
                           commandNamed(plan, "relu").reads[0].type());
  expectRejected(plan, "P4", {"loss", "input", "'x'"});
}

TEST(Invariants, P4RejectsAReadBeforeItsWrite) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "conv1") -
                         1); // compute no longer waits for the input
  expectRejected(plan, "P4", {"conv1", "'x.device'", "x.host->x.device"});
}

TEST(Invariants, P4RejectsAReadThatNothingWrites) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "conv2"));
  expectRejected(plan, "P4", {"relu", "'out'", "no command writes"});
}

TEST(Invariants, P4RejectsTwoWriters) {
  ScheduleT plan = trainingStep();
  setBuffer(commandNamed(plan, "wgrad").writes[0], bufferIndex(plan, "out"));
  expectRejected(plan, "P4", {"conv2", "wgrad", "'out'", "one writer"});
}

TEST(Invariants, P4RejectsAWriteToAnEntry) {
  ScheduleT plan = trainingStep();
  setBuffer(commandNamed(plan, "sgd").writes[0],
            bufferIndex(plan, "weight.old"));
  expectRejected(plan, "P4", {"sgd", "'weight.old'", "entry"});
}

TEST(Invariants, P4AcceptsAndRejectsReadsOfLastStepsUpdate) {
  for (bool ordered : {true, false}) {
    PlanBuilder plan;
    plan.stream("update", StreamKind::Compute);
    plan.device("w.old", 64, 0);
    plan.device("w.new", 64, 0);
    plan.device("y", 64, 64);
    plan.persistent("w.old", "w.new");
    plan.launch("forward", {"w.old"}, {"y"});
    plan.wait("update", plan.record("compute"));
    plan.launch("sgd", {"w.old"}, {"w.new"}, {{0, 0}}, "", "update");
    uint32_t updated = plan.record("update");
    if (ordered) {
      plan.wait("compute", updated);
      expectAccepted(plan.finish());
    } else {
      expectRejected(plan.finish(), "P4",
                     {"forward", "next step", "sgd", "'w.new'"});
    }
  }
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

TEST(Invariants, P7AcceptsAPrefetchOfACompletedOffload) {
  expectAccepted(trainingStep());
}

TEST(Invariants, P7RejectsAPrefetchBeforeTheOffloadHasCompleted) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "act.host->act.back") - 1);
  expectRejected(plan, "P7",
                 {"act.host->act.back", "'act.host'", "act.made->act.host"});
}

TEST(Invariants, P7RejectsAPrefetchOfAnotherTensor) {
  ScheduleT plan = trainingStep();
  setBuffer(commandNamed(plan, "act.host->act.back").reads[0],
            bufferIndex(plan, "x.host"));
  expectRejected(plan, "P7", {"'x.host'", "'act.back'", "one tensor"});
}

TEST(Invariants, P7RejectsACopyThatChangesTheType) {
  ScheduleT plan = trainingStep();
  plan.types.push_back(std::make_unique<TypeT>());
  plan.types.back()->shape = {4, 4};
  setType(commandNamed(plan, "act.host->act.back").writes[0],
          plan.types.size() - 1);
  expectRejected(plan, "P7", {"different types"});
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

TEST(Invariants, P9AcceptsATensorThatNoStepChanges) {
  PlanBuilder plan;
  plan.device("w", 64, 0);
  plan.device("y", 64, 64);
  plan.persistent("w", "w");
  plan.launch("k", {"w"}, {"y"});
  expectAccepted(plan.finish());
}

/// 'w.new' is computed elsewhere, and w ends the step where it began: by way of
/// the host.
ScheduleT exitThroughTheHost(const std::string &saved) {
  PlanBuilder plan;
  plan.device("w.old", 64, 0);
  plan.device("w.new", 64, 64);
  plan.host("w.host", 64, 0);
  plan.device("w.exit", 64, 0);
  plan.persistent("w.old", "w.exit");
  plan.launch("sgd", {"w.old"}, {"w.new"});
  plan.wait("d2h", plan.record("compute"));
  plan.copy("d2h", saved, "w.host");
  plan.wait("h2d", plan.record("d2h"));
  plan.copy("h2d", "w.host", "w.exit");
  plan.wait("compute", plan.record("h2d"));
  return plan.finish();
}

TEST(Invariants, P9AcceptsAnUpdateThatComesBackFromTheHost) {
  expectAccepted(exitThroughTheHost("w.new"));
}

TEST(Invariants, P9RejectsAnOldValueThatComesBackFromTheHost) {
  ScheduleT plan = exitThroughTheHost("w.old");
  expectRejected(
      plan, "P9",
      {"'w'", "'w.exit'", "copies from", "'w.old'", "a launch has written"});
  expectRejected(plan, "P9", {"sgd", "'w.new'", "lost"});
}

TEST(Invariants, P9RejectsAnUpdateOfATensorThatEndsAsItBegan) {
  ScheduleT plan = trainingStep();
  tensorNamed(plan, "weight").exit = tensorNamed(plan, "weight").entry;
  expectRejected(plan, "P9", {"sgd", "'weight.new'", "lost", "'weight.old'"});
}

TEST(Invariants, P9RejectsCopiesInACircle) {
  PlanBuilder plan;
  plan.device("y.device", 64, 0);
  plan.host("y.host", 64, 0);
  plan.output("y.host");
  plan.copy("d2h", "y.device", "y.host");
  plan.copy("h2d", "y.host", "y.device");
  expectRejected(plan.finish(), "P9", {"'y'", "'y.host'", "in a circle"});
}

TEST(Invariants, P9RejectsAPersistentTensorThatMoves) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "weight.new").offset = 320 + 16;
  fitHeader(plan);
  expectRejected(plan, "P9",
                 {"'weight'", "'weight.old'", "'weight.new'", "same range"});
}

TEST(Invariants, P9RejectsAPersistentTensorThatIsNotWritten) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "sgd"));
  expectRejected(plan, "P9", {"'weight.new'", "no command writes"});
}

TEST(Invariants, P9RejectsAPersistentTensorWithoutExit) {
  ScheduleT plan = trainingStep();
  tensorNamed(plan, "weight").exit = -1;
  expectRejected(plan, "P9", {"'weight'", "no exit"});
}

TEST(Invariants, P9RejectsAnOutputThatNobodyWrites) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "loss.device->loss.host"));
  expectRejected(plan, "P9", {"'loss.host'", "'loss'"});
}

TEST(Invariants, P9RejectsAnInputOnTheDevice) {
  ScheduleT plan = trainingStep();
  tensorNamed(plan, "x").entry = bufferIndex(plan, "x.device");
  expectRejected(plan, "P9", {"input", "'x'", "expected a host buffer"});
}

TEST(Invariants, P9RejectsTheBufferOfAnotherTensor) {
  ScheduleT plan = trainingStep();
  tensorNamed(plan, "weight").exit = bufferIndex(plan, "grad");
  expectRejected(plan, "P9", {"'weight'", "'grad'", "does not hold it"});
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

TEST(Invariants, P11AcceptsItsDeviceAndRejectsOthers) {
  ScheduleT plan = trainingStep();
  EXPECT_TRUE(checkDevice(plan, "cpu", "test").empty());
  for (const auto &violations :
       {checkDevice(plan, "cuda", "test"), checkDevice(plan, "cpu", "other")}) {
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_EQ(violations[0].invariant, "P11");
  }
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
