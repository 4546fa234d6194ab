//===- ExecutorTest.cpp - what is submitted and refused -------------------===//

#include "FakeDevice.h"
#include "ToyPlan.h"

#include "runtime/exec/Executor.h"
#include "runtime/sim/SimDevice.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

HostTensor floats(const std::string &name, std::vector<int64_t> shape,
                  const std::vector<float> &values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return makeHostTensor(name, schedule::ElementType::F32, std::move(shape),
                        std::move(bytes));
}

std::unique_ptr<Executor> makeExecutor(FakeLog &log, schedule::ScheduleT plan) {
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), createFakeDevice(log));
  EXPECT_TRUE(executor.ok()) << executor.message();
  return executor.ok() ? std::move(*executor) : nullptr;
}

std::string refusal(schedule::ScheduleT plan, const std::string &kind = "cpu") {
  FakeLog log;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), createFakeDevice(log, kind));
  EXPECT_FALSE(executor.ok());
  EXPECT_TRUE(log.calls.empty()) << "a refused plan touches no device";
  return executor.ok() ? "" : executor.message();
}

TEST(Executor, SubmitsInOrderAndThenSynchronizes) {
  FakeLog log;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  ASSERT_TRUE(executor);
  EXPECT_EQ(log.calls, (std::vector<std::string>{
                           "allocate 56 40 3 6", "prepare add", "prepare sum",
                           "prepare halve", "prepare update"}));
  log.calls.clear();
  ASSERT_TRUE(executor->step().ok());
  EXPECT_EQ(log.calls,
            (std::vector<std::string>{
                "record 0 0",        "wait 2 0",          "copyToDevice 2 4",
                "copyToDevice 2 16", "record 2 1",        "wait 0 1",
                "launch 0 add",      "record 0 2",        "wait 1 2",
                "copyToHost 1 16",   "launch 0 sum",      "record 0 3",
                "wait 1 3",          "copyToHost 1 4",    "record 1 4",
                "wait 2 4",          "copyToDevice 2 16", "record 2 5",
                "wait 0 5",          "launch 0 halve",    "launch 0 update",
                "synchronize"}));
}

TEST(Executor, ComputesWhatThePlanSays) {
  FakeLog log;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  ASSERT_TRUE(executor);
  ASSERT_TRUE(
      executor->write(*executor->find("x"), floats("x", {4}, {1, 2, 3, 4}))
          .ok());
  ASSERT_TRUE(
      executor->write(*executor->find("vdnn.rate"), floats("r", {}, {2})).ok());
  ASSERT_TRUE(
      executor->write(*executor->find("w"), floats("w", {4}, {10, 20, 30, 40}))
          .ok());
  ASSERT_TRUE(executor->step().ok());
  EXPECT_EQ(toDoubles(*executor->read(*executor->find("loss")), 0, 1),
            (std::vector<double>{110}));
  // w - 2 * (x + w) / 2 = -x
  EXPECT_EQ(toDoubles(*executor->read(*executor->find("w")), 0, 4),
            (std::vector<double>{-1, -2, -3, -4}));
}

TEST(Executor, FindsTensorsByName) {
  FakeLog log;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  EXPECT_EQ(executor->find("w"), 2u);
  EXPECT_FALSE(executor->find("nothing"));
}

TEST(Executor, RefusesValuesOfAnotherShapeOrType) {
  FakeLog log;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  Status status = executor->write(0, floats("x", {2, 2}, {1, 2, 3, 4}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "tensor 'x' takes [4] of f32, got [2, 2] of f32");
  HostTensor integers = floats("x", {4}, {1, 2, 3, 4});
  integers.element = schedule::ElementType::I32;
  EXPECT_FALSE(executor->write(0, integers).ok());
  EXPECT_FALSE(executor->read(0).ok())
      << "an input has no value when a step ends";
}

// Two violations in one plan: both are in the message, and nothing is
// allocated.
TEST(Executor, RefusesAPlanWithViolationsAndNamesThemAll) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.device_arena += 64;
  for (auto &command : plan.commands) {
    if (command->kind == schedule::CommandKind::Wait) {
      command->stream = 0;
    }
  }
  std::string message = refusal(std::move(plan));
  EXPECT_NE(message.find("P10"), std::string::npos) << message;
  EXPECT_NE(message.find("P3"), std::string::npos) << message;
  EXPECT_NE(message.find("refused"), std::string::npos) << message;
}

TEST(Executor, RefusesAPlanThatIsNotSound) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.commands[0]->stream = 99;
  EXPECT_NE(refusal(std::move(plan)).find("\nP0: "), std::string::npos);
}

TEST(Executor, RefusesAPlanForAnotherDevice) {
  EXPECT_NE(refusal(makeToyPlan(), "cuda").find("P11"), std::string::npos);
  schedule::ScheduleT plan = makeToyPlan();
  plan.target->fingerprint = "fake 2";
  std::string message = refusal(std::move(plan));
  EXPECT_NE(message.find("fake 1"), std::string::npos) << message;
  EXPECT_NE(message.find("fake 2"), std::string::npos) << message;
}

// A plan that names no machine could be for any: its kernels were chosen for
// one.
TEST(Executor, RefusesAPlanWithoutAFingerprint) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.target->fingerprint.clear();
  std::string message = refusal(std::move(plan));
  EXPECT_NE(message.find("P11: "), std::string::npos) << message;
  EXPECT_NE(message.find("'fake 1'; plan again on this machine"),
            std::string::npos)
      << message;
}

TEST(Executor, RefusesAPlanOfASmallerAlignment) {
  FakeLog log;
  log.alignment = 16;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(makeToyPlan(), createFakeDevice(log));
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(log.calls.empty()) << "a refused plan touches no device";
  EXPECT_EQ(executor.message().find("'vdnn.rate'"), std::string::npos)
      << "it lies at offset 16";
  EXPECT_NE(executor.message().find(
                "P2: buffer 'loss' at offset 20 of the device arena is not "
                "aligned to the 16 bytes that 'cpu' needs"),
            std::string::npos)
      << executor.message();
}

TEST(Executor, AcceptsAPlanOfTheSameFingerprint) {
  schedule::ScheduleT plan = makeToyPlan();
  ASSERT_EQ(plan.target->fingerprint, "fake 1");
  FakeLog log;
  EXPECT_TRUE(makeExecutor(log, std::move(plan)));
}

TEST(Executor, SeveralStepsInFlightSynchronizeOnce) {
  FakeLog log;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  log.calls.clear();
  ASSERT_TRUE(executor->steps(3).ok());
  EXPECT_EQ(std::count(log.calls.begin(), log.calls.end(), "launch 0 update"),
            3);
  EXPECT_EQ(std::count(log.calls.begin(), log.calls.end(), "synchronize"), 1);
  EXPECT_EQ(log.calls.back(), "synchronize");
}

TEST(Executor, PlansForModelsCanOnlyBeSimulated) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.target->kind = "model";
  plan.target->name = "titanx";
  EXPECT_NE(refusal(std::move(plan)).find("--device sim"), std::string::npos);

  plan = makeToyPlan();
  plan.target->kind = "model";
  std::unique_ptr<Device> device = SimDevice::create(plan);
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), std::move(device));
  ASSERT_TRUE(executor.ok()) << executor.message();
  ASSERT_TRUE((*executor)->step().ok());
  // Two inputs, add, offload, (sum beside it, loss after both), prefetch,
  // halve, update: 100 + 100 + max(...) ...
  EXPECT_EQ((*executor)->device().nowNs(),
            50 + 50 + 100 + 100 + 50 + 50 + 100 + 100);
}

TEST(Executor, NamesTheCommandWhoseKernelIsUnknown) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.kernels[2]->kind = "unknown";
  FakeLog log;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), createFakeDevice(log));
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(
      executor.message(),
      "command 19 ('unknown', from 'halve'): there is no kernel 'unknown'");
}

TEST(Executor, ReportsAnErrorOfTheWorkItself) {
  FakeLog log;
  log.failingCommand = 6;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  Status status = executor->step();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "the kernel failed");

  // After an error nothing more is run, even where the device would.
  log.calls.clear();
  status = executor->step();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("an earlier step failed"), std::string::npos);
  EXPECT_TRUE(log.calls.empty());
}

//===----------------------------------------------------------------------===//
// Captured steps
//===----------------------------------------------------------------------===//

/// The toy plan's commands as the log has them.
const std::vector<std::string> &toyStep() {
  static const std::vector<std::string> calls = [] {
    FakeLog log;
    std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
    log.calls.clear();
    EXPECT_TRUE(executor->step().ok());
    log.calls.pop_back(); // synchronize
    return log.calls;
  }();
  return calls;
}

/// One after the other.
std::vector<std::string>
join(std::initializer_list<std::vector<std::string>> parts) {
  std::vector<std::string> all;
  for (const std::vector<std::string> &part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST(Executor, StepsBehindTheFirstReadWhatWasStaged) {
  FakeLog log;
  std::unique_ptr<Executor> direct = makeExecutor(log, makeToyPlan());
  std::unique_ptr<Executor> staged = makeExecutor(log, makeStagedToyPlan());
  uint32_t x = *staged->find("x");
  for (Executor *executor : {direct.get(), staged.get()}) {
    ASSERT_TRUE(executor->write(x, floats("x", {4}, {1, 2, 3, 4})).ok());
  }
  std::vector<float> next = {5, 6, 7, 8};
  std::memcpy(staged->inputBytes(x).data(), next.data(), 16);
  ASSERT_TRUE(staged->steps(2).ok());
  ASSERT_TRUE(direct->step().ok());
  ASSERT_TRUE(direct->write(x, floats("x", {4}, next)).ok());
  ASSERT_TRUE(direct->step().ok());
  uint32_t w = *staged->find("w");
  EXPECT_EQ(toDoubles(*staged->read(w), 0, 4),
            toDoubles(*direct->read(w), 0, 4));
}

TEST(Executor, RunsBesideAStepOnceItsNextInputsHaveLeft) {
  FakeLog log;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeStagedToyPlan());
  log.calls.clear();
  ASSERT_TRUE(executor
                  ->step([&] {
                    log.calls.push_back("beside");
                    return Status();
                  })
                  .ok());
  // A device that cannot tell waits for everything.
  ASSERT_GE(log.calls.size(), 3u);
  EXPECT_EQ(std::vector<std::string>(log.calls.end() - 3, log.calls.end()),
            (std::vector<std::string>{"synchronize", "beside", "synchronize"}));
  Status status = executor->step([] { return Status(Error{"no data"}); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "no data");
  EXPECT_FALSE(executor->step().ok());
}

TEST(Executor, AStepEndsWhenTheDeviceIsDoneAndNotWhatRunsBeside) {
  for (bool captures : {false, true}) {
    FakeLog log;
    log.captures = captures;
    std::unique_ptr<Executor> executor = makeExecutor(log, makeStagedToyPlan());
    for (int step = 0; step < 3; ++step) {
      int64_t begin = log.clockNs, besideBegins = 0;
      ASSERT_TRUE(executor
                      ->step([&] {
                        besideBegins = log.clockNs;
                        log.clockNs += 1000000;
                        return Status();
                      })
                      .ok());
      EXPECT_GT(executor->endNs(), begin);
      EXPECT_LE(executor->endNs(), besideBegins);
      EXPECT_GT(log.clockNs, begin + 1000000);
    }
    int64_t begin = log.clockNs;
    ASSERT_TRUE(executor->step().ok());
    EXPECT_GT(executor->endNs(), begin);
  }
}

TEST(ExecutorCapture, TheSecondStepIsCapturedAndReplayed) {
  FakeLog log;
  log.captures = true;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  log.calls.clear();
  ASSERT_TRUE(executor->step().ok());
  EXPECT_EQ(log.calls, join({toyStep(), {"synchronize"}}));
  log.calls.clear();
  ASSERT_TRUE(executor->step().ok());
  EXPECT_EQ(
      log.calls,
      join({{"synchronize", "capture", "replay"}, toyStep(), {"synchronize"}}));
  log.calls.clear();
  ASSERT_TRUE(executor->steps(2).ok());
  EXPECT_EQ(
      log.calls,
      join({{"replay"}, toyStep(), {"replay"}, toyStep(), {"synchronize"}}));
}

// The device takes the inputs that lie in the host arena when it replays.
TEST(ExecutorCapture, ReplaysComputeOnNewInputs) {
  std::vector<double> weights[2];
  for (bool captures : {false, true}) {
    FakeLog log;
    log.captures = captures;
    std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
    for (float step : {1.f, 2.f, 3.f, 4.f}) {
      ASSERT_TRUE(executor
                      ->write(*executor->find("x"),
                              floats("x", {4}, {step, 2 * step, -step, 0}))
                      .ok());
      ASSERT_TRUE(executor
                      ->write(*executor->find("vdnn.rate"),
                              floats("r", {}, {0.5f / step}))
                      .ok());
      ASSERT_TRUE(executor->step().ok());
    }
    weights[captures] = toDoubles(*executor->read(*executor->find("w")), 0, 4);
    EXPECT_EQ(std::count(log.calls.begin(), log.calls.end(), "replay"),
              captures ? 3 : 0);
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(ExecutorCapture, IsOffWhereTheUserSaysSo) {
  FakeLog log;
  log.captures = true;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  executor->setCapture(false);
  log.calls.clear();
  ASSERT_TRUE(executor->steps(3).ok());
  EXPECT_EQ(log.calls,
            join({toyStep(), toyStep(), toyStep(), {"synchronize"}}));
}

// An observer sees every command; a graph would hide them.
TEST(ExecutorCapture, IsOffWhileSomebodyObserves) {
  FakeLog log;
  log.captures = true;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  ASSERT_TRUE(executor->steps(2).ok());
  Observer nobody;
  executor->observe(nobody);
  log.calls.clear();
  ASSERT_TRUE(executor->steps(2).ok());
  EXPECT_EQ(log.calls, join({toyStep(), toyStep(), {"synchronize"}}));
}

TEST(ExecutorCapture, AnErrorIsReportedAndSticks) {
  FakeLog log;
  log.captures = true;
  log.failCapture = true;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  ASSERT_TRUE(executor->step().ok());
  Status status = executor->step();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "the capture failed");
  log.calls.clear();
  status = executor->step();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("an earlier step failed"), std::string::npos);
  EXPECT_TRUE(log.calls.empty());
}

TEST(ExecutorCapture, ReportsAnErrorOfTheReplayedWork) {
  FakeLog log;
  log.captures = true;
  std::unique_ptr<Executor> executor = makeExecutor(log, makeToyPlan());
  ASSERT_TRUE(executor->steps(2).ok());
  log.failingCommand = 6;
  Status status = executor->step();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "the kernel failed");
}

// The arena and what libraries still take have to be free; what this process
// holds already is part of the overhead.
TEST(ExecutorRoomTest, APlanThatDoesNotFitIsRefusedBeforeAnythingIsTaken) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.overhead_bytes = 1000;
  uint64_t needed = plan.device_arena + 1000 - 600;
  for (uint64_t missing : {0, 1}) {
    FakeLog log;
    log.memory = {50000, 50000 - (needed - missing), 600};
    Result<std::unique_ptr<Executor>> created =
        Executor::create(plan, createFakeDevice(log));
    EXPECT_EQ(created.ok(), missing == 0);
    if (missing == 1) {
      ASSERT_FALSE(created.ok());
      EXPECT_TRUE(log.calls.empty());
      for (const std::string &part :
           {"the arena takes " + std::to_string(plan.device_arena) + " bytes",
            std::string("libraries 400 bytes"),
            std::to_string(needed - 1) + " bytes",
            "--budget of at most " + std::to_string(needed - 1 + 600)}) {
        EXPECT_NE(created.message().find(part), std::string::npos)
            << created.message();
      }
    }
  }
}

TEST(ExecutorRoomTest, WithoutAMeasureTheDeviceDecides) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.overhead_bytes = 1000;
  FakeLog log;
  log.memory = {50000, 50000, 0};
  EXPECT_TRUE(Executor::create(plan, createFakeDevice(log)).ok());
}

} // namespace
