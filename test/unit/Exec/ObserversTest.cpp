//===- ObserversTest.cpp - debug modes ------------------------------------===//

#include "FakeDevice.h"
#include "ToyPlan.h"

#include "runtime/exec/Executor.h"
#include "runtime/exec/Observers.h"
#include "runtime/support/MappedFile.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

class ObserversTest : public testing::Test {
protected:
  void create(schedule::ScheduleT plan) {
    Result<std::unique_ptr<Executor>> created =
        Executor::create(std::move(plan), createFakeDevice(log));
    ASSERT_TRUE(created.ok()) << created.message();
    executor = std::move(*created);
    set("x", {1, 2, 3, 4});
    set("w", {10, 20, 30, 40});
    if (executor->find("vdnn.rate")) { // of a plan that trains
      set("vdnn.rate", {2});
    }
    log.calls.clear();
  }

  void set(const std::string &name, const std::vector<float> &values) {
    std::vector<std::byte> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    uint32_t index = *executor->find(name);
    ASSERT_TRUE(
        executor
            ->write(index, makeHostTensor(
                               name, schedule::ElementType::F32,
                               executor->schedule().tensors[index]->type->shape,
                               std::move(bytes)))
            .ok());
  }

  std::vector<double> get(const std::string &name, uint64_t count) {
    return toDoubles(*executor->read(*executor->find(name)), 0, count);
  }

  FakeLog log;
  std::unique_ptr<Executor> executor;
};

TEST_F(ObserversTest, PoisonLeavesACorrectPlanAlone) {
  create(makeToyPlan());
  std::unique_ptr<Observer> poison = createPoison();
  executor->observe(*poison);
  for (int step = 0; step < 2; ++step) {
    set("w", {10, 20, 30, 40});
    ASSERT_TRUE(executor->step().ok());
    EXPECT_EQ(get("loss", 1), (std::vector<double>{110}));
    EXPECT_EQ(get("w", 4), (std::vector<double>{-1, -2, -3, -4}));
  }
}

// A kernel that writes only part of its result leaves the step before's bytes
// there; poisoned, they are NaN.
TEST_F(ObserversTest, PoisonShowsBytesThatNobodyWrote) {
  create(makeToyInference());
  executor.reset();
  schedule::ScheduleT plan = makeToyInference();
  plan.kernels[0]->kind = "writes nothing";
  Result<std::unique_ptr<Executor>> created =
      Executor::create(std::move(plan), createFakeDevice(log));
  ASSERT_TRUE(created.ok()) << created.message();
  executor = std::move(*created);
  ASSERT_TRUE(executor->step().ok());
  EXPECT_EQ(get("y", 1)[0], 0);
  std::unique_ptr<Observer> poison = createPoison();
  executor->observe(*poison);
  ASSERT_TRUE(executor->step().ok());
  EXPECT_TRUE(std::isnan(get("y", 1)[0]));
}

TEST_F(ObserversTest, JitterDelaysCommandsByItsSeed) {
  std::vector<std::string> runs[3];
  uint64_t seeds[3] = {1, 1, 2};
  for (int run = 0; run < 3; ++run) {
    create(makeToyPlan());
    std::unique_ptr<Observer> jitter = createJitter(seeds[run]);
    executor->observe(*jitter);
    ASSERT_TRUE(executor->step().ok());
    runs[run] = log.calls;
    EXPECT_GT(std::count_if(log.calls.begin(), log.calls.end(),
                            [](const std::string &call) {
                              return call.starts_with("delay");
                            }),
              3);
    EXPECT_EQ(get("loss", 1), (std::vector<double>{110}));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST_F(ObserversTest, VerifyCopiesFindsTheTensorThatCameBackDifferent) {
  create(makeToyPlan());
  std::unique_ptr<Observer> verifier = createCopyVerifier();
  executor->observe(*verifier);
  ASSERT_TRUE(executor->step().ok());
  log.corruptCopies = true;
  Status status = executor->step();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "command 16: 'act' came back from the host with "
                              "other bytes than it left with");
}

// `act` leaves its memory to `grad`, which dies once `w` is updated in place.
TEST_F(ObserversTest, TensorsAreTakenBeforeTheyDie) {
  create(makeToyPlan());
  std::unique_ptr<TensorTap> tap = createTensorTap(
      [](const schedule::TensorT &tensor) { return tensor.name != "loss"; });
  executor->observe(*tap);
  const std::map<std::string, std::vector<double>> expected[] = {
      {{"w", {-1, -2, -3, -4}},
       {"act", {11, 22, 33, 44}},
       {"grad", {5.5, 11, 16.5, 22}}},
      {{"w", {-1, -2, -3, -4}}, {"act", {0, 0, 0, 0}}, {"grad", {0, 0, 0, 0}}}};
  for (const auto &values : expected) {
    ASSERT_TRUE(executor->step().ok());
    std::map<std::string, std::vector<double>> taken;
    for (const HostTensor &tensor : tap->tensors(executor->schedule())) {
      taken[tensor.name] = toDoubles(tensor, 0, 4);
    }
    EXPECT_EQ(taken, values);
  }
}

TEST_F(ObserversTest, TappedTensorsAreRowMajor) {
  schedule::ScheduleT plan = makeToyInference();
  for (auto &tensor : plan.tensors) {
    if (tensor->type->shape.size() == 1) {
      tensor->type->shape = {1, 2, 1, 2};
      tensor->type->layout = schedule::Layout::ChannelsLast;
    }
  }
  for (auto &type : plan.types) {
    if (type->shape.size() == 1) {
      type->shape = {1, 2, 1, 2};
      type->layout = schedule::Layout::ChannelsLast;
    }
  }
  create(std::move(plan));
  std::unique_ptr<TensorTap> tap = createTensorTap(
      [](const schedule::TensorT &tensor) { return tensor.name == "y"; });
  executor->observe(*tap);
  ASSERT_TRUE(executor->step().ok());
  std::vector<HostTensor> tensors = tap->tensors(executor->schedule());
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(toDoubles(tensors[0], 0, 4), (std::vector<double>{11, 22, 33, 44}));
}

// Inputs are copied, not computed; a buffer without a tensor is a workspace.
TEST_F(ObserversTest, ComputedTensorsAreThoseThatALaunchWrites) {
  std::vector<std::string> names;
  schedule::ScheduleT plan = makeToyPlan();
  for (const schedule::TensorT *tensor : computedTensors(plan)) {
    names.push_back(tensor->name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"w", "act", "grad", "loss"}));
}

TEST_F(ObserversTest, TraceHasALanePerStreamAndASlicePerCommand) {
  create(makeToyPlan());
  std::unique_ptr<TraceRecorder> trace = createTraceRecorder();
  executor->observe(*trace);
  ASSERT_TRUE(executor->step().ok());
  ASSERT_TRUE(executor->step().ok());
  std::string path = testing::TempDir() + "trace.json";
  ASSERT_TRUE(trace->write(executor->schedule(), path).ok());
  Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  const char *text = reinterpret_cast<const char *>(file->bytes().data());
  nlohmann::json json =
      nlohmann::json::parse(text, text + file->bytes().size());
  int lanes = 0;
  std::vector<std::string> slices;
  for (const auto &event : json["traceEvents"]) {
    if (event["ph"] == "M") {
      ++lanes;
      continue;
    }
    EXPECT_GT(event["dur"].get<double>(), 0);
    EXPECT_GE(event["ts"].get<double>(), 0);
    slices.push_back(event["name"].get<std::string>() + " on " +
                     std::to_string(event["tid"].get<int>()));
  }
  EXPECT_EQ(lanes, 3);
  ASSERT_EQ(slices.size(), 18u);
  EXPECT_EQ(slices[1], "input x on 2");
  EXPECT_EQ(slices[2], "add on 0");
  EXPECT_EQ(slices[3], "offload act on 1");
  EXPECT_EQ(slices[5], "output loss on 1");
  EXPECT_EQ(slices[6], "prefetch act on 2");
}

// The device's own tracer knows the commands of steps that are submitted; those
// of replayed ones follow from the order.
TEST_F(ObserversTest, TheDevicesTracerTracesReplayedStepsToo) {
  log.captures = log.traces = true;
  create(makeToyPlan());
  std::unique_ptr<TraceRecorder> trace = createTraceRecorder();
  executor->observe(*trace);
  for (int step = 0; step < 10; ++step) {
    ASSERT_TRUE(executor->step().ok());
  }
  EXPECT_EQ(trace->note(), "");
  EXPECT_EQ(std::count(log.calls.begin(), log.calls.end(), "replay"), 7);
  std::vector<std::vector<uint32_t>> commands(10);
  for (const Slice &slice : trace->slices()) {
    commands[slice.step].push_back(slice.activity.command);
    EXPECT_EQ(slice.activity.replayed,
              slice.step >= TraceRecorder::kSubmittedSteps);
  }
  for (uint64_t step = 0; step < TraceRecorder::kTracedSteps; ++step) {
    EXPECT_EQ(commands[step].size(), 9u) << step;
    EXPECT_EQ(commands[step], commands[0]) << step;
    EXPECT_EQ(std::count(commands[step].begin(), commands[step].end(),
                         Activity::kNoCommand),
              0);
  }
  EXPECT_TRUE(commands[8].empty() && commands[9].empty());
  TraceSummary summary = summarize(executor->schedule(), trace->slices());
  EXPECT_TRUE(summary.replayed);
  EXPECT_EQ(summary.steps, 5u);
  EXPECT_EQ(summary.toHost.copyNs, 10);
  EXPECT_EQ(summary.toHost.hiddenNs, 0);
}

TEST_F(ObserversTest, ATraceGoesOnWithoutTheDevicesTracer) {
  log.traceError = "there is no tracer";
  create(makeToyPlan());
  std::unique_ptr<TraceRecorder> trace = createTraceRecorder();
  executor->observe(*trace);
  ASSERT_TRUE(executor->step().ok());
  EXPECT_EQ(trace->note(), "there is no tracer");
  EXPECT_EQ(trace->slices().size(), 9u);
}

TEST_F(ObserversTest, ATracerThatFailsEndsTheTraceAndNotTheRun) {
  log.traces = true;
  create(makeToyPlan());
  std::unique_ptr<TraceRecorder> trace = createTraceRecorder();
  executor->observe(*trace);
  ASSERT_TRUE(executor->step().ok());
  log.failTake = true;
  ASSERT_TRUE(executor->step().ok());
  ASSERT_TRUE(executor->step().ok());
  EXPECT_EQ(trace->note(), "the tracer lost records");
  EXPECT_EQ(trace->slices().size(), 9u);
}

} // namespace
