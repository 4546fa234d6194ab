//===- NondeterministicTest.cpp - ways whose last bits differ -------------===//

#include "ClockDevice.h"

namespace vdnn::rt::test {

static const std::string atomic = "atomic: F32[4] -> F32[4]";

static std::string algorithms(const Profile &profile) {
  return algorithms(profile.kernels.at(atomic));
}

TEST(Profile, MeasuresNondeterministicWaysOnlyWhereTheyAreAllowed) {
  auto roundTrip = [](const Profile &profile) {
    Result<Profile> read = parseProfile(toJson(profile, "clock"));
    EXPECT_TRUE(read.ok()) << read.message();
    return read.ok() ? *read : Profile();
  };
  Log log, allowing, updating;
  Result<Profile> without =
      measureProfile(makePlan({"atomic", "sum"}), ClockPlugin(log), {});
  ASSERT_TRUE(without.ok()) << without.message();
  EXPECT_EQ(algorithms(*without), "800001 ");
  EXPECT_EQ(toJson(*without, "clock").find("nondeterministic"),
            std::string::npos);

  ProfileOptions options;
  options.allowNondeterministic = true;
  Result<Profile> with =
      measureProfile(makePlan({"atomic"}), ClockPlugin(allowing), options);
  ASSERT_TRUE(with.ok()) << with.message();
  EXPECT_EQ(algorithms(*with), "500000! 600000! 800001 ");
  Profile read = roundTrip(*with);
  EXPECT_EQ(algorithms(read), "500000! 600000! 800001 ");
  EXPECT_NE(toJson(*with, "clock").find(R"("nondeterministic": true)"),
            std::string::npos);

  // An update adds them to what is known, and measures nothing twice.
  Profile known = roundTrip(*without);
  setTime(known.kernels[atomic][0], 800002); // What no measurement gives.
  options.known = &known;
  Result<Profile> updated = measureProfile(makePlan({"atomic", "sum"}),
                                           ClockPlugin(updating), options);
  ASSERT_TRUE(updated.ok()) << updated.message();
  EXPECT_EQ(algorithms(*updated), "500000! 600000! 800001 ");
  EXPECT_EQ(updated->kernels.at(atomic)[2].timeNs, 800002);
  EXPECT_EQ(updating.launches.at("800001"), 1) << "only to compare";
  EXPECT_EQ(updating.launches.count("700"), 0u);

  // Without the option an update keeps them, as all that it finds.
  options.allowNondeterministic = false;
  options.known = &read;
  Log keeping;
  Result<Profile> kept =
      measureProfile(makePlan({"atomic"}), ClockPlugin(keeping), options);
  ASSERT_TRUE(kept.ok()) << kept.message();
  EXPECT_EQ(algorithms(*kept), "500000! 600000! 800001 ");
  EXPECT_EQ(keeping.prepared, std::vector<std::string>{"atomic 500000"})
      << "the link is measured under it";

  // Nor does it lose those whose times no longer hold.
  setTime(read.kernels[atomic][1], 1);
  Log rebuilt;
  rebuilt.build = "b";
  kept = measureProfile(makePlan({"atomic"}), ClockPlugin(rebuilt), options);
  ASSERT_TRUE(kept.ok()) << kept.message();
  EXPECT_EQ(algorithms(*kept), "500000! 600000! 800001 ");
}

TEST(Profile, UpdateTakesFromTheBackendWhatIsNondeterministic) {
  ProfileOptions options;
  options.allowNondeterministic = true;
  Log log, updating;
  Result<Profile> known =
      measureProfile(makePlan({"atomic"}), ClockPlugin(log), options);
  ASSERT_TRUE(known.ok()) << known.message();
  for (MeasuredKernel &way : known->kernels.at(atomic)) {
    way.candidate.nondeterministic ^= true;
    way.candidate.reducedPrecision ^= true;
  }
  options.known = &*known;
  Result<Profile> updated =
      measureProfile(makePlan({"atomic"}), ClockPlugin(updating), options);
  ASSERT_TRUE(updated.ok()) << updated.message();
  for (const MeasuredKernel &way : updated->kernels.at(atomic)) {
    EXPECT_FALSE(way.candidate.reducedPrecision);
  }
  EXPECT_EQ(algorithms(*updated), "500000! 600000! 800001 ");
  EXPECT_EQ(updating.prepared, std::vector<std::string>{"atomic 500000"})
      << "the link is measured under it, as what it is";
}

} // namespace vdnn::rt::test
