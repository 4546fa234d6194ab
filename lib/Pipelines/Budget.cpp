//===- Budget.cpp - what to say when a plan does not fit ------------------===//

#include "Budget.h"

#include "vdnn/Planning/Policy.h"

#include "runtime/support/Format.h"

using namespace mlir;
using namespace vdnn;

namespace {
/// What a choice of options needs.
struct Alternative {
  std::string policy;
  std::string kernels;
  uint64_t deviceBytes;
  uint64_t hostBytes;
};

/// One of the two budgets.
struct Exceeded {
  uint64_t Alternative::*bytes;
  uint64_t needed;
  uint64_t budget;
};
} // namespace

/// Plans again under every policy and preference of kernels, which is cheap
/// beside the user's time.
static std::vector<Alternative> findAlternatives(const LoweredStep &lowered,
                                                 planning::Problem choices,
                                                 const PlanOptions &options) {
  std::vector<Alternative> found;
  // Those that were asked for stay; others have given way already. Arguments
  // have the same numbers before and after planning.
  for (size_t id = 0; id < choices.tensors.size(); ++id) {
    if (choices.tensors[id].kind == planning::TensorKind::Input) {
      choices.tensors[id].staged = lowered.planned.problem.tensors[id].staged;
    }
  }
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
      found.push_back({std::string(policy->name()),
                       memory ? "memory" : "performance",
                       planning::smallestBudget(program) +
                           lowered.target.getOverhead(program.hostPeak),
                       program.hostPeak});
    }
  }
  return found;
}

static std::string describe(uint64_t bytes, uint64_t budget) {
  return std::to_string(bytes) + " bytes (" + rt::formatBytes(bytes) + ")" +
         (bytes <= budget ? ", which fits" : "");
}

static void explain(MLIRContext *context,
                    const std::vector<Alternative> &alternatives,
                    const LoweredStep &lowered, const Exceeded &exceeded,
                    const CompileOptions &options) {
  Location location = UnknownLoc::get(context);
  auto bytes = exceeded.bytes;
  auto best = [&](StringRef policy) {
    const Alternative *smallest = nullptr;
    for (const Alternative &other : alternatives) {
      if (other.policy == policy &&
          (!smallest || other.*bytes < smallest->*bytes)) {
        smallest = &other;
      }
    }
    return smallest;
  };
  const PlanOptions &plan = options.plan;
  uint64_t least = exceeded.needed;
  const Alternative *own = best(plan.policy);
  bool otherKernels = own && own->*bytes < least;
  if (otherKernels) {
    least = own->*bytes;
  }
  emitRemark(location) << "policy '" << plan.policy << "' needs at least "
                       << describe(least, exceeded.budget)
                       << (otherKernels ? ", with --kernels=" + own->kernels
                                        : std::string());
  bool any = otherKernels;
  for (const planning::Policy *policy : planning::policies()) {
    const Alternative *other = best(policy->name());
    if (other && other->*bytes < least && policy->name() != plan.policy) {
      emitRemark(location) << "--policy=" << other->policy
                           << " --kernels=" << other->kernels << " needs "
                           << describe(other->*bytes, exceeded.budget);
      any = true;
    }
  }
  if (llvm::any_of(
          lowered.planned.problem.tensors,
          [](const planning::Tensor &tensor) { return tensor.staged; })) {
    emitRemark(location) << "--inputs=direct keeps no input on the device";
    any = true;
  }
  if (bytes == &Alternative::deviceBytes && options.training &&
      options.training->storage == Storage::Paper) {
    emitRemark(location) << "--storage=compact keeps an index instead of the "
                            "input and output of each pool";
    any = true;
  }
  if (!any) {
    emitRemark(location)
        << "no other policy or kernels need less; a smaller --batch does";
  }
}

LogicalResult vdnn::explainBudgets(const LoweredStep &lowered,
                                   const planning::Problem &choices,
                                   const CompileOptions &options) {
  if (succeeded(checkBudgets(lowered))) {
    return success();
  }
  MLIRContext *context = lowered.step->getContext();
  std::vector<Alternative> alternatives =
      findAlternatives(lowered, choices, options.plan);
  if (!lowered.fitsDevice()) {
    explain(context, alternatives, lowered,
            {&Alternative::deviceBytes, lowered.getDeviceBytes(),
             lowered.target.budget},
            options);
  }
  if (!lowered.fitsHost()) {
    explain(context, alternatives, lowered,
            {&Alternative::hostBytes, lowered.program.hostPeak,
             lowered.target.hostBudget},
            options);
  }
  return failure();
}
