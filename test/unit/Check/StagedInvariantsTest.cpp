//===- StagedInvariantsTest.cpp - inputs that come in a step ahead --------===//

#include "Expect.h"

using namespace vdnn::rt;
using namespace vdnn::rt::test;
using namespace vdnn::schedule;

namespace {

TEST(Invariants, P9AcceptsAStagedInput) { expectAccepted(stagedStep()); }

TEST(Invariants, P3RejectsAStagedCopyBesideTheReadersOfThisStep) {
  ScheduleT plan = stagedStep();
  eraseCommand(plan, commandIndex(plan, "x.staging->x.next") - 1);
  expectRejected(plan, "P3", {"'x.now'", "'x.next'", "launch conv 'first'"});
}

TEST(Invariants, P4RejectsReadersBeforeTheStagedCopyOfTheStepBefore) {
  ScheduleT plan = stagedStep();
  eraseCommand(plan, commandIndex(plan, "first") - 1);
  expectRejected(plan, "P4",
                 {"'first'", "in the next step", "x.staging->x.next"});
}

TEST(Invariants, P9RejectsAStagedInputThatMoves) {
  ScheduleT plan = stagedStep();
  bufferNamed(plan, "x.next").offset = 256;
  fitHeader(plan);
  expectRejected(plan, "P9", {"staged input", "'x.now'", "'x.next'"});
}

TEST(Invariants, P9RejectsAStagedInputThatBeginsOnTheHost) {
  ScheduleT plan = stagedStep();
  bufferNamed(plan, "x.now").arena = Arena::Host;
  expectRejected(plan, "P9", {"staged input", "on the device"});
}

TEST(Invariants, P9RejectsAStagedInputWithoutExit) {
  ScheduleT plan = stagedStep();
  tensorNamed(plan, "x").exit = -1;
  expectRejected(plan, "P9", {"staged input", "no exit"});
}

TEST(Invariants, P9RejectsAStagedInputWithoutACopy) {
  ScheduleT plan = stagedStep();
  eraseCommand(plan, commandIndex(plan, "x.staging->x.next"));
  expectRejected(plan, "P9", {"no copy from", "'x.staging'", "'x.next'"});
}

TEST(Invariants, P9RejectsAStagedInputThatEndsAsItBegan) {
  ScheduleT plan = stagedStep();
  tensorNamed(plan, "x").exit = tensorNamed(plan, "x").entry;
  expectRejected(plan, "P9", {"no copy from", "'x.staging'", "'x.now'"});
}

TEST(Invariants, P9RejectsAReaderOfTheNextStepsValue) {
  ScheduleT plan = stagedStep();
  CommandT &second = commandNamed(plan, "second");
  setBuffer(second.reads[0], bufferIndex(plan, "x.next"));
  expectRejected(plan, "P9", {"'second'", "'x.next'", "next step's value"});
}

TEST(Invariants, P9RejectsASecondCopyOfTheStagingBuffer) {
  PlanBuilder plan;
  plan.device("x.now", 64, 0);
  plan.device("x.next", 64, 0);
  plan.device("x.more", 64, 64);
  plan.host("x.staging", 64, 0);
  plan.staged("x.now", "x.next", "x.staging");
  plan.copy("h2d", "x.staging", "x.next");
  plan.copy("h2d", "x.staging", "x.more");
  expectRejected(plan.finish(), "P9",
                 {"x.staging->x.more", "'x.staging'", "next step's value"});
}

TEST(Invariants, P9RejectsAStagingBufferThatACommandWrites) {
  PlanBuilder plan;
  plan.device("x.now", 64, 0);
  plan.device("x.next", 64, 0);
  plan.host("x.staging", 64, 0);
  plan.staged("x.now", "x.next", "x.staging");
  plan.copy("d2h", "x.now", "x.staging");
  plan.wait("h2d", plan.record("d2h"));
  plan.copy("h2d", "x.staging", "x.next");
  expectRejected(plan.finish(), "P9",
                 {"x.now->x.staging", "which only the host fills"});
}

TEST(Invariants, P9RejectsAStagingBufferOnTheDevice) {
  ScheduleT plan = stagedStep();
  BufferT &staging = bufferNamed(plan, "x.staging");
  staging.arena = Arena::Device;
  staging.offset = 256;
  fitHeader(plan);
  expectRejected(plan, "P9", {"staging buffer of staged input", "host buffer"});
}

TEST(Invariants, P9RejectsAStagingBufferOfAnotherTensor) {
  ScheduleT plan = stagedStep();
  tensorNamed(plan, "x").staging = bufferIndex(plan, "loss.host");
  expectRejected(plan, "P9", {"staging buffer", "'x'", "does not hold it"});
}

TEST(Invariants, P9RejectsAStagingBufferOfAParameter) {
  ScheduleT plan = stagedStep();
  TensorT &weight = tensorNamed(plan, "weight");
  weight.staging = weight.entry;
  expectRejected(plan, "P9", {"'weight'", "only of inputs"});
}

TEST(Invariants, P9RejectsAStagedInputWhoseStagingIsForgotten) {
  ScheduleT plan = stagedStep();
  tensorNamed(plan, "x").staging = -1;
  expectRejected(plan, "P9", {"'x'", "host buffer"});
}

TEST(Invariants, P0RejectsAStagingBufferThatDoesNotExist) {
  ScheduleT plan = stagedStep();
  tensorNamed(plan, "x").staging = 99;
  expectRejected(plan, "P0", {"'x'", "staging buffer 99"});
}

TEST(Invariants, P12RejectsWhateverOverlapsAStagingBuffer) {
  ScheduleT plan = stagedStep();
  bufferNamed(plan, "loss.host").offset = 48;
  fitHeader(plan);
  expectRejected(plan, "P12",
                 {"'x.staging'", "'loss.host'", "while commands run"});
}

TEST(Invariants, P12RejectsTwoStagingBuffersInOneRange) {
  PlanBuilder plan;
  for (const char *name : {"x", "y"}) {
    std::string tensor = name;
    uint64_t offset = tensor == "x" ? 0 : 64;
    plan.device(tensor + ".now", 64, offset);
    plan.device(tensor + ".next", 64, offset);
    plan.host(tensor + ".staging", 64, 0);
    plan.staged(tensor + ".now", tensor + ".next", tensor + ".staging");
    plan.copy("h2d", tensor + ".staging", tensor + ".next");
  }
  expectRejected(plan.finish(), "P12", {"'x.staging'", "'y.staging'"});
}

TEST(Invariants, P3RejectsAWriteOverAStagedInputAfterItsCopy) {
  PlanBuilder plan;
  plan.device("x.now", 64, 0);
  plan.device("x.next", 64, 0);
  plan.host("x.staging", 64, 0);
  plan.device("late", 64, 0);
  plan.staged("x.now", "x.next", "x.staging");
  plan.copy("h2d", "x.staging", "x.next");
  plan.wait("compute", plan.record("h2d"));
  plan.launch("late", {}, {"late"});
  plan.wait("h2d", plan.record("compute"));
  expectRejected(plan.finish(), "P3", {"'x.next'", "'late'"});
}

TEST(Invariants, P10AcceptsAndRejectsASummaryOfAStagedInput) {
  // Its one copy is what every input needs: nothing was brought back.
  ScheduleT plan = stagedStep();
  plan.summary = std::make_unique<SummaryT>();
  plan.summary->prefetched_bytes = 0;
  expectAccepted(plan);
  plan.summary->prefetched_bytes = 64;
  expectRejected(plan, "P10", {"64 bytes are prefetched", "move 0"});
}

} // namespace
