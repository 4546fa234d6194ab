//===- Policy.h - who decides what leaves the device ----------------------===//

#ifndef VDNN_PLANNING_POLICY_H
#define VDNN_PLANNING_POLICY_H

#include "vdnn/Planning/Solution.h"

#include <memory>
#include <string_view>

namespace vdnn::planning {

enum class KernelPreference {
  Memory,     ///< the paper's (m): the smallest workspace, then the fastest
  Performance ///< the paper's (p): the fastest, whatever workspace it needs
};

struct PolicyOptions {
  KernelPreference kernels = KernelPreference::Performance;
  Sync sync = Sync::Event;
};

/// Decides residence, transfers and kernels of a problem. Stateless;
/// thread-safe.
class Policy {
public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual Solution plan(const Problem &problem,
                        const PolicyOptions &options) const = 0;
};

/// All policies, in the order in which `--help` lists them: none, all, conv.
const std::vector<const Policy *> &policies();

/// The policy of that name, or nullptr.
const Policy *findPolicy(std::string_view name);

} // namespace vdnn::planning

#endif
