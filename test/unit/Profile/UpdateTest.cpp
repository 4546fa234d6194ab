//===- UpdateTest.cpp - what an update of a profile keeps and measures ----===//

#include "ClockDevice.h"

#include "runtime/profile/Step.h"

namespace vdnn::rt::test {

/// The profile of a plan, as a later update reads it.
static Profile makeKnown(const std::vector<std::string> &kinds) {
  Log log;
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  Result<Profile> profile =
      measureProfile(makePlan(kinds), ClockPlugin(log), options);
  EXPECT_TRUE(profile.ok()) << profile.message();
  Result<Profile> read = parseProfile(toJson(*profile, "clock"));
  EXPECT_TRUE(read.ok()) << read.message();
  return *read;
}

static ProfileOptions updating(const Profile &known) {
  ProfileOptions options;
  options.maxWorkspaceBytes = 4 * kGiB;
  options.known = &known;
  return options;
}

// A profile that somebody edited may hold any number.
TEST(Profile, UpdateTakesAnyTimes) {
  Log log;
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
  update(30'000, static_cast<int64_t>(kMaxCount));
}

TEST(Profile, UpdateComparesWhatWaysTakeAlone) {
  const std::string add = "add: F32[4] -> F32[4]";
  Profile known = makeKnown({"long", "add"});
  std::vector<MeasuredKernel> &ways = known.kernels[add];
  ASSERT_EQ(ways[0].candidate.algorithm, "2000");
  ways.resize(1);
  ways[0].timeNs = 6000; // In a step that slowed it down.
  Log log;
  Result<Profile> profile = measureProfile(makePlan({"long", "add"}),
                                           ClockPlugin(log), updating(known));
  ASSERT_TRUE(profile.ok()) << profile.message();
  std::vector<int64_t> times;
  for (const MeasuredKernel &way : profile->kernels[add]) {
    times.push_back(way.timeNs);
  }
  EXPECT_EQ(times, (std::vector<int64_t>{6000, 15000, 270000}))
      << "all are as much slower in a step";
}

/// The arena holds what may run, not whatever an earlier profile has seen.
TEST(Profile, UpdateHasRoomForWhatRuns) {
  Log log;
  schedule::ScheduleT plan = makePlan({"add"});
  Profile known = makeKnown({"add"});
  std::vector<MeasuredKernel> &ways = known.kernels["add: F32[4] -> F32[4]"];
  ASSERT_EQ(ways[2].candidate.algorithm, "90000");
  ways[2].candidate.workspaceBytes = 3 * kGiB;
  ProfileOptions options = updating(known);
  ASSERT_TRUE(measureProfile(plan, ClockPlugin(log), options).ok());
  EXPECT_LT(log.deviceBytes, kGiB);
  ways[0].candidate.workspaceBytes = 3 * kGiB;
  ASSERT_TRUE(measureProfile(plan, ClockPlugin(log), options).ok());
  EXPECT_GT(log.deviceBytes, 3 * kGiB);
}

TEST(Profile, UpdateMeasuresOnlyWhatIsMissing) {
  const std::string add = "add: F32[4] -> F32[4]";
  const std::string sum = "sum: F32[4] -> F32[4]";
  Profile known = makeKnown({"long", "add"});
  setTime(known.kernels[add][1], 5001); // What no measurement gives.
  known.kernels["other"] = known.kernels[add];

  Log again;
  again.usedBytes = 10; // Fewer kernels have run.
  ProfileOptions options = updating(known);
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
  // The link is measured under a kernel that is kept.
  EXPECT_EQ(again.prepared,
            (std::vector<std::string>{"sum 700", "long 3000001"}));
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
  Profile known = makeKnown({"add"});
  std::vector<MeasuredKernel> &ways = known.kernels[add];
  ASSERT_EQ(algorithms(ways), "2000 5000 90000 ");
  MeasuredKernel gone{{.algorithm = "gone"}, 3};
  known.kernels["other"] = {gone};
  known.kernels[sum] = {gone};
  ways.erase(ways.begin() + 1);
  setTime(ways[1], 90001); // What no measurement gives.
  ways.insert(ways.begin(), gone);

  Log again;
  ProfileOptions options = updating(known);
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

/// What a later update reads of a profile to which a whole step gave its rates.
static Result<Profile> refine(const Profile &profile, double toHost,
                              double toDevice) {
  MeasuredStep step;
  step.toHostRate = toHost;
  step.toDeviceRate = toDevice;
  Result<RefinedProfile> refined =
      withStep(toJson(profile, "clock"), "clock 1", step);
  return refined ? parseProfile(refined->text)
                 : Result<Profile>(refined.error());
}

TEST(Profile, UpdateKeepsTheRateBesideKernelsOfOneDirection) {
  Log log;
  Result<Profile> first =
      measureProfile(makePlan({"sum"}), ClockPlugin(log), {});
  ASSERT_TRUE(first.ok()) << first.message();
  // A plan that only reads from the host tells nothing of the other direction.
  Result<Profile> known = refine(*first, 0, 7e9);
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
  Result<Profile> known = refine(*first, 7e9, 0);
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
}

TEST(Profile, UpdateMeasuresCodeOfAnotherBuildAnew) {
  const std::string add = "add: F32[4] -> F32[4]";
  const std::string sum = "sum: F32[4] -> F32[4]";
  Profile known = makeKnown({"add", "sum"});
  // What no measurement gives; the sum is code of the plugin, the other of a
  // library.
  setTime(known.kernels[add][0], 1);
  setTime(known.kernels[sum][0], 1);
  known.kernels[sum][0].slowDown(3); // in a step
  ProfileOptions options = updating(known);
  for (const char *build : {"a", "b"}) {
    Log again;
    again.build = build;
    Result<Profile> profile =
        measureProfile(makePlan({"add", "sum"}), ClockPlugin(again), options);
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(profile->build, build);
    EXPECT_EQ(profile->kernels.at(add)[0].timeNs, 1);
    const MeasuredKernel &own = profile->kernels.at(sum)[0];
    EXPECT_EQ(own.aloneNs, again.build == "a" ? 1 : 700);
    EXPECT_EQ(own.timeNs, 3 * own.aloneNs) << "in a step as before";
  }
}

// An update for one plan says nothing of the kernels of others.
TEST(Profile, UpdateRemembersTheBuildOfOtherPlansKernels) {
  const std::string sum = "sum: F32[4] -> F32[4]";
  Profile known = makeKnown({"add", "sum"});
  setTime(known.kernels[sum][0], 701); // What no measurement gives.
  for (const char *kernel : {"add", "sum"}) {
    Log again;
    again.build = "b";
    Result<Profile> profile =
        measureProfile(makePlan({kernel}), ClockPlugin(again), updating(known));
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_EQ(profile->kernels.at(sum)[0].timeNs,
              std::string(kernel) == "add" ? 701 : 700);
    Result<Profile> read = parseProfile(toJson(*profile, "clock"));
    ASSERT_TRUE(read.ok()) << read.message();
    known = *read;
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
  EXPECT_NE(withLink("[]").find("'link' must be an object"), std::string::npos);
  EXPECT_NE(withKernels("[]").find("'kernels' must be an object"),
            std::string::npos);
  EXPECT_NE(
      withKernels(R"({"a": {}})").find("'kernels' has 'a' without a list"),
      std::string::npos);
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

} // namespace vdnn::rt::test
