//===- Task.cpp -----------------------------------------------------------===//

#include "runtime/profile/Task.h"

#include <algorithm>
#include <map>
#include <set>

namespace vdnn::rt {

static constexpr uint64_t kAlignment = 256;

static uint64_t align(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool isFloat(const schedule::TypeT &type) {
  return type.element == schedule::ElementType::F32 ||
         type.element == schedule::ElementType::BF16 ||
         type.element == schedule::ElementType::F16;
}

namespace {

/// Bytes of one task's operands by where they lie.
struct Regions {
  uint64_t floats = 0, integers = 0, writes = 0;
};

} // namespace

/// Sets the offsets of a task's operands, each within its region, and returns
/// how much of the regions they take.
static Result<Regions> measureRegions(Task &task) {
  Regions regions;
  auto put = [&](const schedule::TypeT &type, uint64_t &region,
                 std::vector<uint64_t> &offsets) -> Status {
    Result<uint64_t> bytes = schedule::typeBytes(type);
    if (!bytes) {
      return bytes.status();
    }
    offsets.push_back(region);
    region += align(*bytes);
    return {};
  };
  Status status;
  for (const schedule::TypeT *type : task.reads) {
    status =
        status ? put(*type, isFloat(*type) ? regions.floats : regions.integers,
                     task.readOffsets)
               : status;
  }
  for (const schedule::TypeT *type : task.writes) {
    status = status ? put(*type, regions.writes, task.writeOffsets) : status;
  }
  return status ? Result<Regions>(regions) : status.error();
}

/// Puts the regions one behind the other, each as large as any task needs.
static Status place(TaskList &list, const Profile &profile) {
  Regions most;
  for (Task &task : list.tasks) {
    Result<Regions> regions = measureRegions(task);
    if (!regions) {
      return regions.status();
    }
    most.floats = std::max(most.floats, regions->floats);
    most.integers = std::max(most.integers, regions->integers);
    most.writes = std::max(most.writes, regions->writes);
  }
  list.floatBytes = most.floats;
  list.integerBytes = most.integers;
  uint64_t writes = most.floats + most.integers,
           workspace = writes + most.writes;
  list.bytes = workspace;
  for (Task &task : list.tasks) {
    for (size_t i = 0; i < task.reads.size(); ++i) {
      task.readOffsets[i] += isFloat(*task.reads[i]) ? 0 : most.floats;
    }
    for (uint64_t &offset : task.writeOffsets) {
      offset += writes;
    }
    task.workspaceOffset = workspace;
    auto hold = [&](const KernelCandidate &candidate) {
      list.bytes =
          std::max(list.bytes, align(workspace + candidate.workspaceBytes));
    };
    std::ranges::for_each(task.candidates, hold);
    if (auto known = profile.kernels.find(task.signature);
        known != profile.kernels.end()) {
      hold(known->second.front().candidate);
    }
  }
  return {};
}

/// Drops what `profile` holds of the kernel and the backend no longer offers,
/// or runs by other code of its own than when it was measured, and lists the
/// candidates that are to be measured.
static Status listCandidates(Task &task, KernelQuery &query,
                             const ProfileOptions &options, Profile &profile) {
  std::vector<MeasuredKernel> known;
  if (auto held = profile.kernels.extract(task.signature)) {
    known = std::move(held.mapped());
  }
  if (!known.empty() && known.front().aloneNs > 0) {
    task.slowdown =
        double(known.front().timeNs) / double(known.front().aloneNs);
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

Result<TaskList> listTasks(const schedule::ScheduleT &plan, KernelQuery &query,
                           const ProfileOptions &options, Profile &profile) {
  TaskList list;
  std::set<std::string> known;
  for (const auto &command : plan.commands) {
    if (command->kind != schedule::CommandKind::Launch) {
      continue;
    }
    Task task;
    task.kernel = plan.kernels[command->kernel].get();
    task.reads = schedule::typesOf(plan, command->reads);
    task.writes = schedule::typesOf(plan, command->writes);
    task.signature = schedule::signature(*task.kernel, task.reads, task.writes);
    if (!known.insert(task.signature).second) {
      continue;
    }
    if (Status status = listCandidates(task, query, options, profile);
        !status) {
      return status.error();
    }
    list.tasks.push_back(std::move(task));
  }
  if (Status status = place(list, profile); !status) {
    return status.error();
  }
  return list;
}

} // namespace vdnn::rt
