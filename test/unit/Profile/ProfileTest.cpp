//===- ProfileTest.cpp - measuring on a device with a known clock ---------===//

#include "ClockDevice.h"

namespace vdnn::rt::test {

TEST(Profile, HoldsEveryWayToRunEveryKernel) {
  Log log;
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  std::vector<std::string> progress, refused;
  options.progress = [&](size_t done, size_t all, const std::string &text) {
    progress.push_back(std::to_string(done) + "/" + std::to_string(all) + " " +
                       text);
  };
  options.refused = [&](const std::string &text, const std::string &algorithm,
                        const std::string &why) {
    refused.push_back(text + " " + algorithm + " " + why);
  };
  Result<Profile> profile = measureProfile(makePlan({"add", "sum", "add"}),
                                           ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(profile->kind, "clock");
  EXPECT_EQ(profile->fingerprint, "clock 1");
  EXPECT_EQ(profile->properties, R"({"clock":true})");
  EXPECT_EQ(profile->memoryBytes, 8 * kGiB);
  EXPECT_EQ(profile->overheadBytes, 12345u);

  const std::string add = "add: F32[4] -> F32[4]";
  const std::string sum = "sum: F32[4] -> F32[4]";
  EXPECT_EQ(progress, (std::vector<std::string>{"1/2 " + add, "2/2 " + sum}));
  EXPECT_EQ(refused,
            (std::vector<std::string>{add + " unsupported no such engine"}));
  EXPECT_EQ(log.prepared, (std::vector<std::string>{"add 5000", "add 2000",
                                                    "add 90000", "sum 700"}));
  ASSERT_EQ(profile->kernels.size(), 2u);
  ASSERT_EQ(profile->kernels.at(sum).size(), 1u);
  EXPECT_EQ(profile->kernels.at(sum)[0].timeNs, 700);
  const std::vector<MeasuredKernel> &ways = profile->kernels.at(add);
  ASSERT_EQ(ways.size(), 3u);
  for (size_t i = 0; i < ways.size(); ++i) {
    EXPECT_EQ(ways[i].timeNs, std::stoll(ways[i].candidate.algorithm));
    EXPECT_EQ(ways[i].spread, 0);
    EXPECT_TRUE(i == 0 || ways[i - 1].timeNs < ways[i].timeNs);
  }
  EXPECT_TRUE(ways[0].candidate.reducedPrecision);
  EXPECT_EQ(ways[0].candidate.workspaceBytes, 2048u) << "what the device says";
  // One look at what is far behind; five rounds of 200 and two looks else.
  EXPECT_EQ(log.launches.at("90000"), 2);
  EXPECT_EQ(log.launches.at("700"), 2 + 5 * 200);
}

static std::string waysOfAdd(const Profile &profile) {
  return algorithms(profile.kernels.at("add: F32[4] -> F32[4]"));
}

TEST(Profile, LeavesOutWaysThatComputeSomethingElse) {
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  std::vector<std::string> refused;
  options.refused = [&](const std::string &, const std::string &algorithm,
                        const std::string &why) {
    refused.push_back(algorithm + " " + why);
  };
  const std::string why =
      " on the same operands it computes other values than other ways";
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  // Twice as much, the opposite, nothing at all.
  for (float scale : {2.0f, -1.0f, 0.0f, kNaN}) {
    Log log;
    log.scales["2000"] = scale;
    refused.clear();
    Result<Profile> profile =
        measureProfile(makePlan({"add"}), ClockPlugin(log), options);
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(waysOfAdd(*profile), "5000 90000 ") << scale;
    EXPECT_EQ(refused.back(), "2000" + why) << scale;
  }
  Log idle;
  idle.writesNothing = {"90000"};
  Result<Profile> profile =
      measureProfile(makePlan({"add"}), ClockPlugin(idle), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(waysOfAdd(*profile), "2000 5000 ");

  // Rounding is none of that, nor are numbers that no way can compute.
  Log rounding, all;
  rounding.scales["2000"] = 1.01f;
  all.scales = {{"2000", kNaN}, {"5000", kNaN}, {"90000", kNaN}};
  for (Log *log : {&rounding, &all}) {
    profile = measureProfile(makePlan({"add"}), ClockPlugin(*log), options);
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(waysOfAdd(*profile), "2000 5000 90000 ");
  }
}

TEST(Profile, UpdateComparesWithWhatItKeeps) {
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  Log log;
  Result<Profile> known =
      measureProfile(makePlan({"add"}), ClockPlugin(log), options);
  ASSERT_TRUE(known.ok()) << known.message();
  std::vector<MeasuredKernel> &ways = known->kernels["add: F32[4] -> F32[4]"];
  ways.resize(1);
  options.known = &*known;
  Log wrong;
  wrong.scales = {{"5000", 2.0f}, {"90000", 2.0f}};
  Result<Profile> profile =
      measureProfile(makePlan({"add"}), ClockPlugin(wrong), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(waysOfAdd(*profile), "2000 ") << "not the most, but known";
  // What is known and does not run any more tells nothing.
  ways[0].candidate.algorithm = "unsupported";
  profile = measureProfile(makePlan({"add"}), ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_NE(waysOfAdd(*profile).find("2000 5000 90000"), std::string::npos);
}

// ClockDevice checks where they lie.
TEST(Profile, OperandsOfAllKernelsHaveTheirOwnBytes) {
  using schedule::ElementType;
  schedule::ScheduleT plan = makePlan({"long", "add", "sum", "atomic"});
  auto addType = [&](ElementType element, int64_t size) {
    plan.types.push_back(std::make_unique<schedule::TypeT>());
    plan.types.back()->element = element;
    plan.types.back()->shape = {size};
    return static_cast<uint32_t>(plan.types.size() - 1);
  };
  uint32_t floats = addType(ElementType::F32, 1000),
           labels = addType(ElementType::I64, 77),
           mask = addType(ElementType::Bool, 3000);
  auto command = [&](size_t launch) { return plan.commands[2 * launch].get(); };
  // Integers before floats, integers alone, nothing, more than one to write.
  command(0)->reads = {{0, labels}, {0, floats}, {0, mask}, {0, 0}};
  command(1)->reads = {{0, mask}};
  command(1)->writes = {{0, floats}, {0, mask}};
  command(2)->reads = {};
  command(2)->writes = {{0, labels}, {0, 0}};
  for (bool onlyIntegers : {false, true}) {
    Log log;
    if (onlyIntegers) {
      plan.commands.clear();
      plan.commands.push_back(std::make_unique<schedule::CommandT>());
      plan.commands[0]->kernel = 0;
      plan.commands[0]->reads = {{0, labels}, {0, mask}};
      plan.commands[0]->writes = {{0, 0}};
    }
    Result<Profile> profile = measureProfile(plan, ClockPlugin(log), {});
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(profile->kernels.size(), onlyIntegers ? 1u : 4u);
  }
}

TEST(Profile, MeasuresTheLink) {
  Log log;
  Result<Profile> profile =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), {});
  ASSERT_TRUE(profile.ok()) << profile.message();
  ASSERT_EQ(profile->link.copies.size(), 5u);
  for (const MeasuredCopy &copy : profile->link.copies) {
    EXPECT_EQ(copy.toHostNs, 1000 + static_cast<int64_t>(copy.bytes / 10));
    EXPECT_EQ(copy.toDeviceNs, 1000 + static_cast<int64_t>(copy.bytes / 20));
  }
  EXPECT_NE(toJson(*profile, "clock").find(R"("to_host_ns": 1409,)"),
            std::string::npos);
  // The smallest copy to the device: 1409 and 205 ns by the model, not 1204.
  EXPECT_NEAR(profile->link.largestError(), 410.0 / 1204, 1e-3);
  // 4096 bytes to the host: 1000 and 409 ns.
  EXPECT_EQ(profile->link.latencyNs, 1409);
  EXPECT_NEAR(profile->link.toHost, 10e9, 1e6);
  EXPECT_NEAR(profile->link.toDevice, 20e9, 2e6);
  EXPECT_NEAR(profile->link.duplexFactor, 0.5, 1e-3);
}

TEST(Profile, MeasuresTheLinkUnderTheSlowestKernels) {
  Log log;
  Result<Profile> profile =
      measureProfile(makePlan({"long", "sum"}), ClockPlugin(log), {});
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_NEAR(profile->link.toHost, 10e9, 1e6);
  EXPECT_NEAR(profile->link.toDevice, 20e9, 2e6);
  EXPECT_NEAR(profile->link.toHostUnderCompute, 8e9, 1e8);
  EXPECT_NEAR(profile->link.toDeviceUnderCompute, 16e9, 2e8);
}

TEST(Profile, LeavesOutTheLinkUnderShortKernels) {
  for (const std::vector<std::string> &kinds :
       {std::vector<std::string>(), std::vector<std::string>{"sum"}}) {
    Log log;
    Result<Profile> profile =
        measureProfile(makePlan(kinds), ClockPlugin(log), {});
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(log.prepared.size(), kinds.size());
    EXPECT_NEAR(profile->link.toHost, 10e9, 1e6);
    EXPECT_EQ(profile->link.toHostUnderCompute, 0);
    EXPECT_EQ(profile->link.toDeviceUnderCompute, 0);
    EXPECT_EQ(toJson(*profile, "clock").find("under_compute"),
              std::string::npos);
  }
}

TEST(Profile, LeavesOutTheLinkWhereTheHostDoesNotQueueInTime) {
  Log log;
  Result<Profile> known =
      measureProfile(makePlan({"long"}), ClockPlugin(log), {});
  ASSERT_TRUE(known.ok()) << known.message();
  known->link.toHostUnderCompute = 0;
  ProfileOptions options;
  options.known = &*known;
  log.hostNsPerLaunch = 30'000'000;
  Result<Profile> profile =
      measureProfile(makePlan({"long"}), ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(profile->link.toHostUnderCompute, 0);
}

TEST(Profile, WaitsForCallbacksWhereTheDeviceFails) {
  int64_t launches = 0;
  std::set<std::string> messages;
  for (bool ok = false; !ok; ++launches) {
    Log log;
    log.launchesLeft = launches;
    Result<Profile> profile =
        measureProfile(makePlan({"long"}), ClockPlugin(log), {});
    ok = profile.ok() && log.launchesLeft > 0;
    messages.insert(profile.ok() ? "" : profile.message());
  }
  EXPECT_GT(launches, 300);
  EXPECT_TRUE(messages.contains("the device is broken"));
}

TEST(Profile, SaysWhatCannotRun) {
  Log log;
  Result<Profile> unknown =
      measureProfile(makePlan({"sum", "unknown"}), ClockPlugin(log), {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.message(), "there is no kernel 'unknown'");

  Result<Profile> large =
      measureProfile(makePlan({"large"}), ClockPlugin(log), {});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.message(),
            "every way to run 'large: F32[4] -> F32[4]' needs more workspace "
            "than may be measured; raise --max-workspace");

  log.failsAll = true;
  Result<Profile> refused =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.message(),
            "no way to run 'sum: F32[4] -> F32[4]' on this device");
}

} // namespace vdnn::rt::test
