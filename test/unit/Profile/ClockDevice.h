//===- ClockDevice.h - a device with a known clock ------------------------===//

#ifndef VDNN_TEST_UNIT_PROFILE_CLOCKDEVICE_H
#define VDNN_TEST_UNIT_PROFILE_CLOCKDEVICE_H

#include "runtime/profile/Profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

namespace vdnn::rt::test {

constexpr uint64_t kGiB = uint64_t{1} << 30;

/// Shared by a plugin and its device.
struct Log {
  uint64_t deviceBytes = 0;
  std::vector<std::string> prepared;
  std::map<std::string, int> launches; ///< by algorithm
  bool failsAll = false;
  int64_t launchesLeft = INT64_MAX;    ///< before one fails
  std::string build = "a";             ///< of the plugin
  uint64_t usedBytes = 12345;          ///< beside the arena
  int64_t hostNsPerLaunch = 0;         ///< what the host takes to queue one
  std::map<std::string, float> scales; ///< of what algorithms compute; 1
  std::set<std::string> writesNothing; ///< algorithms
};

/// Launches take the time that their algorithm is named after, in ns; the first
/// one 1 ms more, for loading code. Copies take 1000 ns and 1 ns for 10 bytes,
/// to the device 1 ns for 20; twice that while both directions run, and a
/// quarter more once launches wait for their stream and it for launches. A
/// stream begins when `measure` does.
class ClockDevice final : public Device {
public:
  explicit ClockDevice(Log &log) : log(log) {}
  ~ClockDevice() override {
    EXPECT_TRUE(callbacks.empty()) << "they may be called when nobody expects "
                                      "them any more";
  }

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

  Status prepare(uint32_t command, const schedule::KernelT &kernel,
                 const LaunchTypes &types, std::span<const schedule::InPlace>,
                 uint64_t bytes) override {
    bool isAtomic = kernel.algorithm.ends_with("00000");
    if (kernel.algorithm == "unsupported" || log.failsAll ||
        kernel.nondeterministic != isAtomic) {
      return Error{"no such engine"};
    }
    Prepared &way = ways[command];
    way = {kernel.algorithm, bytes};
    for (const schedule::TypeT *type : types.reads) {
      way.reads.push_back(*type);
    }
    for (const schedule::TypeT *type : types.writes) {
      way.writes.push_back(*type);
    }
    log.prepared.push_back(kernel.kind + " " + kernel.algorithm);
    return {};
  }

  uint64_t workspaceBytes(uint32_t command) const override {
    return ways.at(command).allowed / 2;
  }

  Status launch(uint32_t stream, uint32_t command,
                const LaunchArguments &arguments) override {
    if (log.launchesLeft-- <= 0) {
      return Error{"the device is broken"};
    }
    Prepared &way = ways.at(command);
    EXPECT_EQ(arguments.workspaceBytes, way.allowed);
    checkOperands(way, arguments);
    kernelEnd = std::max(kernelEnd, arguments.workspace + way.allowed);
    EXPECT_LE(kernelEnd, log.deviceBytes);
    ++log.launches[way.algorithm];
    ends[stream] += std::stoll(way.algorithm) + (way.cold ? 1'000'000 : 0);
    way.cold = false;
    if (!log.writesNothing.contains(way.algorithm)) {
      float scale = log.scales.contains(way.algorithm)
                        ? log.scales.at(way.algorithm)
                        : 1.0f;
      written = {scale, -2 * scale, 3 * scale, 0};
    }
    hostNs += log.hostNsPerLaunch;
    callBack(hostNs);
    return {};
  }

  Status copyToHost(uint32_t stream, uint64_t, uint64_t offset,
                    uint64_t bytes) override {
    EXPECT_GE(offset, kernelEnd) << "copies and kernels must not meet";
    copyFor(stream, static_cast<int64_t>(bytes / 10));
    return {};
  }
  Status copyToDevice(uint32_t stream, uint64_t deviceOffset, uint64_t offset,
                      uint64_t bytes) override {
    EXPECT_GE(offset, bytes) << "the directions must not meet";
    EXPECT_GE(deviceOffset, kernelEnd + bytes);
    EXPECT_LE(deviceOffset + bytes, log.deviceBytes);
    bool both = copying.contains(1);
    copyFor(stream, static_cast<int64_t>(bytes / (both ? 10 : 20)));
    return {};
  }

  Result<int64_t> measure(uint32_t stream,
                          const std::function<Status()> &submit) override {
    ends.clear();
    copying.clear();
    waits.clear();
    hostNs = 0;
    if (Status status = submit(); !status) {
      return status.error(); // What is queued goes on.
    }
    callBack(INT64_MAX);
    // The end is queued by the host too.
    return std::max(hostNs, ends[stream]);
  }

  DeviceMemory memory() const override {
    return {8 * kGiB, log.deviceBytes + log.usedBytes};
  }

  Status record(uint32_t stream, uint32_t event) override {
    events[event] = {stream, ends[stream]};
    return {};
  }
  Status wait(uint32_t stream, uint32_t event) override {
    auto [source, ns] = events.at(event);
    ends[stream] = std::max(ends[stream], ns);
    waits.insert({stream, source});
    return {};
  }
  Status synchronize() override {
    callBack(INT64_MAX);
    return {};
  }
  Status upload(uint64_t offset, std::span<const std::byte> bytes) override {
    EXPECT_LE(offset + bytes.size(), log.deviceBytes);
    contents.resize(std::max(contents.size(), offset + bytes.size()));
    std::ranges::copy(bytes, contents.begin() + static_cast<int64_t>(offset));
    return {};
  }
  Status download(uint64_t, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), written.data(),
                std::min(bytes.size(), sizeof(written)));
    return {};
  }
  Status tap(uint32_t, schedule::Arena, uint64_t,
             std::span<std::byte>) override {
    return {};
  }
  Status fill(uint32_t, schedule::Arena, uint64_t, uint64_t,
              std::byte value) override {
    std::memset(written.data(), std::to_integer<int>(value), sizeof(written));
    return {};
  }
  Status delay(uint32_t, uint64_t) override { return {}; }
  Status callback(uint32_t stream, std::function<void()> function) override {
    callbacks.emplace(ends[stream], std::move(function));
    return {};
  }

private:
  struct Prepared {
    std::string algorithm;
    uint64_t allowed = 0;
    bool cold = true;
    std::vector<schedule::TypeT> reads = {}, writes = {};
  };

  /// No launch reads what one has written, integers are zeros, and nothing else
  /// is.
  void checkOperands(const Prepared &way, const LaunchArguments &arguments) {
    ASSERT_EQ(arguments.reads.size(), way.reads.size());
    ASSERT_EQ(arguments.writes.size(), way.writes.size());
    uint64_t end = 0; // Of what the launch writes so far.
    for (size_t i = 0; i < way.writes.size(); ++i) {
      uint64_t offset = arguments.writes[i];
      EXPECT_EQ(offset % 256, 0u);
      EXPECT_GE(offset, end);
      end = offset + *schedule::typeBytes(way.writes[i]);
      firstWritten = std::min(firstWritten, offset);
    }
    EXPECT_EQ(arguments.workspace % 256, 0u);
    EXPECT_GE(arguments.workspace, end);
    for (size_t i = 0; i < way.reads.size(); ++i) {
      uint64_t offset = arguments.reads[i],
               bytes = *schedule::typeBytes(way.reads[i]);
      EXPECT_EQ(offset % 256, 0u);
      readEnd = std::max(readEnd, offset + bytes);
      ASSERT_LE(offset + bytes, contents.size());
      bool isFloat = way.reads[i].element == schedule::ElementType::F32;
      auto begin = contents.begin() + static_cast<int64_t>(offset);
      auto zeros =
          std::count(begin, begin + static_cast<int64_t>(bytes), std::byte{0});
      EXPECT_TRUE(isFloat ? zeros < static_cast<int64_t>(bytes) / 2
                          : zeros == static_cast<int64_t>(bytes));
      for (size_t j = 0; j < i; ++j) {
        uint64_t other = arguments.reads[j];
        EXPECT_TRUE(other + *schedule::typeBytes(way.reads[j]) <= offset ||
                    offset + bytes <= other)
            << "operands must not meet";
      }
    }
    EXPECT_LE(readEnd, firstWritten);
  }

  void copyFor(uint32_t stream, int64_t ns) {
    bool isSlowed = waits.contains({0, stream}) && waits.contains({stream, 0});
    ends[stream] += 1000 + ns + (isSlowed ? ns / 4 : 0);
    copying.insert(stream);
  }

  /// Calls the functions whose turn has come by then, in that order.
  void callBack(int64_t now) {
    while (!callbacks.empty() && callbacks.begin()->first <= now) {
      callbacks.begin()->second();
      callbacks.erase(callbacks.begin());
    }
  }

  Log &log;
  std::map<uint32_t, Prepared> ways; ///< by command
  uint64_t kernelEnd = 0;            ///< in the arena, of all launched
  uint64_t readEnd = 0;              ///< of all that launches read
  uint64_t firstWritten = UINT64_MAX;
  std::vector<std::byte> contents; ///< what was uploaded
  int64_t hostNs = 0;
  std::array<float, 4> written = {};
  std::map<uint32_t, int64_t> ends; ///< of each stream, since `measure`
  std::set<uint32_t> copying;       ///< streams that have copied since then
  std::map<uint32_t, std::pair<uint32_t, int64_t>> events; ///< stream, time
  std::set<std::pair<uint32_t, uint32_t>> waits;           ///< who for whom
  std::multimap<int64_t, std::function<void()>> callbacks; ///< by time
};

class ClockQuery final : public KernelQuery {
public:
  Result<std::vector<KernelCandidate>>
  candidates(const schedule::KernelT &kernel, const LaunchTypes &) override {
    if (kernel.kind == "unknown") {
      return Error{"there is no kernel 'unknown'"};
    }
    if (kernel.kind == "sum") {
      return std::vector<KernelCandidate>{
          {.algorithm = "700", .ownCode = true}};
    }
    if (kernel.kind == "atomic") {
      std::vector<KernelCandidate> ways = {{.algorithm = "800001"}};
      if (kernel.nondeterministic) {
        ways.push_back({.algorithm = "500000", .nondeterministic = true});
        ways.push_back({.algorithm = "unsupported", .nondeterministic = true});
        ways.push_back(
            {.algorithm = "600000", .nondeterministic = true, .ownCode = true});
      }
      return ways;
    }
    if (kernel.kind == "long") {
      return std::vector<KernelCandidate>{
          {.algorithm = "3000001", .workspaceBytes = 8192}};
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
  std::string build() const override { return log.build; }

private:
  Log &log;
};

/// What no measurement gives: it shows that a way is kept.
inline void setTime(MeasuredKernel &way, int64_t ns) {
  way.timeNs = way.aloneNs = ns;
}

/// Ways in their order; '!' is behind nondeterministic ones.
inline std::string algorithms(const std::vector<MeasuredKernel> &ways) {
  std::string text;
  for (const MeasuredKernel &way : ways) {
    text += way.candidate.algorithm;
    text += way.candidate.nondeterministic ? "! " : " ";
  }
  return text;
}

/// A plan that launches `kinds` in turn, each from four numbers to four.
inline schedule::ScheduleT makePlan(const std::vector<std::string> &kinds) {
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

} // namespace vdnn::rt::test

#endif
