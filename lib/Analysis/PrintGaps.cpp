//===- PrintGaps.cpp - idle gaps between two uses of a tensor -------------===//

#include "PrintSupport.h"

namespace vdnn {
#define GEN_PASS_DEF_PRINTGAPS
#include "vdnn/Analysis/Passes.h.inc"
} // namespace vdnn

using namespace mlir;
using namespace vdnn;

namespace {
struct Gap {
  planning::TensorId tensor;
  planning::OpId before; ///< the op that uses the tensor last before the gap
  planning::OpId after;  ///< the op that reads it next
  int64_t timeNs;
};

struct PrintGapsPass : vdnn::impl::PrintGapsBase<PrintGapsPass> {
  using PrintGapsBase::PrintGapsBase;
  void runOnOperation() override;
};
} // namespace

/// Time for both directions over the link, alone; 0 where the link is unknown.
static int64_t getCopyTimeNs(const planning::Link &link, uint64_t bytes) {
  if (link.deviceToHostBytesPerSecond <= 0 ||
      link.hostToDeviceBytesPerSecond <= 0) {
    return 0;
  }
  double seconds =
      static_cast<double>(bytes) / link.deviceToHostBytesPerSecond +
      static_cast<double>(bytes) / link.hostToDeviceBytesPerSecond;
  return static_cast<int64_t>(seconds * 1e9) + 2 * link.latencyNs;
}

static std::vector<Gap> findGaps(const planning::Problem &problem,
                                 uint64_t minBytes) {
  // Time from the beginning of the step to each op, so that a gap's time is a
  // difference.
  std::vector<int64_t> elapsed(problem.ops.size() + 1, 0);
  for (planning::OpId op = 0; op < problem.ops.size(); ++op) {
    elapsed[op + 1] = elapsed[op] + getTimeNs(problem.ops[op]);
  }
  std::vector<TensorUses> uses = findUses(problem);
  std::vector<Gap> gaps;
  for (planning::TensorId id = 0; id < problem.tensors.size(); ++id) {
    if (problem.tensors[id].bytes < minBytes) {
      continue;
    }
    std::optional<planning::OpId> previous = uses[id].writer;
    for (planning::OpId reader : uses[id].readers) {
      if (previous && reader > *previous + 1) {
        gaps.push_back(
            {id, *previous, reader, elapsed[reader] - elapsed[*previous + 1]});
      }
      previous = reader;
    }
  }
  llvm::stable_sort(gaps, [&](const Gap &a, const Gap &b) {
    return a.timeNs != b.timeNs ? a.timeNs > b.timeNs
                                : problem.tensors[a.tensor].bytes >
                                      problem.tensors[b.tensor].bytes;
  });
  return gaps;
}

void PrintGapsPass::runOnOperation() {
  FailureOr<PlanningProblem> step =
      buildPlanningProblem(getOperation(), /*allowUnknownCost=*/true);
  if (failed(step)) {
    return signalPassFailure();
  }
  const planning::Problem &problem = step->problem;
  std::vector<Gap> gaps = findGaps(problem, minBytes);
  llvm::errs() << "idle gaps of '" << getOperation().getName()
               << "': " << gaps.size() << '\n';
  for (const Gap &gap : gaps) {
    const planning::Tensor &tensor = problem.tensors[gap.tensor];
    int64_t copy = getCopyTimeNs(problem.link, tensor.bytes);
    llvm::errs() << "  " << tensor.name << ": " << tensor.bytes
                 << " bytes idle for " << gap.timeNs << " ns from op "
                 << gap.before << " to op " << gap.after;
    if (copy > 0) {
      llvm::errs() << ", round trip " << copy << " ns, "
                   << (copy <= gap.timeNs ? "can be hidden"
                                          : "cannot be hidden");
    }
    llvm::errs() << '\n';
  }
  markAllAnalysesPreserved();
}
