//===- PaperPolicies.h - none, all, conv of the vDNN paper ----------------===//

#ifndef VDNN_LIB_PLANNING_PAPERPOLICIES_H
#define VDNN_LIB_PLANNING_PAPERPOLICIES_H

#include "vdnn/Planning/Policy.h"

namespace vdnn::planning {

/// Which input feature maps leave the device.
enum class OffloadRule { None, All, Convolutions };

/// Offloads X of the layers that the rule names with their last forward
/// consumer, and brings it back by the paper's window.
class PaperPolicy : public Policy {
public:
  PaperPolicy(std::string_view name, std::string_view summary, OffloadRule rule)
      : policyName(name), policySummary(summary), rule(rule) {}

  std::string_view name() const override { return policyName; }
  std::string_view summary() const override { return policySummary; }
  Solution plan(const Problem &problem,
                const PolicyOptions &options) const override;

private:
  std::string_view policyName;
  std::string_view policySummary;
  OffloadRule rule;
};

/// Per op, the kernel that the preference takes.
std::vector<uint32_t> chooseKernels(const Problem &problem,
                                    KernelPreference preference);

} // namespace vdnn::planning

#endif
