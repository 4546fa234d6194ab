//===- ProfileTest.cpp - measuring on a device with a known clock ---------===//

#include "runtime/profile/Profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace vdnn;
using namespace vdnn::rt;

namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

/// Shared by a plugin and its device.
struct Log {
  uint64_t deviceBytes = 0;
  std::vector<std::string> prepared;
  std::map<std::string, int> launches; ///< by algorithm
  bool failsAll = false;
  uint64_t usedBytes = 12345;      ///< beside the arena
  int64_t hostNsPerLaunch = 0;     ///< what the host takes to queue one
  int64_t speedUpBesideCopies = 1; ///< of launches that follow a copy
};

/// Launches take the time that their algorithm is named after, in ns; the first
/// one 1 ms more, for loading code. Copies take 1000 ns and 1 ns for 10 bytes,
/// to the device 1 ns for 20; twice that while both directions run, and a
/// quarter more while kernels run. All begin when `measure` does.
class ClockDevice final : public Device {
public:
  explicit ClockDevice(Log &log) : log(log) {}

  std::string kind() const override { return "clock"; }
  std::string fingerprint() const override { return "clock 1"; }

  Status allocate(uint64_t deviceBytes, uint64_t,
                  std::span<const schedule::StreamT> streams,
                  uint32_t) override {
    EXPECT_EQ(streams.size(), 3u);
    log.deviceBytes = deviceBytes;
    return {};
  }
  std::byte *hostArena() override { return nullptr; }

  Status prepare(uint32_t, const schedule::KernelT &kernel, const LaunchTypes &,
                 std::span<const schedule::InPlace>, uint64_t bytes) override {
    if (kernel.algorithm == "unsupported" || log.failsAll) {
      return Error{"no such engine"};
    }
    algorithm = kernel.algorithm;
    allowed = bytes;
    cold = true;
    log.prepared.push_back(kernel.kind + " " + algorithm);
    return {};
  }

  uint64_t workspaceBytes(uint32_t) const override { return allowed / 2; }

  Status launch(uint32_t stream, uint32_t,
                const LaunchArguments &arguments) override {
    EXPECT_EQ(arguments.workspaceBytes, allowed);
    for (uint64_t offset : arguments.reads) {
      EXPECT_EQ(offset % 256, 0u);
    }
    kernelEnd = std::max(kernelEnd, arguments.workspace + allowed);
    EXPECT_LE(kernelEnd, log.deviceBytes);
    ++log.launches[algorithm];
    bool besideCopies = times.contains(1) || times.contains(2);
    times[stream] +=
        std::stoll(algorithm) / (besideCopies ? log.speedUpBesideCopies : 1) +
        (cold ? 1'000'000 : 0);
    cold = false;
    hostNs += log.hostNsPerLaunch;
    callBack(hostNs);
    return {};
  }

  Status copyToHost(uint32_t stream, uint64_t, uint64_t offset,
                    uint64_t bytes) override {
    EXPECT_GE(offset, kernelEnd) << "copies and kernels must not meet";
    times[stream] += 1000 + static_cast<int64_t>(bytes / 10);
    return {};
  }
  Status copyToDevice(uint32_t stream, uint64_t deviceOffset, uint64_t offset,
                      uint64_t bytes) override {
    EXPECT_GE(offset, bytes) << "the directions must not meet";
    EXPECT_GE(deviceOffset, kernelEnd + bytes);
    EXPECT_LE(deviceOffset + bytes, log.deviceBytes);
    bool both = times.contains(1);
    times[stream] += 1000 + static_cast<int64_t>(bytes / (both ? 10 : 20));
    return {};
  }

  Result<int64_t> measure(uint32_t stream,
                          const std::function<Status()> &submit) override {
    times.clear();
    waits.clear();
    hostNs = 0;
    Status status = submit();
    callBack(INT64_MAX);
    // The end is queued by the host too.
    return status ? Result<int64_t>(std::max(hostNs, end(stream)))
                  : status.error();
  }

  DeviceMemory memory() const override {
    return {8 * kGiB, log.deviceBytes + log.usedBytes};
  }

  Status record(uint32_t stream, uint32_t event) override {
    events[event] = stream;
    return {};
  }
  Status wait(uint32_t stream, uint32_t event) override {
    waits[stream] = events.at(event);
    return {};
  }
  Status synchronize() override { return {}; }
  Status upload(uint64_t offset, std::span<const std::byte> bytes) override {
    EXPECT_LE(offset + bytes.size(), log.deviceBytes);
    return {};
  }
  Status download(uint64_t, std::span<std::byte>) override { return {}; }
  Status tap(uint32_t, schedule::Arena, uint64_t,
             std::span<std::byte>) override {
    return {};
  }
  Status fill(uint32_t, schedule::Arena, uint64_t, uint64_t,
              std::byte) override {
    return {};
  }
  Status delay(uint32_t, uint64_t) override { return {}; }
  Status callback(uint32_t stream, std::function<void()> function) override {
    auto found = waits.find(stream);
    callbacks.emplace_back(found == waits.end() ? stream : found->second,
                           std::move(function));
    return {};
  }

private:
  /// When a stream has done all that is queued there.
  int64_t end(uint32_t stream) {
    int64_t compute = times[0], own = times[stream];
    return stream == 0 ? compute : own + std::min(own / 4, compute / 5);
  }

  /// Calls the functions whose streams have ended by then, in that order.
  void callBack(int64_t now) {
    std::stable_sort(callbacks.begin(), callbacks.end(),
                     [&](const auto &a, const auto &b) {
                       return end(a.first) < end(b.first);
                     });
    while (!callbacks.empty() && end(callbacks.front().first) <= now) {
      callbacks.front().second();
      callbacks.erase(callbacks.begin());
    }
  }

  Log &log;
  std::string algorithm;
  uint64_t allowed = 0;
  bool cold = true;
  uint64_t kernelEnd = 0; ///< in the arena, of all that were launched
  int64_t hostNs = 0;
  std::map<uint32_t, int64_t> times; ///< of each stream, since `measure`
  std::map<uint32_t, uint32_t> events, waits; ///< for which stream
  std::vector<std::pair<uint32_t, std::function<void()>>> callbacks;
};

class ClockQuery final : public KernelQuery {
public:
  Result<std::vector<KernelCandidate>>
  candidates(const schedule::KernelT &kernel, const LaunchTypes &) override {
    if (kernel.kind == "unknown") {
      return Error{"there is no kernel 'unknown'"};
    }
    if (kernel.kind == "sum") {
      return std::vector<KernelCandidate>{{.algorithm = "700"}};
    }
    if (kernel.kind == "long") {
      return std::vector<KernelCandidate>{
          {.algorithm = "3000000", .workspaceBytes = 8192}};
    }
    if (kernel.kind == "large") {
      return std::vector<KernelCandidate>{
          {.algorithm = "1", .workspaceBytes = 32 * kGiB}};
    }
    return std::vector<KernelCandidate>{
        {.algorithm = "5000"},
        {.algorithm = "unsupported"},
        {.algorithm = "2000", .workspaceBytes = 4096, .reducedPrecision = true},
        {.algorithm = "1", .workspaceBytes = 5 * kGiB},
        {.algorithm = "90000"}};
  }
  std::string fingerprint() const override { return "clock 1"; }
};

class ClockPlugin final : public Plugin {
public:
  explicit ClockPlugin(Log &log) : log(log) {}

  Result<std::unique_ptr<Device>> createDevice() const override {
    return std::unique_ptr<Device>(std::make_unique<ClockDevice>(log));
  }
  Result<std::unique_ptr<KernelQuery>>
  createQuery(const std::string &properties) const override {
    EXPECT_EQ(properties, R"({"clock":true})");
    return std::unique_ptr<KernelQuery>(std::make_unique<ClockQuery>());
  }
  Result<std::string> deviceProperties() const override {
    return std::string(R"({"clock":true})");
  }

private:
  Log &log;
};

/// A plan that launches `kinds` in turn, each from four numbers to four.
schedule::ScheduleT makePlan(const std::vector<std::string> &kinds) {
  schedule::ScheduleT plan;
  plan.types.push_back(std::make_unique<schedule::TypeT>());
  plan.types[0]->shape = {4};
  for (const std::string &kind : kinds) {
    auto command = std::make_unique<schedule::CommandT>();
    command->kernel = static_cast<int32_t>(plan.kernels.size());
    command->reads.emplace_back(0, 0);
    command->writes.emplace_back(1, 0);
    plan.commands.push_back(std::move(command));
    plan.commands.push_back(std::make_unique<schedule::CommandT>());
    plan.commands.back()->kind = schedule::CommandKind::Record;
    plan.kernels.push_back(std::make_unique<schedule::KernelT>());
    plan.kernels.back()->kind = kind;
  }
  return plan;
}

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

TEST(Profile, MeasuresTheLinkUnderTheSlowestKernel) {
  Log log;
  Result<Profile> profile =
      measureProfile(makePlan({"long", "sum"}), ClockPlugin(log), {});
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_EQ(log.prepared.back(), "long 3000000");
  EXPECT_NEAR(profile->link.toHost, 10e9, 1e6);
  EXPECT_NEAR(profile->link.toDevice, 20e9, 2e6);
  EXPECT_NEAR(profile->link.toHostUnderCompute, 8e9, 1e7);
  EXPECT_NEAR(profile->link.toDeviceUnderCompute, 16e9, 2e7);
}

TEST(Profile, RepeatsCopiesThatOutlastTheKernels) {
  Log log;
  log.speedUpBesideCopies = 4;
  Result<Profile> profile =
      measureProfile(makePlan({"long"}), ClockPlugin(log), {});
  ASSERT_TRUE(profile.ok()) << profile.message();
  EXPECT_NEAR(profile->link.toHostUnderCompute, 8e9, 1e7);
  EXPECT_NEAR(profile->link.toDeviceUnderCompute, 16e9, 2e7);
}

TEST(Profile, LeavesOutTheLinkUnderWhatCannotCoverIt) {
  auto expectNone = [](Log &log, const std::vector<std::string> &kinds) {
    Result<Profile> profile =
        measureProfile(makePlan(kinds), ClockPlugin(log), {});
    ASSERT_TRUE(profile.ok()) << profile.message();
    EXPECT_NEAR(profile->link.toHost, 10e9, 1e6);
    EXPECT_EQ(profile->link.toHostUnderCompute, 0);
    EXPECT_EQ(profile->link.toDeviceUnderCompute, 0);
    EXPECT_EQ(toJson(*profile, "clock").find("under_compute"),
              std::string::npos);
  };
  Log none, tooShort, lateHost, neverCovered;
  expectNone(none, {});
  expectNone(tooShort, {"sum"});
  EXPECT_EQ(tooShort.prepared, std::vector<std::string>{"sum 700"});
  lateHost.hostNsPerLaunch = 30'000'000; // The copies end before.
  expectNone(lateHost, {"long"});
  neverCovered.speedUpBesideCopies = 1000;
  expectNone(neverCovered, {"long"});
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
  known->kernels[add][1].timeNs = 5001; // What no measurement gives.
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
  EXPECT_EQ(progress, std::vector<std::string>{"1/1 " + sum});
  // The link is measured under a kernel that is kept.
  EXPECT_EQ(again.prepared,
            (std::vector<std::string>{"sum 700", "long 3000000"}));
  EXPECT_NEAR(profile->link.toHostUnderCompute, 8e9, 1e7);
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
  EXPECT_NEAR(profile->link.toHostUnderCompute, 8e9, 1e7);
  EXPECT_NEAR(profile->link.toDeviceUnderCompute, 16e9, 2e7);
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
  for (const char *kernels : {"[]", "3", R"({"a": []})", R"({"a": {}})",
                              R"({"a": [7]})", R"({"a": [{"ns": 1}]})"}) {
    EXPECT_NE(withKernels(kernels).find("not a profile"), std::string::npos)
        << kernels;
  }
  for (const char *text : {"", "{", "[]", "{}", R"({"kind": 7})"}) {
    EXPECT_NE(errorOf(text).find("not a profile"), std::string::npos) << text;
  }
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

} // namespace
