//===- StepTest.cpp - what whole steps tell a profile ---------------------===//

#include "ClockDevice.h"

#include "runtime/profile/Step.h"

namespace vdnn::rt::test {

static const std::string add = "add: F32[4] -> F32[4]";
static const std::string slow = "long: F32[4] -> F32[4]";

static Profile makeProfile() {
  Profile profile;
  profile.kind = "clock";
  profile.fingerprint = "clock 1";
  profile.properties = "{}";
  profile.link.toHost = profile.link.toDevice = 10e9;
  for (const auto &[signature, algorithm, ns] :
       {std::tuple(add, "2000", 2000), std::tuple(add, "5000", 5000),
        std::tuple(slow, "3000001", 3000000),
        std::tuple(std::string("other"), "1", 7000)}) {
    MeasuredKernel &way = profile.kernels[signature].emplace_back();
    way.candidate.algorithm = algorithm;
    setTime(way, ns);
  }
  return profile;
}

static MeasuredStep makeStep(int64_t kernelNs) {
  MeasuredStep step;
  step.kernelNs = kernelNs;
  step.launches = {{slow, "3000001"}, {add, "5000"}, {add, "2000"}};
  return step;
}

TEST(Step, KernelsTakeTheMedianOfTheLastHalf) {
  schedule::ScheduleT plan = makePlan({"long", "add"});
  plan.kernels[1]->algorithm = "5000";
  TraceSummary trace;
  trace.toHostRate = 7e9;
  trace.toHost = {.copyNs = 500, .hiddenNs = 495};
  trace.toDevice = {.copyNs = 100, .hiddenNs = 95};
  std::vector<int64_t> stepNs(kStepsForKernels / 2, 9'000'000);
  stepNs.insert(stepNs.end(), {200, 900, 200, 200, 200, 300, 200});
  MeasuredStep early = measuredStep(plan, trace, stepNs);
  EXPECT_EQ(early.kernelNs, 0) << "the tracer slowed most of these steps down";
  EXPECT_TRUE(early.launches.empty());
  EXPECT_EQ(early.toHostRate, 7e9);
  EXPECT_EQ(early.toDeviceRate, 0);
  EXPECT_FALSE(early.tellsNothing());

  stepNs.push_back(200);
  MeasuredStep step = measuredStep(plan, trace, stepNs);
  EXPECT_EQ(step.kernelNs, 190);
  EXPECT_EQ(step.exposedNs, 10);
  ASSERT_EQ(step.launches.size(), 2u);
  EXPECT_EQ(step.launches[0].signature, slow);
  EXPECT_EQ(step.launches[1].signature, add);
  EXPECT_EQ(step.launches[1].algorithm, "5000");

  trace.toDevice.hiddenNs = 94;
  trace.toHostRate = 0;
  MeasuredStep waiting = measuredStep(plan, trace, stepNs);
  EXPECT_EQ(waiting.kernelNs, 0) << "the kernels may have waited for copies";
  EXPECT_EQ(waiting.exposedNs, 11);
  EXPECT_TRUE(waiting.tellsNothing());
}

TEST(Step, SlowsDownAllWaysOfThePlansKernels) {
  std::string text = toJson(makeProfile(), "clock");
  for (int time = 0; time < 2; ++time) {
    Result<RefinedProfile> refined =
        withStep(text, "clock 1", makeStep(6'014'000));
    ASSERT_TRUE(refined.ok()) << refined.message();
    EXPECT_DOUBLE_EQ(refined->slowdown, 2) << "by what each takes alone";
    text = refined->text;
    Result<Profile> profile = parseProfile(text);
    ASSERT_TRUE(profile.ok()) << profile.message();
    for (const auto &[signature, ways] : profile->kernels) {
      for (const MeasuredKernel &way : ways) {
        EXPECT_EQ(way.timeNs, (signature == "other" ? 1 : 2) * way.aloneNs);
      }
    }
    EXPECT_EQ(profile->kernels[add][1].aloneNs, 5000);
    EXPECT_EQ(profile->link.toHostUnderCompute, 0);
  }
}

TEST(Step, LeavesKernelsWhoseTimeIsNotKnown) {
  Profile profile = makeProfile();
  std::string text = toJson(profile, "clock");
  Result<RefinedProfile> refined = withStep(text, "clock 1", {});
  ASSERT_TRUE(refined.ok()) << refined.message();
  EXPECT_EQ(refined->slowdown, 0);
  EXPECT_EQ(refined->text, text);

  // Somebody edited it.
  for (auto &[signature, ways] : profile.kernels) {
    for (MeasuredKernel &way : ways) {
      way.aloneNs = 0;
    }
  }
  text = toJson(profile, "clock");
  refined = withStep(text, "clock 1", makeStep(1000));
  ASSERT_TRUE(refined.ok()) << refined.message();
  EXPECT_EQ(refined->text, text);
}

TEST(Step, RefusesAProfileThatDoesNotHoldThePlansKernels) {
  MeasuredStep step = makeStep(1000);
  for (const StepLaunch &unknown :
       {StepLaunch{add, "1"}, StepLaunch{"new", "5000"}}) {
    step.launches[1] = unknown;
    Result<RefinedProfile> refined =
        withStep(toJson(makeProfile(), "clock"), "clock 1", step);
    ASSERT_FALSE(refined.ok());
    EXPECT_NE(refined.message().find("it lacks '" + unknown.signature +
                                     "' by '" + unknown.algorithm + "'"),
              std::string::npos)
        << refined.message();
  }
}

TEST(Step, RefusesTheProfileOfAnotherDevice) {
  Result<RefinedProfile> refined =
      withStep(toJson(makeProfile(), "clock"), "clock 2", {});
  ASSERT_FALSE(refined.ok());
  EXPECT_NE(refined.message().find("made with 'clock 1', but this run is on "
                                   "'clock 2'"),
            std::string::npos)
      << refined.message();
}

} // namespace vdnn::rt::test
