//===- Budget.cpp - what to say when a plan does not fit
//------------------------------------------------===//

#include "Budget.h"

#include "vdnn/Planning/Policy.h"

#include "runtime/support/Format.h"

using namespace mlir;
using namespace vdnn;

namespace {
/// What another choice of options would need.
struct Alternative {
  std::string options;
  uint64_t deviceBytes;
  uint64_t hostBytes;
};
} // namespace

/// Plans again under every policy and preference of kernels, which is cheap
/// beside the user's time.
static std::vector<Alternative>
findAlternatives(const LoweredStep &lowered, const planning::Problem &choices,
                 const PlanOptions &options) {
  std::vector<Alternative> found;
  for (const planning::Policy *policy : planning::policies()) {
    for (auto preference : {planning::KernelPreference::Performance,
                            planning::KernelPreference::Memory}) {
      bool memory = preference == planning::KernelPreference::Memory;
      planning::PolicyOptions policyOptions;
      policyOptions.kernels = preference;
      policyOptions.sync = options.sync == "layer" ? planning::Sync::Layer
                                                   : planning::Sync::Event;
      planning::Solution solution = policy->plan(choices, policyOptions);
      if (!planning::verify(choices, solution).empty()) {
        continue;
      }
      planning::Program program = planning::buildProgram(choices, solution);
      found.push_back({"--policy=" + std::string(policy->name()) +
                           " --kernels=" + (memory ? "memory" : "performance"),
                       program.devicePeak + lowered.target.overheadBytes,
                       program.hostPeak});
    }
  }
  return found;
}

static std::string describe(uint64_t bytes) {
  return std::to_string(bytes) + " bytes (" + rt::formatBytes(bytes) + ")";
}

static void noteSmaller(Location location,
                        const std::vector<Alternative> &alternatives,
                        uint64_t needed, uint64_t budget,
                        uint64_t Alternative::*bytes) {
  bool any = false;
  for (const Alternative &other : alternatives) {
    if (other.*bytes < needed) {
      emitRemark(location) << other.options << " needs "
                           << describe(other.*bytes)
                           << (other.*bytes <= budget ? ", which fits" : "");
      any = true;
    }
  }
  if (!any) {
    emitRemark(location)
        << "no other policy or kernels need less; a smaller --batch does";
  }
}

LogicalResult vdnn::explainBudgets(const LoweredStep &lowered,
                                   const planning::Problem &choices,
                                   const PlanOptions &options) {
  if (lowered.fitsDevice() && lowered.fitsHost()) {
    return success();
  }
  Location location = UnknownLoc::get(lowered.step->getContext());
  std::vector<Alternative> alternatives =
      findAlternatives(lowered, choices, options);
  std::string policy =
      "policy '" + options.policy + "' with '" + options.kernels + "' kernels";
  if (!lowered.fitsDevice()) {
    const Target &target = lowered.target;
    emitError(location) << "the plan does not fit a budget of "
                        << describe(target.budget) << ": " << policy
                        << " needs at least "
                        << describe(lowered.getDeviceBytes()) << ", set by op '"
                        << lowered.getPeakOp() << "'"
                        << (target.overheadBytes == 0
                                ? std::string()
                                : "; of these " +
                                      describe(target.overheadBytes) +
                                      " are the device's own");
    noteSmaller(location, alternatives, lowered.getDeviceBytes(), target.budget,
                &Alternative::deviceBytes);
  }
  if (!lowered.fitsHost()) {
    emitError(location) << "the plan does not fit a host budget of "
                        << describe(lowered.target.hostBudget) << ": " << policy
                        << " needs at least "
                        << describe(lowered.program.hostPeak);
    noteSmaller(location, alternatives, lowered.program.hostPeak,
                lowered.target.hostBudget, &Alternative::hostBytes);
  }
  return failure();
}
