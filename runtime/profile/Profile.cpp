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

/// A kernel of the plan that is measured once, however often it is launched.
struct Task {
  std::string signature;
  const schedule::KernelT *kernel;
  std::vector<const schedule::TypeT *> reads, writes;
  std::vector<KernelCandidate> candidates;
  /// Each operand has bytes of its own, whatever the plan does in place.
  std::vector<uint64_t> readOffsets, writeOffsets;
  uint64_t operandBytes = 0;

  LaunchTypes types() const { return {reads, writes}; }
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

Result<std::vector<Task>> listTasks(const schedule::ScheduleT &plan,
                                    KernelQuery &query, uint64_t maxWorkspace) {
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
    Result<std::vector<KernelCandidate>> candidates =
        query.candidates(*task.kernel, task.types());
    if (!candidates) {
      return candidates.error();
    }
    for (KernelCandidate &candidate : *candidates) {
      if (candidate.workspaceBytes <= maxWorkspace) {
        task.candidates.push_back(std::move(candidate));
      }
    }
    if (Status status = place(task); !status) {
      return status.error();
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

class Measurement {
public:
  Measurement(Device &device, const ProfileOptions &options, uint64_t arena)
      : device(device), options(options), arena(arena) {}

  /// Numbers that no kernel finds easy: zeros would let a GPU run faster. Both
  /// as f32 and as bf16 they are normally distributed.
  Status fillArena() {
    constexpr size_t kChunk = size_t{64} << 20;
    std::vector<uint16_t> values(std::min<uint64_t>(kChunk, arena) / 2);
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (uint16_t &value : values) {
      value = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(normal(generator)) >> 16);
    }
    std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    for (uint64_t at = 0; at < arena; at += bytes.size()) {
      uint64_t count = std::min<uint64_t>(bytes.size(), arena - at);
      if (Status status = device.upload(at, bytes.first(count)); !status) {
        return status;
      }
    }
    return {};
  }

  Result<std::vector<MeasuredKernel>> measure(const Task &task) {
    if (Status status = clearIntegers(task); !status) {
      return status.error();
    }
    std::vector<MeasuredKernel> measured;
    int64_t best = INT64_MAX;
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
      measured.push_back(std::move(*result));
    }
    std::stable_sort(measured.begin(), measured.end(),
                     [](const MeasuredKernel &a, const MeasuredKernel &b) {
                       return a.timeNs < b.timeNs;
                     });
    return measured;
  }

private:
  /// Labels, indices and masks are zeros: random bits would be out of range.
  Status clearIntegers(const Task &task) {
    for (size_t i = 0; i < task.reads.size(); ++i) {
      schedule::ElementType element = task.reads[i]->element;
      if (element == schedule::ElementType::F32 ||
          element == schedule::ElementType::BF16 ||
          element == schedule::ElementType::F16) {
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

  Result<MeasuredKernel>
  measure(const Task &task, const KernelCandidate &candidate, int64_t best) {
    schedule::KernelT kernel = *task.kernel;
    kernel.algorithm = candidate.algorithm;
    if (Status status = device.prepare(0, kernel, task.types(), {},
                                       candidate.workspaceBytes);
        !status) {
      return status.error();
    }
    LaunchArguments arguments{task.readOffsets, task.writeOffsets,
                              task.operandBytes, candidate.workspaceBytes};
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
  uint64_t arena;
};

} // namespace

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
  Result<std::vector<Task>> tasks =
      listTasks(plan, **query, options.maxWorkspaceBytes);
  if (!tasks) {
    return tasks.error();
  }
  uint64_t arena = kLinkBytes;
  for (const Task &task : *tasks) {
    for (const KernelCandidate &candidate : task.candidates) {
      arena = std::max(arena, task.operandBytes + candidate.workspaceBytes);
    }
  }
  Result<std::unique_ptr<Device>> device = plugin.createDevice();
  if (!device) {
    return device.error();
  }
  schedule::StreamT streams[3];
  streams[0].kind = schedule::StreamKind::Compute;
  streams[1].kind = schedule::StreamKind::DeviceToHost;
  streams[2].kind = schedule::StreamKind::HostToDevice;
  if (Status status = (*device)->allocate(arena, 2 * kLinkBytes, streams, 2);
      !status) {
    return status.error();
  }
  Profile profile;
  profile.kind = (*device)->kind();
  profile.fingerprint = (*device)->fingerprint();
  profile.properties = *properties;
  Result<MeasuredLink> link = measureLink(**device);
  if (!link) {
    return link.error();
  }
  profile.link = *link;
  Measurement measurement(**device, options, arena);
  if (Status status = measurement.fillArena(); !status) {
    return status.error();
  }
  for (size_t i = 0; i < tasks->size(); ++i) {
    const Task &task = (*tasks)[i];
    Result<std::vector<MeasuredKernel>> measured = measurement.measure(task);
    if (!measured) {
      return measured.error();
    }
    if (measured->empty()) {
      return Error{"no way to run '" + task.signature + "' on this device"};
    }
    profile.kernels[task.signature] = std::move(*measured);
    if (options.progress) {
      options.progress(i + 1, tasks->size(), task.signature);
    }
  }
  DeviceMemory memory = (*device)->memory();
  profile.memoryBytes = memory.totalBytes;
  profile.overheadBytes = memory.usedBytes - std::min(memory.usedBytes, arena);
  return profile;
}

} // namespace vdnn::rt
