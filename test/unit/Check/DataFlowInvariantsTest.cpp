//===- DataFlowInvariantsTest.cpp - values and copies: P4, P7, P9 ---------===//

#include "Expect.h"

using namespace vdnn::rt;
using namespace vdnn::rt::test;
using namespace vdnn::schedule;

namespace {

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

TEST(Invariants, P4RejectsANondeterministicLaunchOfARecomputedTensor) {
  for (const char *marked : {"first", "again", "other"}) {
    PlanBuilder builder;
    builder.device("a.made", 64, 0);
    builder.device("a.again", 64, 64);
    builder.device("b", 64, 128);
    builder.launch("first", {}, {"a.made"});
    builder.launch("again", {}, {"a.again"});
    builder.launch("other", {}, {"b"});
    ScheduleT plan = builder.finish();
    plan.allow_nondeterministic = true;
    tensorNamed(plan, "a").decision = Decision::Recompute;
    markNondeterministic(plan, marked);
    if (std::string(marked) == "other") {
      expectAccepted(plan);
    } else {
      expectRejected(plan, "P4",
                     {marked, "'a'", "to be recomputed",
                      "does not make the same bits twice"});
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

TEST(Invariants, P9AcceptsATensorThatNoStepChanges) {
  PlanBuilder plan;
  plan.device("w", 64, 0);
  plan.device("y", 64, 64);
  plan.persistent("w", "w");
  plan.launch("k", {"w"}, {"y"});
  expectAccepted(plan.finish());
}

/// A parameter w and a copy c that follows from it; `makers`: the results of
/// each launch.
ScheduleT convertedCopy(const std::vector<std::vector<std::string>> &makers) {
  PlanBuilder plan;
  plan.device("w.old", 64, 0);
  plan.device("w.new", 64, 0);
  plan.device("c.old", 64, 64);
  plan.device("c.new", 64, 64);
  auto exit = [&](const std::string &tensor) {
    bool changes = std::ranges::any_of(makers, [&](const auto &results) {
      return std::ranges::count(results, tensor + ".new") > 0;
    });
    return tensor + (changes ? ".new" : ".old");
  };
  plan.persistent("w.old", exit("w"));
  plan.persistent("c.old", exit("c"));
  for (const std::vector<std::string> &results : makers) {
    plan.launch("sgd", {}, results);
  }
  ScheduleT schedule = plan.finish();
  schedule.tensors[1]->role = Role::State;
  schedule.tensors[1]->initial = std::make_unique<InitialT>();
  schedule.tensors[1]->initial->kind = InitialKind::Converted;
  schedule.tensors[1]->initial->source = 0;
  return schedule;
}

TEST(Invariants, P9AcceptsACopyMadeWithItsSource) {
  expectAccepted(convertedCopy({{"w.new", "c.new"}}));
}

TEST(Invariants, P9AcceptsACopyOfWhatNothingChanges) {
  expectAccepted(convertedCopy({}));
}

TEST(Invariants, P9RejectsACopyThatGoesItsOwnWay) {
  expectRejected(convertedCopy({{"w.new"}, {"c.new"}}), "P9",
                 {"expected the same launch"});
  expectRejected(convertedCopy({{"w.new"}}), "P9",
                 {"gets its new value from no command"});
  expectRejected(convertedCopy({{"c.new"}}), "P9",
                 {"the other one from no command"});
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

} // namespace
