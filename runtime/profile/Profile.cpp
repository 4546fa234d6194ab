//===- Profile.cpp - measuring kernels ------------------------------------===//

#include "runtime/profile/Profile.h"

#include "runtime/profile/Link.h"
#include "runtime/profile/Sample.h"
#include "runtime/profile/Task.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace vdnn::rt {

namespace {

/// Work of one measurement: long beside the clock's grain and a launch.
constexpr int64_t kWorkNs = 2'000'000;
constexpr uint32_t kCompute = 0;

class Measurement {
public:
  Measurement(Device &device, const ProfileOptions &options)
      : device(device), options(options) {}

  /// Gives the tasks something to read: floats that no kernel finds easy (zeros
  /// would let a GPU run faster), normally distributed both as f32 and as bf16;
  /// labels, indices and masks of zeros, since random bits would be out of
  /// range.
  Status fill(const TaskList &list) {
    std::vector<uint16_t> values(
        std::min<uint64_t>(kChunk, list.floatBytes + list.integerBytes) / 2);
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (uint16_t &value : values) {
      value = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(normal(generator)) >> 16);
    }
    Status status =
        repeat(std::as_bytes(std::span(values)), 0, list.floatBytes);
    std::ranges::fill(values, 0);
    return status ? repeat(std::as_bytes(std::span(values)), list.floatBytes,
                           list.integerBytes)
                  : status;
  }

  /// Adds to the ways that are known, the fastest first, what agrees with them.
  Status measure(const Task &task, std::vector<MeasuredKernel> &ways) {
    std::vector<MeasuredKernel> measured;
    std::vector<Sample> samples;
    int64_t best = ways.empty() ? INT64_MAX : ways.front().aloneNs;
    for (const KernelCandidate &candidate : task.candidates) {
      Result<Sample> sample = compute(task, candidate);
      Result<MeasuredKernel> result =
          sample ? measure(task, candidate, best)
                 : Result<MeasuredKernel>(sample.error());
      if (!result) {
        refuse(task, candidate, result.message());
        continue;
      }
      best = std::min(best, result->aloneNs);
      measured.push_back(std::move(*result));
      samples.push_back(std::move(*sample));
    }
    if (measured.empty()) {
      return {};
    }
    Sample right = samples[findLeader(samples)];
    if (!ways.empty()) {
      // What an earlier profile holds has been compared already.
      auto known = compute(task, ways.front().candidate);
      right = known ? std::move(*known) : right;
    }
    for (size_t i = 0; i < measured.size(); ++i) {
      if (agree(right, samples[i])) {
        measured[i].slowDown(task.slowdown);
        ways.push_back(std::move(measured[i]));
      } else {
        refuse(task, measured[i].candidate,
               "on the same operands it computes other values than other ways");
      }
    }
    sortFastestFirst(ways);
    return {};
  }

  /// Gets a task ready to be launched in one of its measured ways, under
  /// `command`.
  Result<ComputeLoad> load(const Task &task, const MeasuredKernel &way,
                           uint32_t command) {
    if (Status status = prepare(task, way.candidate, command); !status) {
      return status.error();
    }
    auto launch = [this, command,
                   arguments = task.arguments(way.candidate.workspaceBytes)] {
      return device.launch(kCompute, command, arguments);
    };
    Result<int64_t> once = device.measure(kCompute, launch); // Loads the code.
    if (!once) {
      return once.error();
    }
    // A profile that was edited may say any time.
    return ComputeLoad{std::min(way.aloneNs, *once), launch};
  }

private:
  static constexpr size_t kChunk = size_t{64} << 20;

  /// Fills `bytes` of the arena from `offset` on.
  Status repeat(std::span<const std::byte> chunk, uint64_t offset,
                uint64_t bytes) {
    for (uint64_t done = 0; done < bytes; done += chunk.size()) {
      uint64_t count = std::min<uint64_t>(chunk.size(), bytes - done);
      if (Status status = device.upload(offset + done, chunk.first(count));
          !status) {
        return status;
      }
    }
    return {};
  }

  void refuse(const Task &task, const KernelCandidate &candidate,
              const std::string &why) {
    if (options.refused) {
      options.refused(task.signature, candidate.algorithm, why);
    }
  }

  /// Runs a task once, which also loads its code.
  Result<Sample> compute(const Task &task, const KernelCandidate &candidate) {
    Status status = prepare(task, candidate);
    status = status ? poisonOutputs(device, task) : status;
    if (!status) {
      return status.error();
    }
    Result<int64_t> once = run(task.arguments(candidate.workspaceBytes), 1);
    return once ? sampleOutputs(device, task) : Result<Sample>(once.error());
  }

  Result<int64_t> run(const LaunchArguments &arguments, int64_t launches) {
    return device.measure(kCompute, [&]() -> Status {
      for (int64_t i = 0; i < launches; ++i) {
        if (Status status = device.launch(kCompute, 0, arguments); !status) {
          return status;
        }
      }
      return {};
    });
  }

  Status prepare(const Task &task, const KernelCandidate &candidate,
                 uint32_t command = 0) {
    schedule::KernelT kernel = *task.kernel;
    kernel.algorithm = candidate.algorithm;
    kernel.nondeterministic = candidate.nondeterministic;
    return device.prepare(command, kernel, task.types(), {},
                          candidate.workspaceBytes);
  }

  /// Of what has just been computed.
  Result<MeasuredKernel>
  measure(const Task &task, const KernelCandidate &candidate, int64_t best) {
    LaunchArguments arguments = task.arguments(candidate.workspaceBytes);
    Result<int64_t> once = run(arguments, 1);
    if (!once) {
      return once.error();
    }
    MeasuredKernel result{candidate, *once, *once, 0};
    result.candidate.workspaceBytes = device.workspaceBytes(0);
    if (best != INT64_MAX && *once / 4 > best) {
      return result; // Far behind: one look is enough.
    }
    int64_t launches =
        std::clamp<int64_t>(kWorkNs / std::max<int64_t>(*once, 1), 1, 200);
    std::vector<int64_t> times;
    for (unsigned round = 0; round < std::max(1u, options.rounds); ++round) {
      Result<int64_t> time = run(arguments, launches);
      if (!time) {
        return time.error();
      }
      times.push_back(*time / launches);
    }
    std::sort(times.begin(), times.end());
    result.aloneNs = result.timeNs = times[times.size() / 2];
    result.spread = double(times.back() - times.front()) /
                    double(std::max<int64_t>(result.timeNs, 1));
    return result;
  }

  Device &device;
  const ProfileOptions &options;
};

Status measureKernels(const std::vector<Task> &tasks, Measurement &measurement,
                      const ProfileOptions &options, Profile &profile) {
  size_t done = 0, all = 0;
  for (const Task &task : tasks) {
    all += !task.candidates.empty();
  }
  for (const Task &task : tasks) {
    if (task.candidates.empty()) {
      continue;
    }
    std::vector<MeasuredKernel> &ways = profile.kernels[task.signature];
    if (Status status = measurement.measure(task, ways); !status) {
      return status;
    }
    if (ways.empty()) {
      return Error{"no way to run '" + task.signature + "' on this device"};
    }
    for (MeasuredKernel &way : ways) {
      way.build = profile.build;
    }
    if (options.progress) {
      options.progress(++done, all, task.signature);
    }
  }
  return {};
}

/// Under what takes longest: it is most like what copies of a plan run beside.
Status measureUnderCompute(const TaskList &list, Measurement &measurement,
                           LinkMeasurement &link, Profile &profile) {
  constexpr size_t kMostLoads = 24;
  auto fastest = [&](const Task *task) -> const MeasuredKernel & {
    return profile.kernels.at(task->signature).front();
  };
  std::vector<const Task *> slowest;
  for (const Task &task : list.tasks) {
    if (fastest(&task).aloneNs >= kShortestLoadNs) {
      slowest.push_back(&task);
    }
  }
  std::ranges::stable_sort(slowest, std::greater(), [&](const Task *task) {
    return fastest(task).aloneNs;
  });
  slowest.resize(std::min(slowest.size(), kMostLoads));
  std::vector<ComputeLoad> loads;
  for (const Task *task : slowest) {
    auto load = measurement.load(*task, fastest(task),
                                 static_cast<uint32_t>(loads.size()));
    // The device may refuse what an earlier profile holds.
    if (load) {
      loads.push_back(std::move(*load));
    }
  }
  return loads.empty() ? Status() : link.underCompute(loads, profile.link);
}

} // namespace

void sortFastestFirst(std::vector<MeasuredKernel> &ways) {
  std::stable_sort(ways.begin(), ways.end(),
                   [](const MeasuredKernel &a, const MeasuredKernel &b) {
                     return a.timeNs < b.timeNs;
                   });
}

void MeasuredKernel::slowDown(double slowdown) {
  timeNs =
      std::llround(std::min(double(aloneNs) * slowdown, double(kMaxCount)));
}

/// This plan's kernels may be too short to tell; and what a whole step measured
/// (`withStep`) is nearer to what copies of plans get than what single kernels
/// leave them.
static void keepSlower(double &rate, double known) {
  if (rate == 0 || (known > 0 && known < rate)) {
    rate = known;
  }
}

Result<Profile> measureProfile(const schedule::ScheduleT &plan,
                               const Plugin &plugin,
                               const ProfileOptions &options) {
  Result<std::string> properties = plugin.deviceProperties();
  if (!properties) {
    return properties.error();
  }
  Result<std::unique_ptr<KernelQuery>> query = plugin.createQuery(*properties);
  if (!query) {
    return query.error();
  }
  Result<std::unique_ptr<Device>> device = plugin.createDevice();
  if (!device) {
    return device.error();
  }
  Profile profile;
  profile.kind = (*device)->kind();
  profile.fingerprint = (*device)->fingerprint();
  profile.build = plugin.build();
  profile.properties = *properties;
  if (options.known) {
    if (options.known->kind != profile.kind ||
        options.known->fingerprint != profile.fingerprint) {
      return Error{"the profile to update was made with '" +
                   options.known->fingerprint + "' for '" +
                   options.known->kind + "', this machine has '" +
                   profile.fingerprint + "' for '" + profile.kind +
                   "'; measure everything, without --update"};
    }
    profile.kernels = options.known->kernels;
  }
  Result<TaskList> list = listTasks(plan, **query, options, profile);
  if (!list) {
    return list.error();
  }
  // The copies' bytes lie behind those of every kernel.
  uint64_t arena = list->bytes + kLinkBytes;
  schedule::StreamT streams[3];
  streams[0].kind = schedule::StreamKind::Compute;
  streams[1].kind = schedule::StreamKind::DeviceToHost;
  streams[2].kind = schedule::StreamKind::HostToDevice;
  if (Status status = (*device)->allocate(arena, kLinkHostBytes, streams, 2);
      !status) {
    return status.error();
  }
  LinkMeasurement linkMeasurement(**device, list->bytes);
  Result<MeasuredLink> link = linkMeasurement.alone();
  if (!link) {
    return link.error();
  }
  profile.link = *link;
  Measurement measurement(**device, options);
  Status status = measurement.fill(*list);
  status = status ? measureKernels(list->tasks, measurement, options, profile)
                  : status;
  if (!status) {
    return status.error();
  }
  status = measureUnderCompute(*list, measurement, linkMeasurement, profile);
  if (!status) {
    return status.error();
  }
  DeviceMemory memory = (*device)->memory();
  profile.memoryBytes = memory.totalBytes;
  profile.overheadBytes = memory.usedBytes - std::min(memory.usedBytes, arena);
  if (options.known) {
    keepSlower(profile.link.toHostUnderCompute,
               options.known->link.toHostUnderCompute);
    keepSlower(profile.link.toDeviceUnderCompute,
               options.known->link.toDeviceUnderCompute);
    // Kernels that are kept have not run, so their code is not loaded.
    profile.overheadBytes =
        std::max(profile.overheadBytes, options.known->overheadBytes);
  }
  return profile;
}

} // namespace vdnn::rt
