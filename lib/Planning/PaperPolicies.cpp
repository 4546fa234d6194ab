//===- PaperPolicies.cpp - none, all, conv of the vDNN paper --------------===//
//
// Rhu et al., "vDNN: Virtualized Deep Neural Networks for Scalable,
// Memory-Efficient Neural Network Design", MICRO 2016.
//
//===----------------------------------------------------------------------===//

#include "PaperPolicies.h"

#include "Buffers.h"
#include "Costs.h"
#include "Forecast.h"
#include "Layers.h"
#include "Uses.h"

#include <algorithm>
#include <tuple>

namespace vdnn::planning {
namespace {

class Planner {
public:
  Planner(const Problem &problem, const PolicyOptions &options,
          OffloadRule rule)
      : problem(problem), options(options), rule(rule),
        layers(findLayers(problem)) {
    solution.choice = chooseKernels(problem, options.kernels);
    solution.tensors.resize(problem.tensors.size());
  }

  Solution run() {
    explainKept();
    chooseMaps();
    schedulePrefetches();
    finishTransfers();
    if (options.sync == Sync::Layer) {
      addBarriers();
    } else {
      delayReleases();
    }
    explainOffloaded();
    return std::move(solution);
  }

private:
  void keep(TensorId tensor, const char *reason) {
    solution.tensors[tensor].reason = std::string("kept: ") + reason;
  }

  /// What holds for every tensor that is not the input of some layer, too.
  void explainKept() {
    std::vector<TensorUses> uses = findUses(problem);
    for (TensorId id = 0; id < problem.tensors.size(); ++id) {
      if (isIdle(problem.tensors[id], uses[id])) {
        keep(id, "on the host, no op needs it");
        continue;
      }
      switch (problem.tensors[id].kind) {
      case TensorKind::Parameter:
        keep(id, "parameter");
        break;
      case TensorKind::State:
        keep(id, "state");
        break;
      case TensorKind::Gradient:
        keep(id, "gradient");
        break;
      case TensorKind::Output:
        keep(id, "output");
        break;
      case TensorKind::Input:
      case TensorKind::Activation:
        keep(id,
             rule == OffloadRule::None ? "policy" : "not the input of a layer");
        break;
      }
    }
  }

  /// Why a map stays, or nullptr if it leaves.
  const char *reasonToKeep(const FeatureMap &map) const {
    const Tensor &tensor = problem.tensors[map.tensor];
    if (tensor.liveIn || tensor.liveOut || tensor.kind == TensorKind::Output ||
        tensor.staged) {
      return "lives beyond the step";
    }
    if (rule == OffloadRule::None) {
      return "policy";
    }
    if (map.readAgain == NoOp) {
      return "dead after the forward pass";
    }
    if (!map.managed) {
      return "input of the classifier or of the last layer";
    }
    if (rule == OffloadRule::Convolutions && !map.feedsConvolution) {
      return "not the input of a convolution";
    }
    if (map.readAgain <= layers.endOfLayer[map.lastConsumer]) {
      return "read again at once";
    }
    return nullptr;
  }

  void chooseMaps() {
    offloadedBy.resize(layers.isConvolution.size());
    for (const FeatureMap &map : layers.maps) {
      if (const char *reason = reasonToKeep(map)) {
        keep(map.tensor, reason);
        continue;
      }
      solution.tensors[map.tensor].residence = Residence::Offload;
      Transfer transfer;
      transfer.tensor = map.tensor;
      transfer.offloadAt = map.lastConsumer;
      transfer.releaseAt = layers.endOfLayer[map.lastConsumer];
      transfer.prefetchAt = transfer.neededAt = map.readAgain;
      int32_t layer = problem.ops[map.lastConsumer].layer;
      if (layer >= 0) {
        offloadedBy[layer].push_back(solution.transfers.size());
      }
      solution.transfers.push_back(transfer);
    }
  }

  /// The layer whose inputs backward layer `m` brings back, or -1: the nearest
  /// earlier layer with an input on the host, but never one behind a
  /// convolution that needs none, so that what comes back does not fill the
  /// memory long before it is used.
  int32_t findPrefetchLayer(int32_t m) const {
    for (int32_t n = m - 1; n >= 0; --n) {
      const std::vector<size_t> &list = offloadedBy[n];
      if (std::any_of(list.begin(), list.end(),
                      [&](size_t t) { return !isBack[t]; })) {
        return n;
      }
      if (layers.isConvolution[n]) {
        return -1;
      }
    }
    return -1;
  }

  void schedulePrefetches() {
    isBack.assign(solution.transfers.size(), false);
    std::vector<size_t> byNeed(solution.transfers.size());
    for (size_t t = 0; t < byNeed.size(); ++t) {
      byNeed[t] = t;
    }
    std::sort(byNeed.begin(), byNeed.end(), [&](size_t a, size_t b) {
      return std::pair(solution.transfers[a].neededAt, a) <
             std::pair(solution.transfers[b].neededAt, b);
    });
    size_t next = 0;
    for (const BackwardLayer &layer : layers.backward) {
      // What this layer reads and no window has brought back comes on demand,
      // right before it.
      for (; next < byNeed.size() &&
             solution.transfers[byNeed[next]].neededAt < layer.end;
           ++next) {
        if (!isBack[byNeed[next]]) {
          Transfer &transfer = solution.transfers[byNeed[next]];
          bring(byNeed[next], std::min(layer.begin, transfer.neededAt));
        }
      }
      int32_t earlier = findPrefetchLayer(layer.layer);
      if (earlier < 0) {
        continue;
      }
      for (size_t t : offloadedBy[earlier]) {
        if (!isBack[t]) {
          bring(t, layer.begin);
        }
      }
      windows.push_back(layer.end);
    }
  }

  void bring(size_t transfer, OpId at) {
    Transfer &trip = solution.transfers[transfer];
    trip.prefetchAt = std::max(at, trip.releaseAt);
    isBack[transfer] = true;
  }

  void finishTransfers() {
    std::sort(solution.transfers.begin(), solution.transfers.end(),
              [](const Transfer &a, const Transfer &b) {
                return std::tie(a.offloadAt, a.tensor) <
                       std::tie(b.offloadAt, b.tensor);
              });
  }

  /// The paper's synchronisation: all streams meet at the end of each layer
  /// that copies.
  void addBarriers() {
    std::vector<OpId> &barriers = solution.barriers;
    barriers = windows;
    for (const Transfer &transfer : solution.transfers) {
      // Nothing is copied when an input leaves: the host still has it.
      if (problem.tensors[transfer.tensor].kind != TensorKind::Input) {
        barriers.push_back(transfer.releaseAt);
      }
    }
    std::sort(barriers.begin(), barriers.end());
    barriers.erase(std::unique(barriers.begin(), barriers.end()),
                   barriers.end());
    while (!barriers.empty() && barriers.back() >= problem.ops.size()) {
      barriers.pop_back();
    }
  }

  /// Without barriers a range is released only where its copy is likely to be
  /// over, so that nothing waits, as long as this makes the arena no longer
  /// than releasing at once does (or than the budget allows).
  void delayReleases() {
    const Solution early = solution;
    uint64_t limit = std::max(packedBytes(), problem.deviceBudget.value_or(0));
    // A fuller arena leaves gaps; where they make it too long, fill it less.
    for (uint64_t percent : {100, 98, 95, 90, 80}) {
      delayReleases(percent == 100 ? limit : limit / 100 * percent);
      if (packedBytes() <= limit) {
        return;
      }
      solution = early;
    }
  }

  uint64_t packedBytes() const {
    return packArena(problem, planBuffers(problem, solution).device).peak;
  }

  /// `limit`: of the sum of live bytes, where a release is delayed.
  void delayReleases(uint64_t limit) {
    std::vector<uint64_t> live =
        deviceProfile(problem, planBuffers(problem, solution));
    std::vector<int64_t> starts = opStarts(problem, solution.choice);
    std::vector<int64_t> ends = forecastOffloads(problem, solution);
    for (size_t t = 0; t < solution.transfers.size(); ++t) {
      Transfer &transfer = solution.transfers[t];
      uint64_t bytes =
          alignUp(problem.tensors[transfer.tensor].bytes, problem.alignment);
      while (transfer.releaseAt < transfer.prefetchAt &&
             starts[transfer.releaseAt] < ends[t] &&
             live[transfer.releaseAt] + bytes <= limit) {
        live[transfer.releaseAt] += bytes;
        ++transfer.releaseAt;
      }
    }
  }

  void explainOffloaded() {
    std::vector<int64_t> starts = opStarts(problem, solution.choice);
    std::vector<int64_t> waits = forecastWaits(problem, solution);
    for (size_t t = 0; t < solution.transfers.size(); ++t) {
      const Transfer &transfer = solution.transfers[t];
      const Tensor &tensor = problem.tensors[transfer.tensor];
      bool isInput = tensor.kind == TensorKind::Input;
      int64_t idle = starts[transfer.neededAt] - starts[transfer.offloadAt + 1];
      int64_t copy = isInput ? prefetchTime(problem, tensor.bytes)
                             : offloadTime(problem, tensor.bytes);
      solution.tensors[transfer.tensor].reason =
          (isInput ? "dropped and copied in again: idle "
                   : "offloaded: idle ") +
          formatTime(idle) + ", " + formatBytes(tensor.bytes) + ", copy " +
          formatTime(copy) +
          (waits[t] > 0 ? ", waits " + formatTime(waits[t]) : ", hidden");
    }
  }

  const Problem &problem;
  const PolicyOptions &options;
  OffloadRule rule;
  Layers layers;
  Solution solution;
  /// Per layer number: the transfers of its inputs.
  std::vector<std::vector<size_t>> offloadedBy;
  /// Per transfer: whether a prefetch has been given a place.
  std::vector<bool> isBack;
  /// Ends of the backward layers that bring something back.
  std::vector<OpId> windows;
};

} // namespace

std::vector<uint32_t> chooseKernels(const Problem &problem,
                                    KernelPreference preference) {
  std::vector<uint32_t> chosen;
  for (const Op &op : problem.ops) {
    auto better = [&](const KernelChoice &a, const KernelChoice &b) {
      return preference == KernelPreference::Memory
                 ? std::tie(a.workspaceBytes, a.timeNs) <
                       std::tie(b.workspaceBytes, b.timeNs)
                 : std::tie(a.timeNs, a.workspaceBytes) <
                       std::tie(b.timeNs, b.workspaceBytes);
    };
    auto best = std::min_element(op.choices.begin(), op.choices.end(), better);
    chosen.push_back(best - op.choices.begin());
  }
  return chosen;
}

Solution PaperPolicy::plan(const Problem &problem,
                           const PolicyOptions &options) const {
  return Planner(problem, options, rule).run();
}

} // namespace vdnn::planning
