//===- CudaBackend.cpp - the cuda backend in the conformance suite --------===//

#include "Backend.h"

#include "runtime/backend/plugin/Plugin.h"

#include <cstdio>
#include <cstdlib>

namespace vdnn::rt::conformance {

/// The suite needs a GPU: without one it ends here, and says why.
template <typename T>
static T require(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "error: %s\n", result.message().c_str());
    std::exit(1);
  }
  return std::move(*result);
}

static const Plugin &plugin() {
  static const Plugin *loaded = require(loadPlugin("cuda"));
  return *loaded;
}

static Result<std::vector<KernelCandidate>>
candidates(const schedule::KernelT &kernel, const LaunchTypes &types) {
  static const std::unique_ptr<KernelQuery> query =
      require(plugin().createQuery(require(plugin().deviceProperties())));
  return query->candidates(kernel, types);
}

static Result<uint64_t> workspaceBytes(const schedule::KernelT &kernel,
                                       const LaunchTypes &types) {
  Result<std::vector<KernelCandidate>> all = candidates(kernel, types);
  if (!all) {
    return all.error();
  }
  for (const KernelCandidate &candidate : *all) {
    // Without a name: the first that is deterministic and in full precision.
    if (kernel.algorithm.empty()
            ? !candidate.reducedPrecision && !candidate.nondeterministic
            : candidate.algorithm == kernel.algorithm) {
      return candidate.workspaceBytes;
    }
  }
  return Error{"no algorithm '" + kernel.algorithm + "'"};
}

/// In full precision: the suite's tolerances are those of f32.
static std::vector<std::string> algorithms(const schedule::KernelT &kernel,
                                           const LaunchTypes &types) {
  std::vector<std::string> names;
  Result<std::vector<KernelCandidate>> all = candidates(kernel, types);
  if (all) {
    for (const KernelCandidate &candidate : *all) {
      if (!candidate.reducedPrecision) {
        names.push_back(candidate.algorithm);
      }
    }
  }
  return names;
}

const Backend &backend() {
  static const Backend cuda{256,
                            true,
                            true,
                            [] { return require(plugin().createDevice()); },
                            workspaceBytes,
                            algorithms};
  return cuda;
}

} // namespace vdnn::rt::conformance
