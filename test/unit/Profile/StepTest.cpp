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
  std::vector<int64_t> stepNs(kStepsForKernels / 2,
                              kSettlingNs / (kStepsForKernels / 2));
  stepNs.insert(stepNs.end(), {200, 900, 200, 200, 200, 300, 200});
  MeasuredStep early = measuredStep(plan, trace, stepNs);
  EXPECT_EQ(early.kernelNs, 0);
  EXPECT_EQ(early.unknown, "15 steps were run, and at least 16 are needed");
  EXPECT_EQ(early.toHostRate, 7e9);
  EXPECT_EQ(early.toDeviceRate, 0);

  stepNs.push_back(200);
  MeasuredStep step = measuredStep(plan, trace, stepNs);
  EXPECT_EQ(step.unknown, "");
  EXPECT_EQ(step.kernelNs, 190);
  ASSERT_EQ(step.launches.size(), 2u);
  EXPECT_EQ(step.launches[0].signature, slow);
  EXPECT_EQ(step.launches[1].signature, add);
  EXPECT_EQ(step.launches[1].algorithm, "5000");

  --stepNs[0];
  EXPECT_EQ(measuredStep(plan, trace, stepNs).unknown,
            "the first half of the steps takes 500 ms, and a GPU needs 500 ms "
            "to settle: run more steps");
  ++stepNs[0];
  trace.toDevice.hiddenNs = 94;
  MeasuredStep waiting = measuredStep(plan, trace, stepNs);
  EXPECT_EQ(waiting.kernelNs, 0);
  EXPECT_EQ(
      waiting.unknown,
      "copies that no kernel hides take 11 ns of a step of 200 ns, and at "
      "most a twentieth may");
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

/// Why a step leaves the times of kernels as they are. Its rates are known.
static std::string unknownOf(Profile profile, MeasuredStep step) {
  step.toHostRate = 7e9;
  Result<RefinedProfile> refined =
      withStep(toJson(profile, "clock"), "clock 1", step);
  if (!refined) {
    return refined.message();
  }
  EXPECT_EQ(refined->slowdown, 0);
  profile.link.toHostUnderCompute = 7e9;
  EXPECT_EQ(refined->text, toJson(profile, "clock"));
  return refined->unknown;
}

TEST(Step, LeavesKernelsWhoseTimeIsNotKnown) {
  MeasuredStep step = makeStep(0);
  step.unknown = "of this";
  EXPECT_EQ(unknownOf(makeProfile(), step), "of this");
  for (const StepLaunch &lacking :
       {StepLaunch{add, "1"}, StepLaunch{"new", "5000"}}) {
    step = makeStep(6'014'000);
    step.launches[1] = lacking;
    EXPECT_EQ(unknownOf(makeProfile(), step)
                  .rfind("the profile lacks '" + lacking.signature + "' by '" +
                             lacking.algorithm + "'",
                         0),
              0u);
  }
}

TEST(Step, LeavesKernelsWhereTimesAreNotPlausible) {
  auto starts = [](const std::string &text, const std::string &with) {
    EXPECT_EQ(text.substr(0, with.size()), with);
  };
  starts(unknownOf(makeProfile(), makeStep(13'000'000)),
         "a step takes 4.32 times what they take alone");
  starts(unknownOf(makeProfile(), makeStep(1'500'000)),
         "a step takes 0.499 times what they take alone");
  Profile edited = makeProfile();
  edited.kernels[slow][0].aloneNs = edited.kernels[slow][0].timeNs =
      static_cast<int64_t>(kMaxCount);
  starts(unknownOf(edited, makeStep(6'014'000)), "a step takes 5.47e-06 times");
  MeasuredStep quick = makeStep(10'000);
  quick.launches.erase(quick.launches.begin());
  starts(unknownOf(makeProfile(), quick),
         "alone its kernels take 3.5 us on average, and those below 10 us wait "
         "for the host");
  MeasuredStep empty;
  empty.kernelNs = 5;
  starts(unknownOf(makeProfile(), empty), "alone its kernels take 0 ns");
}

TEST(Step, LeavesWaysThatTakeNoTimeAlone) {
  Profile profile = makeProfile();
  profile.kernels[add][0].aloneNs = 0;
  Result<RefinedProfile> refined =
      withStep(toJson(profile, "clock"), "clock 1", makeStep(6'010'000));
  ASSERT_TRUE(refined.ok()) << refined.message();
  EXPECT_DOUBLE_EQ(refined->slowdown, 2);
  Result<Profile> read = parseProfile(refined->text);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->kernels[add][0].timeNs, 2000);
  EXPECT_EQ(read->kernels[add][1].timeNs, 10000);
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
