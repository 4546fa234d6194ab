//===- Profile.h - what a device takes, measured --------------------------===//
//
// A profile holds the time of every way to run every kernel of a plan, and the
// rates of the link to the host. The compiler plans from it instead of from
// formulas.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_PROFILE_PROFILE_H
#define VDNN_RUNTIME_PROFILE_PROFILE_H

#include "runtime/backend/plugin/Plugin.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace vdnn::rt {

/// The most ns or bytes that a profile may hold; device files refuse more.
inline constexpr uint64_t kMaxCount = 1'000'000'000'000'000;

/// One way to run a kernel, and how long it takes.
struct MeasuredKernel {
  KernelCandidate candidate;
  int64_t timeNs = 0;  ///< in a step, as planning takes it
  int64_t aloneNs = 0; ///< over and over by itself, median
  double spread = 0;   ///< (slowest - fastest) / median of the rounds; not kept
  /// The backend's, as `Plugin::build` named it when this was measured.
  std::string build = {};

  /// Sets the time in a step to so many times that alone.
  void slowDown(double slowdown);
};

/// How long one copy of each direction took, alone.
struct MeasuredCopy {
  uint64_t bytes = 0;
  int64_t toHostNs = 0, toDeviceNs = 0;
};

/// Bytes per second of each direction alone; what share of it is left while
/// both run; ns that a copy takes to start.
struct MeasuredLink {
  double toHost = 0, toDevice = 0, duplexFactor = 1;
  int64_t latencyNs = 0;
  std::vector<MeasuredCopy> copies; ///< the smallest first

  /// How far the two that a plan is made with, latency and rate, are from any
  /// of the copies, as a share.
  double largestError() const;
  /// Of each direction beside kernels that it waits for and that wait for it;
  /// 0: not known.
  double toHostUnderCompute = 0, toDeviceUnderCompute = 0;
};

struct Profile {
  std::string kind;
  std::string fingerprint;
  std::string build;      ///< as `Plugin::build` names it now
  std::string properties; ///< as `Plugin::deviceProperties` gives them
  uint64_t memoryBytes = 0;
  uint64_t overheadBytes = 0; ///< used beside the arena once all kernels ran
  MeasuredLink link;
  /// By `schedule::signature`, fastest first.
  std::map<std::string, std::vector<MeasuredKernel>> kernels;
};

/// Keeps the order of equal times.
void sortFastestFirst(std::vector<MeasuredKernel> &ways);

struct ProfileOptions {
  /// Measurements of each candidate, whose median counts.
  unsigned rounds = 5;
  /// Candidates that need a larger workspace are left out.
  uint64_t maxWorkspaceBytes = uint64_t{16} << 30;
  /// Whether nondeterministic candidates are measured too.
  bool allowNondeterministic = false;
  /// An earlier profile of this device, or null. What it holds is kept, of the
  /// plan's kernels as far as the backend still offers it; these get the
  /// candidates that it lacks.
  const Profile *known = nullptr;
  /// Called after each kernel that is measured: how many of how many, and its
  /// signature.
  std::function<void(size_t done, size_t all, const std::string &signature)>
      progress;
  /// Called for a candidate that the device refuses or fails on, and for what
  /// an earlier profile holds and the backend no longer offers.
  std::function<void(const std::string &signature, const std::string &algorithm,
                     const std::string &why)>
      refused;
};

/// Measures the launches of a plan on the plugin's first device, which nothing
/// else should use meanwhile. An error where a kernel has no way at all to run,
/// or where the known profile is another device's.
Result<Profile> measureProfile(const schedule::ScheduleT &plan,
                               const Plugin &plugin,
                               const ProfileOptions &options);

/// As a device file (docs/cost-model.md). `name`: for people.
std::string toJson(const Profile &profile, const std::string &name);

/// What an update keeps of what `toJson` wrote: the kernels, the overhead, and
/// the link's rates under compute.
Result<Profile> parseProfile(const std::string &text);

} // namespace vdnn::rt

#endif
