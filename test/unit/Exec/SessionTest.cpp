//===- SessionTest.cpp - runs, checkpoints, resumption --------------------===//

#include "FakeDevice.h"
#include "ToyPlan.h"

#include "runtime/exec/Checkpoint.h"
#include "runtime/exec/Session.h"
#include "runtime/exec/files/Npy.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Half.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

std::string samples(uint64_t count) {
  std::string path =
      testing::TempDir() + "session" + std::to_string(count) + ".npy";
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = 0.1f * static_cast<float>(i + 1);
  }
  std::string text =
      *npyHeader(schedule::ElementType::F32,
                 std::vector<int64_t>{static_cast<int64_t>(count)});
  text.append(reinterpret_cast<const char *>(values.data()), count * 4);
  EXPECT_TRUE(writeFile(path, text).ok());
  return path;
}

Result<std::unique_ptr<Session>> open(const SessionOptions &options,
                                      FakeLog &log) {
  return Session::create(makeToyPlan(), createFakeDevice(log), options);
}

/// All persistent values as bytes.
std::string bits(Session &session) {
  std::string text;
  Result<std::vector<HostTensor>> values = session.persistent();
  for (const HostTensor &tensor : *values) {
    text.append(reinterpret_cast<const char *>(tensor.data.data()),
                tensor.data.size());
  }
  return text;
}

RateSchedule cosine() {
  RateSchedule rate;
  rate.kind = RateSchedule::Kind::Cosine;
  rate.base = 0.3;
  return rate;
}

TEST(Session, LossAndStepCount) {
  FakeLog log;
  SessionOptions options;
  options.data["x"] = samples(8);
  Result<std::unique_ptr<Session>> session = open(options, log);
  ASSERT_TRUE(session.ok()) << session.message();
  EXPECT_TRUE((*session)->training());
  EXPECT_FALSE((*session)->loss());
  ASSERT_TRUE((*session)->step().ok());
  EXPECT_TRUE((*session)->loss());
  EXPECT_EQ((*session)->nextStep(), 1u);
  EXPECT_GT((*session)->stepNs(), 0);
}

// Stopped after every possible step and resumed, with shuffled data and a rate
// that falls: the same bits in the end.
TEST(Session, ResumeContinuesBitIdentically) {
  SessionOptions options;
  options.data["x"] = samples(12);
  options.shuffle = 3;
  options.seed = 9;
  options.rate = cosine();
  FakeLog log;
  Result<std::unique_ptr<Session>> whole = open(options, log);
  ASSERT_TRUE(whole.ok()) << whole.message();
  (*whole)->setTotalSteps(7);
  for (int step = 0; step < 7; ++step) {
    ASSERT_TRUE((*whole)->step().ok());
  }
  std::string path = testing::TempDir() + "resume.safetensors";
  for (uint64_t stop = 0; stop <= 7; ++stop) {
    {
      Result<std::unique_ptr<Session>> first = open(options, log);
      (*first)->setTotalSteps(7);
      while ((*first)->nextStep() < stop) {
        ASSERT_TRUE((*first)->step().ok());
      }
      ASSERT_TRUE((*first)->save(path).ok());
    }
    SessionOptions rest; // seed, shuffle and rate come from the checkpoint
    rest.data = options.data;
    rest.resume = path;
    Result<std::unique_ptr<Session>> second = open(rest, log);
    ASSERT_TRUE(second.ok()) << second.message();
    EXPECT_EQ((*second)->nextStep(), stop);
    while ((*second)->nextStep() < 7) {
      ASSERT_TRUE((*second)->step().ok());
    }
    EXPECT_EQ(bits(**second), bits(**whole)) << "stopped after " << stop;
    if (stop < 7) {
      EXPECT_EQ((*second)->loss(), (*whole)->loss());
    }
  }
}

/// Steps `from` to `to` of the toy plan, and the bits that they end with.
std::string train(schedule::ScheduleT plan, const SessionOptions &options,
                  FakeLog &log, uint64_t to, const std::string &save = "") {
  Result<std::unique_ptr<Session>> session =
      Session::create(std::move(plan), createFakeDevice(log), options);
  EXPECT_TRUE(session.ok()) << session.message();
  (*session)->setTotalSteps(7);
  while ((*session)->nextStep() < to) {
    Status status = (*session)->step();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  if (!save.empty()) {
    EXPECT_TRUE((*session)->save(save).ok());
  }
  return bits(**session);
}

// Over the ends of passes, stopped after every step and resumed, replayed,
// watched, and with the staging buffer poisoned where nothing should be read.
TEST(Session, StagedInputsGiveTheSameBits) {
  SessionOptions options;
  options.data["x"] = samples(12);
  options.shuffle = 3;
  options.rate = cosine();
  FakeLog log;
  std::string expected = train(makeToyPlan(), options, log, 7);
  log.captures = true;
  EXPECT_EQ(train(makeStagedToyPlan(), options, log, 7), expected);
  std::string path = testing::TempDir() + "staged.safetensors";
  for (uint64_t stop = 0; stop <= 7; ++stop) {
    train(makeStagedToyPlan(), options, log, stop, path);
    SessionOptions rest;
    rest.data = options.data;
    rest.resume = path;
    EXPECT_EQ(train(makeStagedToyPlan(), rest, log, 7), expected) << stop;
    EXPECT_EQ(train(makeToyPlan(), rest, log, 7), expected) << stop;
  }
  options.poison = true;
  options.verifyCopies = true;
  options.trace = true;
  EXPECT_EQ(train(makeStagedToyPlan(), options, log, 7), expected);
}

TEST(Session, AStepsTimeIsTheDevicesWithoutTheFillOfStagedInputs) {
  for (bool captures : {false, true}) {
    FakeLog log;
    log.captures = captures;
    log.hostNs = 1000000;
    SessionOptions options;
    options.data["x"] = samples(12);
    Result<std::unique_ptr<Session>> session =
        Session::create(makeStagedToyPlan(), createFakeDevice(log), options);
    ASSERT_TRUE(session.ok()) << session.message();
    for (int step = 0; step < 4; ++step) {
      ASSERT_TRUE((*session)->step().ok());
      EXPECT_GT((*session)->stepNs(), 0);
      EXPECT_LT((*session)->stepNs(), 1000000);
    }
  }
}

TEST(Session, AStagedInputThatIsWrittenStaysUntilItIsWrittenAgain) {
  std::string ends[2];
  for (bool staged : {false, true}) {
    FakeLog log;
    Result<std::unique_ptr<Session>> session =
        Session::create(staged ? makeStagedToyPlan() : makeToyPlan(),
                        createFakeDevice(log), {});
    ASSERT_TRUE(session.ok()) << session.message();
    // Never written: what the host arena begins with.
    ASSERT_TRUE((*session)->stepWithoutData().ok());
    for (float value : {1.f, 2.f}) {
      std::vector<float> x(4, value);
      HostTensor tensor{"x",
                        schedule::ElementType::F32,
                        {4},
                        std::as_bytes(std::span(x)),
                        nullptr};
      ASSERT_TRUE((*session)->executor().write(0, tensor).ok());
      ASSERT_TRUE((*session)->stepWithoutData().ok());
      ASSERT_TRUE((*session)->stepWithoutData().ok());
    }
    // And data of the session's own take over again.
    ASSERT_TRUE((*session)->step().ok());
    ASSERT_TRUE((*session)->step().ok());
    ends[staged] = bits(**session);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(Session, ResumeRefusesOtherDataAndPlainWeights) {
  FakeLog log;
  SessionOptions options;
  options.data["x"] = samples(12);
  Result<std::unique_ptr<Session>> session = open(options, log);
  ASSERT_TRUE((*session)->step().ok());
  std::string path = testing::TempDir() + "other.safetensors";
  ASSERT_TRUE((*session)->save(path).ok());

  options.resume = path;
  options.data["x"] = samples(16);
  Result<std::unique_ptr<Session>> other = open(options, log);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.message().find("12 samples"), std::string::npos)
      << other.message();

  Result<Safetensors> file = Safetensors::read(path);
  ASSERT_TRUE(file.ok());
  std::string plain = testing::TempDir() + "plain.safetensors";
  ASSERT_TRUE(
      writeSafetensors(plain, std::vector<HostTensor>{*file->find("w")}, {})
          .ok());
  options.data["x"] = samples(12);
  options.resume = plain;
  Result<std::unique_ptr<Session>> refused = open(options, log);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("--weights"), std::string::npos)
      << refused.message();
  options.resume.clear();
  options.weights = plain;
  EXPECT_TRUE(open(options, log).ok());
}

TEST(Session, ResumeRefusesACheckpointThatLacksATensor) {
  std::string path = testing::TempDir() + "lacks.safetensors";
  RunState state;
  state.samples = state.batch = 4;
  ASSERT_TRUE(writeSafetensors(path, {}, toMetadata(state)).ok());
  FakeLog log;
  SessionOptions options;
  options.resume = path;
  Result<std::unique_ptr<Session>> session = open(options, log);
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.message().find("lacks 'w'"), std::string::npos)
      << session.message();
}

// The host knows the step's own scalars when it begins, not a step before.
TEST(Session, RefusesStagedScalars) {
  FakeLog log;
  schedule::ScheduleT plan = makeStagedToyPlan();
  for (const auto &tensor : plan.tensors) {
    if (tensor->staging >= 0) {
      tensor->name = "vdnn.step";
    }
  }
  Result<std::unique_ptr<Session>> session =
      Session::create(std::move(plan), createFakeDevice(log), {});
  ASSERT_TRUE(session.ok()) << session.message();
  Status status = (*session)->step();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("input 'vdnn.step' is staged"),
            std::string::npos)
      << status.message();
}

// A checkpoint leaves out what follows from another tensor; who resumes has it
// again.
TEST(Session, CheckpointsLeaveOutConvertedStates) {
  FakeLog log;
  SessionOptions options;
  options.data["x"] = samples(12);
  options.seed = 5;
  auto open = [&] {
    schedule::ScheduleT plan = makeToyPlan();
    addConverted(plan, "w.bf16", 2);
    return Session::create(std::move(plan), createFakeDevice(log), options);
  };
  Result<std::unique_ptr<Session>> first = open();
  ASSERT_TRUE(first.ok()) << first.message();
  ASSERT_TRUE((*first)->step().ok());
  std::string path = testing::TempDir() + "derived.safetensors";
  ASSERT_TRUE((*first)->save(path).ok());
  Result<Safetensors> file = Safetensors::read(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->find("w"));
  EXPECT_FALSE(file->find("w.bf16"));
  Executor &trained = (*first)->executor();
  Result<HostTensor> left = trained.read(*trained.find("w.bf16"));
  options.resume = path;
  Result<std::unique_ptr<Session>> second = open();
  ASSERT_TRUE(second.ok()) << second.message();
  Executor &executor = (*second)->executor();
  std::vector<double> copy =
      toDoubles(*executor.read(*executor.find("w.bf16")), 0, 4);
  EXPECT_EQ(copy, toDoubles(*left, 0, 4));
  std::vector<double> saved = toDoubles(*file->find("w"), 0, 4);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(copy[i],
              bfloatToFloat(floatToBfloat(static_cast<float>(saved[i]))));
  }
}

TEST(Session, WeightsComeFromTheUserThenFromBesideThePlan) {
  auto write = [](const std::string &name, float value) {
    std::string path = testing::TempDir() + name;
    std::vector<std::byte> bytes(16);
    for (int i = 0; i < 4; ++i) {
      std::memcpy(bytes.data() + 4 * i, &value, 4);
    }
    std::vector<HostTensor> tensors = {
        makeHostTensor("w", schedule::ElementType::F32, {4}, bytes)};
    EXPECT_TRUE(writeSafetensors(path, tensors, {}).ok());
    return path;
  };
  FakeLog log;
  SessionOptions options;
  options.planWeights = write("plan.safetensors", 1);
  auto first = [&] {
    Result<std::unique_ptr<Session>> session = open(options, log);
    return toDoubles((*session->get()->persistent())[0], 0, 1)[0];
  };
  EXPECT_EQ(first(), 1);
  options.weights = write("user.safetensors", 2);
  EXPECT_EQ(first(), 2);
}

TEST(Session, CapturesGradients) {
  FakeLog log;
  SessionOptions options;
  options.captureGradients = true;
  Result<std::unique_ptr<Session>> session = open(options, log);
  ASSERT_TRUE((*session)->step().ok());
  EXPECT_EQ((*session)->gradients().size(), 1u);
}

TEST(RunState, SurvivesItsMetadata) {
  RunState state;
  state.step = 123456789012;
  state.seed = UINT64_MAX;
  state.shuffle = 7;
  state.samples = 1797;
  state.batch = 64;
  state.rate = cosine();
  state.rate.base = 0.1;
  state.rate.total = 99;
  Result<RunState> back = fromMetadata(toMetadata(state));
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(toMetadata(*back), toMetadata(state));
  EXPECT_EQ(back->rate.base, 0.1);
  std::map<std::string, std::string> broken = toMetadata(state);
  broken["vdnn.step"] = "12x";
  EXPECT_FALSE(fromMetadata(broken).ok());
  EXPECT_FALSE(fromMetadata({}).ok());
}

} // namespace
