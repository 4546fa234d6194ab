//===- Profile.cpp - measuring kernels ------------------------------------===//

#include "runtime/profile/Profile.h"

#include "runtime/profile/Link.h"
#include "runtime/support/Format.h"

#include <algorithm>
#include <bit>
#include <random>

namespace vdnn::rt {

namespace {

constexpr uint64_t kAlignment = 256;
/// Work of one measurement: long beside the clock's grain and a launch.
constexpr int64_t kWorkNs = 2'000'000;
constexpr uint32_t kCompute = 0;

uint64_t align(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool isFloat(const schedule::TypeT *type) {
  return type->element == schedule::ElementType::F32 ||
         type->element == schedule::ElementType::BF16 ||
         type->element == schedule::ElementType::F16;
}

/// A kernel of the plan that is measured once, however often it is launched.
struct Task {
  std::string signature;
  const schedule::KernelT *kernel;
  std::vector<const schedule::TypeT *> reads, writes;
  std::vector<KernelCandidate> candidates; ///< those not measured yet
  /// Each operand has bytes of its own, whatever the plan does in place.
  std::vector<uint64_t> readOffsets, writeOffsets;
  uint64_t operandBytes = 0;

  LaunchTypes types() const { return {reads, writes}; }
  LaunchArguments arguments(uint64_t workspaceBytes) const {
    return {readOffsets, writeOffsets, operandBytes, workspaceBytes};
  }
};

Status place(Task &task) {
  auto put = [&](const std::vector<const schedule::TypeT *> &types,
                 std::vector<uint64_t> &offsets) -> Status {
    for (const schedule::TypeT *type : types) {
      Result<uint64_t> bytes = schedule::typeBytes(*type);
      if (!bytes) {
        return bytes.status();
      }
      offsets.push_back(task.operandBytes);
      task.operandBytes += align(*bytes);
    }
    return {};
  };
  Status status = put(task.reads, task.readOffsets);
  return status ? put(task.writes, task.writeOffsets) : status;
}

/// Drops what `profile` holds of the kernel and the backend no longer offers,
/// or runs by other code of its own than when it was measured, and lists the
/// candidates that are to be measured.
Status listCandidates(Task &task, KernelQuery &query,
                      const ProfileOptions &options, Profile &profile) {
  std::vector<MeasuredKernel> known;
  if (auto held = profile.kernels.extract(task.signature)) {
    known = std::move(held.mapped());
  }
  schedule::KernelT kernel = *task.kernel;
  // What an earlier profile holds stays, allowed now or not.
  kernel.nondeterministic =
      options.allowNondeterministic ||
      std::ranges::any_of(known, [](const MeasuredKernel &way) {
        return way.candidate.nondeterministic;
      });
  Result<std::vector<KernelCandidate>> candidates =
      query.candidates(kernel, task.types());
  if (!candidates) {
    return candidates.status();
  }
  std::map<std::string, MeasuredKernel> gone;
  for (MeasuredKernel &way : known) {
    gone.try_emplace(way.candidate.algorithm, std::move(way));
  }
  std::vector<MeasuredKernel> kept;
  for (KernelCandidate &candidate : *candidates) {
    auto held = gone.extract(candidate.algorithm);
    bool isKnown = !held.empty();
    if (isKnown &&
        (held.mapped().build == profile.build || !candidate.ownCode)) {
      MeasuredKernel &way = held.mapped();
      // What it is, the backend knows better than the file.
      way.candidate.reducedPrecision = candidate.reducedPrecision;
      way.candidate.nondeterministic = candidate.nondeterministic;
      way.build = profile.build;
      kept.push_back(std::move(way));
    } else if (candidate.workspaceBytes <= options.maxWorkspaceBytes &&
               (isKnown || !candidate.nondeterministic ||
                options.allowNondeterministic)) {
      task.candidates.push_back(std::move(candidate));
    }
  }
  if (task.candidates.empty() && kept.empty()) {
    return Error{
        "every way to run '" + task.signature +
        "' needs more workspace than may be measured; raise --max-workspace"};
  }
  for (const auto &[algorithm, way] : gone) {
    if (options.refused) {
      options.refused(task.signature, algorithm,
                      "the backend no longer offers it");
    }
  }
  if (!kept.empty()) {
    sortFastestFirst(kept);
    profile.kernels[task.signature] = std::move(kept);
  }
  return {};
}

Result<std::vector<Task>> listTasks(const schedule::ScheduleT &plan,
                                    KernelQuery &query,
                                    const ProfileOptions &options,
                                    Profile &profile) {
  std::vector<Task> tasks;
  std::map<std::string, size_t> known;
  for (const auto &command : plan.commands) {
    if (command->kind != schedule::CommandKind::Launch) {
      continue;
    }
    Task task;
    task.kernel = plan.kernels[command->kernel].get();
    for (const schedule::Operand &operand : command->reads) {
      task.reads.push_back(plan.types[operand.type()].get());
    }
    for (const schedule::Operand &operand : command->writes) {
      task.writes.push_back(plan.types[operand.type()].get());
    }
    task.signature = schedule::signature(*task.kernel, task.reads, task.writes);
    if (!known.try_emplace(task.signature, tasks.size()).second) {
      continue;
    }
    Status status = listCandidates(task, query, options, profile);
    status = status ? place(task) : status;
    if (!status) {
      return status.error();
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

class Measurement {
public:
  Measurement(Device &device, const ProfileOptions &options)
      : device(device), options(options) {}

  /// The first bytes of the arena. Numbers that no kernel finds easy: zeros
  /// would let a GPU run faster. Both as f32 and as bf16 they are normally
  /// distributed.
  Status fill(uint64_t end) {
    constexpr size_t kChunk = size_t{64} << 20;
    std::vector<uint16_t> values(std::min<uint64_t>(kChunk, end) / 2);
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (uint16_t &value : values) {
      value = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(normal(generator)) >> 16);
    }
    std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    for (uint64_t at = 0; at < end; at += bytes.size()) {
      uint64_t count = std::min<uint64_t>(bytes.size(), end - at);
      if (Status status = device.upload(at, bytes.first(count)); !status) {
        return status;
      }
    }
    return {};
  }

  /// Adds to the ways that are known, the fastest first.
  Status measure(const Task &task, std::vector<MeasuredKernel> &ways) {
    if (Status status = clearIntegers(task); !status) {
      return status;
    }
    int64_t best = ways.empty() ? INT64_MAX : ways.front().timeNs;
    for (const KernelCandidate &candidate : task.candidates) {
      Result<MeasuredKernel> result = measure(task, candidate, best);
      if (!result) {
        if (options.refused) {
          options.refused(task.signature, candidate.algorithm,
                          result.message());
        }
        continue;
      }
      best = std::min(best, result->timeNs);
      ways.push_back(std::move(*result));
    }
    sortFastestFirst(ways);
    return {};
  }

  /// Gets a task ready to be launched in one of its measured ways.
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
    return ComputeLoad{way.timeNs, launch};
  }

private:
  /// Labels, indices and masks are zeros: random bits would be out of range.
  Status clearIntegers(const Task &task) {
    for (size_t i = 0; i < task.reads.size(); ++i) {
      if (isFloat(task.reads[i])) {
        continue;
      }
      std::vector<std::byte> zeros(*schedule::typeBytes(*task.reads[i]));
      if (Status status = device.upload(task.readOffsets[i], zeros); !status) {
        return status;
      }
    }
    return {};
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

  Result<MeasuredKernel>
  measure(const Task &task, const KernelCandidate &candidate, int64_t best) {
    if (Status status = prepare(task, candidate); !status) {
      return status.error();
    }
    LaunchArguments arguments = task.arguments(candidate.workspaceBytes);
    Result<int64_t> once = run(arguments, 1); // Loads the code.
    once = once ? run(arguments, 1) : once;
    if (!once) {
      return once.error();
    }
    MeasuredKernel result{candidate, *once, 0};
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
    result.timeNs = times[times.size() / 2];
    result.spread = double(times.back() - times.front()) /
                    double(std::max<int64_t>(result.timeNs, 1));
    return result;
  }

  Device &device;
  const ProfileOptions &options;
};

/// What the tasks' operands and workspaces need, whichever way they run.
uint64_t countKernelBytes(const std::vector<Task> &tasks,
                          const Profile &profile) {
  uint64_t bytes = 0;
  auto hold = [&](const Task &task, const KernelCandidate &candidate) {
    bytes = std::max(bytes, task.operandBytes + candidate.workspaceBytes);
  };
  for (const Task &task : tasks) {
    for (const KernelCandidate &candidate : task.candidates) {
      hold(task, candidate);
    }
    if (auto known = profile.kernels.find(task.signature);
        known != profile.kernels.end()) {
      hold(task, known->second.front().candidate);
    }
  }
  return align(bytes);
}

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

/// Under the tasks whose fastest ways take longest: they are most like what
/// copies of a plan run beside.
Status measureUnderCompute(const std::vector<Task> &tasks,
                           Measurement &measurement, LinkMeasurement &link,
                           Profile &profile) {
  constexpr size_t kMostLoads = 24;
  auto best = [&](const Task *task) -> const MeasuredKernel & {
    return profile.kernels.at(task->signature).front();
  };
  std::vector<const Task *> slowest;
  for (const Task &task : tasks) {
    // What one leaves behind would be another's labels and indices.
    if (best(&task).timeNs >= kShortestLoadNs &&
        std::ranges::all_of(task.reads, isFloat)) {
      slowest.push_back(&task);
    }
  }
  std::stable_sort(slowest.begin(), slowest.end(),
                   [&](const Task *a, const Task *b) {
                     return best(a).timeNs > best(b).timeNs;
                   });
  slowest.resize(std::min(slowest.size(), kMostLoads));
  uint64_t bytes = 0;
  for (const Task *task : slowest) {
    bytes = std::max(bytes, task->operandBytes);
  }
  if (Status status = measurement.fill(bytes); !status) {
    return status;
  }
  std::vector<ComputeLoad> loads;
  for (const Task *task : slowest) {
    auto command = static_cast<uint32_t>(loads.size());
    // A way from an earlier profile that the device now refuses tells nothing.
    if (auto load = measurement.load(*task, best(task), command)) {
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

/// This plan's kernels may be too short to tell; and what a whole step measured
/// (`withRates`) is nearer to what copies of plans get than what single kernels
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
  Result<std::vector<Task>> tasks = listTasks(plan, **query, options, profile);
  if (!tasks) {
    return tasks.error();
  }
  // The copies' bytes lie behind those of every kernel.
  uint64_t kernelBytes = countKernelBytes(*tasks, profile);
  uint64_t arena = kernelBytes + kLinkBytes;
  schedule::StreamT streams[3];
  streams[0].kind = schedule::StreamKind::Compute;
  streams[1].kind = schedule::StreamKind::DeviceToHost;
  streams[2].kind = schedule::StreamKind::HostToDevice;
  if (Status status = (*device)->allocate(arena, kLinkHostBytes, streams, 2);
      !status) {
    return status.error();
  }
  LinkMeasurement linkMeasurement(**device, kernelBytes);
  Result<MeasuredLink> link = linkMeasurement.alone();
  if (!link) {
    return link.error();
  }
  profile.link = *link;
  Measurement measurement(**device, options);
  Status status = measurement.fill(kernelBytes);
  status =
      status ? measureKernels(*tasks, measurement, options, profile) : status;
  status = status ? measureUnderCompute(*tasks, measurement, linkMeasurement,
                                        profile)
                  : status;
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
