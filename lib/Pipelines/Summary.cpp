//===- Summary.cpp - what was planned, for people and for programs --------===//

#include "vdnn/Pipelines/Summary.h"

#include "runtime/support/Format.h"

#include "llvm/Support/JSON.h"

using namespace vdnn;

namespace {
struct Counts {
  unsigned tensors = 0;
  unsigned kept = 0;
  unsigned offloaded = 0;
};
} // namespace

static Counts countDecisions(const PlanningProblem &planned) {
  Counts counts;
  for (planning::TensorId id = 0; id < planned.problem.tensors.size(); ++id) {
    if (planned.problem.tensors[id].tiedTo) {
      continue;
    }
    ++counts.tensors;
    bool offloaded =
        planned.solution.tensors[id].residence == planning::Residence::Offload;
    ++(offloaded ? counts.offloaded : counts.kept);
  }
  return counts;
}

/// Bytes of the inputs whose next value comes in while a step runs.
static uint64_t getStagedBytes(const planning::Problem &problem) {
  uint64_t bytes = 0;
  for (const planning::Tensor &tensor : problem.tensors) {
    bytes += tensor.staged ? tensor.bytes : 0;
  }
  return bytes;
}

/// "38.3 MiB staged", or why there are none.
static std::string describeInputs(const PlanningProblem &planned) {
  if (uint64_t bytes = getStagedBytes(planned.problem)) {
    return rt::formatBytes(bytes) +
           " staged: they come in while the step before runs";
  }
  for (const planning::TensorDecision &decision : planned.solution.tensors) {
    constexpr llvm::StringLiteral Marker = "; not staged: ";
    size_t at = llvm::StringRef(decision.reason).find(Marker);
    if (at != llvm::StringRef::npos) {
      return "direct, not staged: " +
             decision.reason.substr(at + Marker.size());
    }
  }
  return "direct";
}

/// How much longer the arena is than it must be, in percent.
static double getGap(const planning::Program &program) {
  if (program.deviceLowerBound == 0) {
    return 0;
  }
  return 100.0 * (static_cast<double>(program.devicePeak) /
                      static_cast<double>(program.deviceLowerBound) -
                  1);
}

void vdnn::printSummary(llvm::raw_ostream &stream, const std::string &model,
                        const CompileOptions &options,
                        const CompiledModel &compiled) {
  const LoweredStep &lowered = *compiled.lowered;
  const planning::Program &program = lowered.program;
  const planning::Statistics &statistics = lowered.statistics;
  Counts counts = countDecisions(lowered.planned);
  auto bytes = [](uint64_t count) { return rt::formatBytes(count); };
  stream << "model       " << model << ": "
         << (options.training ? "training step" : "inference") << ", "
         << lowered.planned.problem.ops.size() << " ops, " << counts.tensors
         << " tensors\n"
         << "device      " << lowered.target.name << '\n'
         << "policy      " << options.plan.policy << ", "
         << options.plan.kernels << " kernels, sync by " << options.plan.sync
         << '\n';
  if (compiled.schedule->allow_nondeterministic) {
    size_t count = schedule::countNondeterministic(*compiled.schedule);
    stream << "bits        " << count << " nondeterministic kernels: results "
           << (count > 0 ? "may differ in the last bits from run to run\n"
                         : "are the same in every run\n");
  }
  stream << "inputs      " << describeInputs(lowered.planned) << '\n'
         << "arena       " << bytes(program.devicePeak) << ", lower bound "
         << bytes(program.deviceLowerBound) << " (gap "
         << rt::format("%.2f", getGap(program)) << " %), average "
         << bytes(statistics.averageDeviceBytes) << '\n'
         << "process     " << bytes(lowered.getDeviceBytes())
         << " on the device";
  if (lowered.target.budget != 0) {
    stream << " of a budget of " << bytes(lowered.target.budget);
  }
  stream << ", " << bytes(program.hostPeak) << " pinned on the host\n"
         << "decisions   " << counts.kept << " kept, " << counts.offloaded
         << " offloaded; " << bytes(statistics.offloadedBytes)
         << " to the host, " << bytes(statistics.prefetchedBytes) << " back\n"
         << "step        " << rt::formatDuration(statistics.stepNs)
         << " predicted, of these " << rt::formatDuration(statistics.stallNs)
         << " stalled; copies " << rt::formatDuration(statistics.copyNs) << ", "
         << rt::format("%.1f", 100 * statistics.hiddenShare) << " % hidden\n"
         << "peak        " << bytes(statistics.peakLiveBytes) << " live at '"
         << lowered.getPeakOp() << "'";
  for (size_t i = 0; i < statistics.peakMakers.size() && i < 3; ++i) {
    stream << (i == 0 ? ": " : ", ") << statistics.peakMakers[i].name << ' '
           << bytes(statistics.peakMakers[i].bytes);
  }
  if (statistics.peakMakers.size() > 3) {
    stream << " and " << statistics.peakMakers.size() - 3 << " more";
  }
  stream << "\nplanned in  " << rt::formatDuration(compiled.planningNs) << '\n';
}

void vdnn::printJsonSummary(llvm::raw_ostream &stream, const std::string &model,
                            const CompileOptions &options,
                            const CompiledModel &compiled) {
  const LoweredStep &lowered = *compiled.lowered;
  const planning::Program &program = lowered.program;
  const planning::Statistics &statistics = lowered.statistics;
  const planning::PaperAccounting &paper = compiled.paper;
  Counts counts = countDecisions(lowered.planned);
  llvm::json::Array makers;
  for (const planning::PeakMaker &maker : statistics.peakMakers) {
    makers.push_back(
        llvm::json::Object{{"name", maker.name}, {"bytes", maker.bytes}});
  }
  llvm::json::Object summary{
      {"model", model},
      {"training", options.training.has_value()},
      {"device", lowered.target.name},
      {"policy", options.plan.policy},
      {"kernels", options.plan.kernels},
      {"sync", options.plan.sync},
      {"allow_nondeterministic", compiled.schedule->allow_nondeterministic},
      {"nondeterministic_kernels",
       schedule::countNondeterministic(*compiled.schedule)},
      {"staged_bytes", getStagedBytes(lowered.planned.problem)},
      {"ops", lowered.planned.problem.ops.size()},
      {"tensors", counts.tensors},
      {"kept", counts.kept},
      {"offloaded", counts.offloaded},
      {"budget", lowered.target.budget},
      {"overhead_bytes", lowered.getOverheadBytes()},
      {"device_bytes", lowered.getDeviceBytes()},
      {"device_arena", program.devicePeak},
      {"lower_bound_bytes", program.deviceLowerBound},
      {"average_bytes", statistics.averageDeviceBytes},
      {"host_arena", program.hostPeak},
      {"offloaded_bytes", statistics.offloadedBytes},
      {"prefetched_bytes", statistics.prefetchedBytes},
      {"step_ns", statistics.stepNs},
      {"compute_ns", statistics.computeNs},
      {"stall_ns", statistics.stallNs},
      {"copy_ns", statistics.copyNs},
      {"hidden_share", statistics.hiddenShare},
      {"peak_op", lowered.getPeakOp()},
      {"peak", std::move(makers)},
      {"planning_ns", compiled.planningNs},
      {"paper",
       llvm::json::Object{{"feature_maps", paper.featureMaps},
                          {"weights", paper.weights},
                          {"weight_gradients", paper.weightGradients},
                          {"largest_gradient_map", paper.largestGradientMap},
                          {"workspace_performance", paper.workspacePerformance},
                          {"workspace_memory", paper.workspaceMemory},
                          {"baseline", paper.baseline},
                          {"offload_all", paper.offloadAll},
                          {"offload_conv", paper.offloadConv}}}};
  stream << llvm::json::Value(std::move(summary)) << '\n';
}

void vdnn::printPaperAccounting(llvm::raw_ostream &stream,
                                const planning::PaperAccounting &paper) {
  std::pair<const char *, uint64_t> rows[] = {
      {"feature maps", paper.featureMaps},
      {"weights", paper.weights},
      {"weight gradients", paper.weightGradients},
      {"largest gradient map", paper.largestGradientMap},
      {"baseline (two of them)", paper.baseline},
      {"largest workspace (p)", paper.workspacePerformance},
      {"largest workspace (m)", paper.workspaceMemory},
      {"offloaded by all", paper.offloadAll},
      {"offloaded by conv", paper.offloadConv}};
  stream << "as the vDNN paper counts\n";
  for (auto [name, bytes] : rows) {
    stream << rt::format("  %-24s %14llu bytes  %s\n", name,
                         static_cast<unsigned long long>(bytes),
                         rt::formatBytes(bytes).c_str());
  }
}
