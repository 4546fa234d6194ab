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

/// The ways of "add" that a profile has, the fastest first.
static std::string waysOfAdd(const Profile &profile) {
  std::string text;
  for (const MeasuredKernel &way :
       profile.kernels.at("add: F32[4] -> F32[4]")) {
    text += way.candidate.algorithm + " ";
  }
  return text;
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

TEST(Profile, TimesAreThoseOfKernelsBehindOneAnother) {
  const std::string add = "add: F32[4] -> F32[4]";
  const std::string slow = "long: F32[4] -> F32[4]";
  Log log;
  log.nsPerChange = 300'000;
  Result<Profile> first =
      measureProfile(makePlan({"long", "add", "long"}), ClockPlugin(log), {});
  ASSERT_TRUE(first.ok()) << first.message();
  EXPECT_NEAR(first->slowdown, 1 + 2 * 0.3 / 6.002, 1e-3);
  for (const auto &[signature, ways] : first->kernels) {
    for (const MeasuredKernel &way : ways) {
      EXPECT_EQ(way.aloneNs, std::stoll(way.candidate.algorithm));
      EXPECT_NEAR(double(way.timeNs), double(way.aloneNs) * first->slowdown, 1);
    }
  }

  // An update starts from what each takes alone: nothing adds up.
  Result<Profile> known = parseProfile(toJson(*first, "clock"));
  ASSERT_TRUE(known.ok()) << known.message();
  EXPECT_EQ(known->kernels[slow][0].timeNs, first->kernels[slow][0].timeNs);
  EXPECT_EQ(known->kernels[slow][0].aloneNs, 3000001);
  ProfileOptions options;
  options.known = &*known;
  log.nsPerChange = 0;
  Result<Profile> second =
      measureProfile(makePlan({"long"}), ClockPlugin(log), options);
  ASSERT_TRUE(second.ok()) << second.message();
  EXPECT_EQ(second->slowdown, 1);
  EXPECT_EQ(second->kernels[slow][0].timeNs, 3000001);
  EXPECT_EQ(second->kernels[add][0].timeNs, first->kernels[add][0].timeNs)
      << "not of this plan";

  // A host that is late would be measured, not the device.
  log.nsPerChange = 300'000;
  log.hostNsPerLaunch = 30'000'000;
  Result<Profile> late =
      measureProfile(makePlan({"long", "add"}), ClockPlugin(log), options);
  ASSERT_TRUE(late.ok()) << late.message();
  EXPECT_EQ(late->slowdown, 0) << "not known";
  EXPECT_EQ(late->kernels[slow][0].timeNs, 3000001);
}

// A profile that somebody edited may hold any number.
TEST(Profile, UpdateTakesAnyTimes) {
  Log log;
  log.nsPerChange = 300'000;
  std::vector<std::string> kinds = {"long", "add", "sum"};
  Result<Profile> known = measureProfile(makePlan(kinds), ClockPlugin(log), {});
  ASSERT_TRUE(known.ok()) << known.message();
  ProfileOptions options;
  options.known = &*known;
  auto update = [&](int64_t slow, int64_t others) {
    for (auto &[signature, ways] : known->kernels) {
      for (MeasuredKernel &way : ways) {
        setTime(way, signature.starts_with("long") ? slow : others);
      }
    }
    Result<Profile> profile =
        measureProfile(makePlan(kinds), ClockPlugin(log), options);
    ASSERT_TRUE(profile.ok()) << profile.message();
    Result<Profile> read = parseProfile(toJson(*profile, "clock"));
    EXPECT_TRUE(read.ok()) << read.message();
  };
  update(0, 0);
  update(30'000, 0);
  // The others' ways that are not launched get the same factor.
  kinds.insert(kinds.end(), 2, "long");
  update(30'000, static_cast<int64_t>(kMaxCount));
}

TEST(Profile, UpdateComparesWhatWaysTakeAlone) {
  const std::string add = "add: F32[4] -> F32[4]";
  Log log;
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  Result<Profile> known =
      measureProfile(makePlan({"long", "add"}), ClockPlugin(log), options);
  ASSERT_TRUE(known.ok()) << known.message();
  std::vector<MeasuredKernel> &ways = known->kernels[add];
  ASSERT_EQ(ways[0].candidate.algorithm, "2000");
  ways.resize(1);
  ways[0].timeNs = 6000; // In a step that slowed it down.
  options.known = &*known;
  Result<Profile> profile =
      measureProfile(makePlan({"long", "add"}), ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(log.prepared.back(), "add 2000") << "the fastest";
  std::vector<int64_t> times;
  for (const MeasuredKernel &way : profile->kernels[add]) {
    times.push_back(way.timeNs);
  }
  EXPECT_EQ(times, (std::vector<int64_t>{2000, 5000, 90000}));
}

TEST(Profile, MeasuresThePlansOwnWaysBehindOneAnother) {
  Log log;
  schedule::ScheduleT plan = makePlan({"long", "add", "add", "add"});
  plan.kernels[1]->algorithm = "90000";
  plan.kernels[2]->algorithm = "5000";
  plan.kernels[3]->algorithm = "90000";
  Result<Profile> profile = measureProfile(plan, ClockPlugin(log), {});
  ASSERT_TRUE(profile.ok()) << profile.message();
  ASSERT_GE(log.prepared.size(), 3u);
  EXPECT_EQ(std::vector(log.prepared.end() - 3, log.prepared.end()),
            (std::vector<std::string>{"long 3000001", "add 90000", "add 5000"}))
      << "each way once";
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

TEST(Profile, UpdateMeasuresOnlyWhatIsMissing) {
  Log log;
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  Result<Profile> first =
      measureProfile(makePlan({"long", "add"}), ClockPlugin(log), options);
  ASSERT_TRUE(first.ok()) << first.message();
  const std::string add = "add: F32[4] -> F32[4]";
  const std::string sum = "sum: F32[4] -> F32[4]";
  Result<Profile> known = parseProfile(toJson(*first, "clock"));
  ASSERT_TRUE(known.ok()) << known.message();
  setTime(known->kernels[add][1], 5001); // What no measurement gives.
  known->kernels["other"] = known->kernels[add];

  Log again;
  again.usedBytes = 10; // Fewer kernels have run.
  options.known = &*known;
  std::vector<std::string> progress;
  options.progress = [&](size_t done, size_t all, const std::string &text) {
    progress.push_back(std::to_string(done) + "/" + std::to_string(all) + " " +
                       text);
  };
  Result<Profile> profile = measureProfile(makePlan({"add", "sum", "long"}),
                                           ClockPlugin(again), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  // What the device refuses is tried again.
  EXPECT_EQ(progress, (std::vector<std::string>{"1/2 " + add, "2/2 " + sum}));
  // Behind one another, and beside copies, kernels run that are kept.
  EXPECT_EQ(again.prepared,
            (std::vector<std::string>{"sum 700", "add 2000", "sum 700",
                                      "long 3000001"}));
  EXPECT_NEAR(profile->link.toHostUnderCompute, 8e9, 1e8);
  EXPECT_EQ(profile->kernels.size(), 4u);
  EXPECT_EQ(profile->kernels.at(sum)[0].timeNs, 700);
  for (const std::string &kept : {add, std::string("other")}) {
    const std::vector<MeasuredKernel> &ways = profile->kernels.at(kept);
    ASSERT_EQ(ways.size(), 3u);
    EXPECT_EQ(ways[0].candidate.algorithm, "2000");
    EXPECT_EQ(ways[0].candidate.workspaceBytes, 2048u);
    EXPECT_TRUE(ways[0].candidate.reducedPrecision);
    EXPECT_EQ(ways[1].timeNs, 5001);
    EXPECT_FALSE(ways[1].candidate.reducedPrecision);
  }
  EXPECT_EQ(profile->overheadBytes, 12345u) << "of all kernels";
}

TEST(Profile, UpdateFollowsWhatTheBackendOffers) {
  const std::string add = "add: F32[4] -> F32[4]";
  const std::string sum = "sum: F32[4] -> F32[4]";
  Log log;
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  Result<Profile> known =
      measureProfile(makePlan({"add"}), ClockPlugin(log), options);
  ASSERT_TRUE(known.ok()) << known.message();
  auto algorithms = [](const std::vector<MeasuredKernel> &ways) {
    std::string text;
    for (const MeasuredKernel &way : ways) {
      text += way.candidate.algorithm + " ";
    }
    return text;
  };
  std::vector<MeasuredKernel> &ways = known->kernels[add];
  ASSERT_EQ(algorithms(ways), "2000 5000 90000 ");
  MeasuredKernel gone{{.algorithm = "gone"}, 3};
  known->kernels["other"] = {gone};
  known->kernels[sum] = {gone};
  ways.erase(ways.begin() + 1);
  setTime(ways[1], 90001); // What no measurement gives.
  ways.insert(ways.begin(), gone);

  Log again;
  options.known = &*known;
  std::vector<std::string> refused;
  options.refused = [&](const std::string &text, const std::string &algorithm,
                        const std::string &why) {
    refused.push_back(text + " " + algorithm + " " + why);
  };
  Result<Profile> profile =
      measureProfile(makePlan({"add", "sum"}), ClockPlugin(again), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(algorithms(profile->kernels.at(add)), "2000 5000 90000 ");
  EXPECT_EQ(profile->kernels.at(add)[2].timeNs, 90001);
  EXPECT_EQ(algorithms(profile->kernels.at(sum)), "700 ");
  EXPECT_EQ(algorithms(profile->kernels.at("other")), "gone ")
      << "the plan has no such kernel to ask for";
  // What is kept runs once, to be compared with.
  EXPECT_EQ(again.prepared,
            (std::vector<std::string>{"add 5000", "add 2000", "sum 700"}));
  EXPECT_EQ(refused, (std::vector<std::string>{
                         add + " gone the backend no longer offers it",
                         sum + " gone the backend no longer offers it",
                         add + " unsupported no such engine"}));
}

TEST(Profile, UpdateUnderShortKernelsKeepsTheLinkUnderCompute) {
  Log log;
  Result<Profile> first =
      measureProfile(makePlan({"long"}), ClockPlugin(log), {});
  ASSERT_TRUE(first.ok()) << first.message();
  Result<Profile> known = parseProfile(toJson(*first, "clock"));
  ASSERT_TRUE(known.ok()) << known.message();
  ProfileOptions options;
  options.known = &*known;
  Result<Profile> profile =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_NEAR(profile->link.toHost, 10e9, 1e6);
  EXPECT_NEAR(profile->link.toHostUnderCompute, 8e9, 1e8);
  EXPECT_NEAR(profile->link.toDeviceUnderCompute, 16e9, 2e8);
}

TEST(Profile, UpdateKeepsTheRateBesideKernelsOfOneDirection) {
  Log log;
  Result<Profile> first =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), {});
  ASSERT_TRUE(first.ok()) << first.message();
  // A plan that only reads from the host tells nothing of the other direction.
  Result<std::string> refined =
      withRates(toJson(*first, "clock"), "clock 1", 0, 7e9);
  ASSERT_TRUE(refined.ok()) << refined.message();
  Result<Profile> known = parseProfile(*refined);
  ASSERT_TRUE(known.ok()) << known.message();
  ProfileOptions options;
  options.known = &*known;
  Result<Profile> profile =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  Result<Profile> read = parseProfile(toJson(*profile, "clock"));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->link.toHostUnderCompute, 0);
  EXPECT_EQ(read->link.toDeviceUnderCompute, 7e9);
}

TEST(Profile, UpdateKeepsTheSlowerRatesBesideKernels) {
  Log log;
  Result<Profile> first =
      measureProfile(makePlan({"long"}), ClockPlugin(log), {});
  ASSERT_TRUE(first.ok()) << first.message();
  // What a whole step measured.
  Result<std::string> refined =
      withRates(toJson(*first, "clock"), "clock 1", 7e9, 0);
  ASSERT_TRUE(refined.ok()) << refined.message();
  Result<Profile> known = parseProfile(*refined);
  ASSERT_TRUE(known.ok()) << known.message();
  EXPECT_EQ(known->link.toHostUnderCompute, 7e9);
  EXPECT_EQ(known->link.toDeviceUnderCompute, first->link.toDeviceUnderCompute);
  known->link.toDeviceUnderCompute = 99e9;
  ProfileOptions options;
  options.known = &*known;
  Result<Profile> profile =
      measureProfile(makePlan({"long"}), ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(profile->link.toHostUnderCompute, 7e9);
  EXPECT_NEAR(profile->link.toDeviceUnderCompute, 16e9, 2e8);

  Result<std::string> other =
      withRates(toJson(*first, "clock"), "clock 2", 7e9, 0);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.message().find("made with 'clock 1', but this run is on "
                                 "'clock 2'"),
            std::string::npos)
      << other.message();
}

TEST(Profile, UpdateMeasuresCodeOfAnotherBuildAnew) {
  const std::string add = "add: F32[4] -> F32[4]";
  const std::string sum = "sum: F32[4] -> F32[4]";
  Log log;
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  Result<Profile> first =
      measureProfile(makePlan({"add", "sum"}), ClockPlugin(log), options);
  ASSERT_TRUE(first.ok()) << first.message();
  Result<Profile> known = parseProfile(toJson(*first, "clock"));
  ASSERT_TRUE(known.ok()) << known.message();
  // What no measurement gives; the sum is code of the plugin, the other of a
  // library.
  setTime(known->kernels[add][0], 1);
  setTime(known->kernels[sum][0], 1);
  options.known = &*known;
  for (const char *build : {"a", "b"}) {
    Log again;
    again.build = build;
    Result<Profile> profile =
        measureProfile(makePlan({"add", "sum"}), ClockPlugin(again), options);
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(profile->build, build);
    EXPECT_EQ(profile->kernels.at(add)[0].timeNs, 1);
    EXPECT_EQ(profile->kernels.at(sum)[0].timeNs, again.build == "a" ? 1 : 700);
  }
}

// An update for one plan says nothing of the kernels of others.
TEST(Profile, UpdateRemembersTheBuildOfOtherPlansKernels) {
  const std::string sum = "sum: F32[4] -> F32[4]";
  Log log;
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  Result<Profile> profile =
      measureProfile(makePlan({"add", "sum"}), ClockPlugin(log), options);
  ASSERT_TRUE(profile.ok()) << profile.message();
  setTime(profile->kernels[sum][0], 701); // What no measurement gives.
  for (const char *kernel : {"add", "sum"}) {
    Result<Profile> known = parseProfile(toJson(*profile, "clock"));
    ASSERT_TRUE(known.ok()) << known.message();
    options.known = &*known;
    Log again;
    again.build = "b";
    profile = measureProfile(makePlan({kernel}), ClockPlugin(again), options);
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(profile->kernels.at(sum)[0].timeNs,
              std::string(kernel) == "add" ? 701 : 700);
  }
}

TEST(Profile, UpdateRefusesTheProfileOfAnotherDevice) {
  Log log;
  Result<Profile> known =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), {});
  ASSERT_TRUE(known.ok()) << known.message();
  ProfileOptions options;
  options.known = &*known;
  known->fingerprint = "clock 0";
  Result<Profile> other =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), options);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.message(),
            "the profile to update was made with 'clock 0' for 'clock', this "
            "machine has 'clock 1' for 'clock'; measure everything, without "
            "--update");
  known->fingerprint = "clock 1";
  known->kind = "cpu";
  EXPECT_FALSE(
      measureProfile(makePlan({"sum"}), ClockPlugin(log), options).ok());
}

TEST(Profile, OnlyProfilesCanBeUpdated) {
  auto errorOf = [](const std::string &text) {
    Result<Profile> profile = parseProfile(text);
    return profile.ok() ? "no error" : profile.message();
  };
  auto withKernels = [&](const std::string &kernels) {
    return errorOf(R"({"kind": "k", "fingerprint": "f", "overhead_bytes": 1,
                       "link": {}, "kernels": )" +
                   kernels + "}");
  };
  EXPECT_EQ(withKernels("{}"), "no error");
  EXPECT_EQ(withKernels(R"({"a": [{"algorithm": "a", "workspace_bytes": 0,
                                   "ns": 1}]})"),
            "no error");
  EXPECT_NE(withKernels(R"({"a": [{"algorithm": "a", "workspace_bytes": -1,
                                   "ns": 1}]})")
                .find("'workspace_bytes' must be a whole number from 0 to "
                      "1e15, found -1"),
            std::string::npos);
  // vdnn-opt would refuse what the update writes.
  auto withLink = [&](const std::string &link) {
    return errorOf(R"({"kind": "k", "fingerprint": "f", "overhead_bytes": 1,
                       "link": )" +
                   link + R"(, "kernels": {}})");
  };
  for (const char *rate : {"0", "-1", "1e-300", "1e300"}) {
    EXPECT_NE(
        withLink(std::string(
                     R"({"host_to_device_under_compute_bytes_per_second": )") +
                 rate + "}")
            .find("'host_to_device_under_compute_bytes_per_second' must be a "
                  "number from 1e6 to 1e18, found "),
        std::string::npos)
        << rate;
  }
  for (const char *link :
       {"[]", "7", "null",
        R"({"device_to_host_under_compute_bytes_per_second": "7e9"})"}) {
    EXPECT_NE(withLink(link).find("not a profile"), std::string::npos) << link;
  }
  for (const char *kernels : {"[]", "3", R"({"a": []})", R"({"a": {}})",
                              R"({"a": [7]})", R"({"a": [{"ns": 1}]})",
                              R"({"a": [{"algorithm": "a", "ns": 1,
                                         "workspace_bytes": 0,
                                         "nondeterministic": 7}]})"}) {
    EXPECT_NE(withKernels(kernels).find("not a profile"), std::string::npos)
        << kernels;
  }
  for (const char *text : {"", "{", "[]", "{}", R"({"kind": 7})"}) {
    EXPECT_NE(errorOf(text).find("not a profile"), std::string::npos) << text;
  }
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
  EXPECT_GT(launches, 500);
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
