//===- Registry.cpp - the policies there are ------------------------------===//

#include "PaperPolicies.h"

namespace vdnn::planning {

const std::vector<const Policy *> &policies() {
  static const PaperPolicy none("none", "keeps every tensor on the device",
                                OffloadRule::None);
  static const PaperPolicy all(
      "all", "offloads the input of every feature extraction layer",
      OffloadRule::All);
  static const PaperPolicy conv("conv", "offloads the inputs of convolutions",
                                OffloadRule::Convolutions);
  static const std::vector<const Policy *> list = {&none, &all, &conv};
  return list;
}

const Policy *findPolicy(std::string_view name) {
  for (const Policy *policy : policies()) {
    if (policy->name() == name) {
      return policy;
    }
  }
  return nullptr;
}

} // namespace vdnn::planning
