//===- Layers.cpp - a problem as the vDNN paper sees it: layers with input
// feature maps ----------------------===//

#include "Layers.h"

#include <algorithm>

namespace vdnn::planning {
namespace {

/// Per op.
std::vector<bool> findManaged(const Problem &problem) {
  std::vector<bool> managed(problem.ops.size(), false);
  std::vector<bool> behindClassifier(problem.tensors.size(), false);
  std::vector<bool> feedsLoss(problem.tensors.size(), false);
  for (const Op &op : problem.ops) {
    if (op.phase == Phase::Forward && op.opClass == OpClass::Loss) {
      for (TensorId tensor : op.reads) {
        feedsLoss[tensor] = true;
      }
    }
  }
  auto any = [](const std::vector<TensorId> &list,
                const std::vector<bool> &property) {
    return std::any_of(list.begin(), list.end(),
                       [&](TensorId tensor) { return property[tensor]; });
  };
  for (OpId id = 0; id < problem.ops.size(); ++id) {
    const Op &op = problem.ops[id];
    if (op.phase != Phase::Forward) {
      continue;
    }
    bool classifier = op.opClass == OpClass::FullyConnected ||
                      any(op.reads, behindClassifier);
    for (TensorId tensor : op.writes) {
      behindClassifier[tensor] = classifier;
    }
    managed[id] = !classifier && op.opClass != OpClass::Loss &&
                  !any(op.writes, feedsLoss);
  }
  return managed;
}

void findMaps(const Problem &problem, Layers &layers) {
  std::vector<bool> managed = findManaged(problem);
  std::vector<TensorUses> uses = findUses(problem);
  for (TensorId id = 0; id < problem.tensors.size(); ++id) {
    TensorKind kind = problem.tensors[id].kind;
    if (kind == TensorKind::Parameter || kind == TensorKind::State ||
        kind == TensorKind::Gradient) {
      continue;
    }
    FeatureMap map;
    map.tensor = id;
    for (OpId op : uses[id].reads) {
      if (problem.ops[op].phase == Phase::Forward) {
        map.lastConsumer = op;
        map.feedsConvolution |= problem.ops[op].opClass == OpClass::Convolution;
      } else if (map.readAgain == NoOp) {
        map.readAgain = op;
      }
    }
    // A gradient that only the backward pass reads is no feature map.
    if (map.lastConsumer != NoOp) {
      map.managed = managed[map.lastConsumer];
      layers.maps.push_back(map);
    }
  }
}

} // namespace

Layers findLayers(const Problem &problem) {
  Layers layers;
  findMaps(problem, layers);
  size_t count = problem.ops.size();
  layers.endOfLayer.resize(count);
  for (OpId id = count; id-- > 0;) {
    const Op &op = problem.ops[id];
    bool continues = id + 1 < count && op.layer >= 0 &&
                     problem.ops[id + 1].layer == op.layer &&
                     (problem.ops[id + 1].phase == Phase::Forward) ==
                         (op.phase == Phase::Forward);
    layers.endOfLayer[id] = continues ? layers.endOfLayer[id + 1] : id + 1;
  }
  std::vector<bool> seen;
  for (OpId id = 0; id < count; ++id) {
    const Op &op = problem.ops[id];
    if (op.layer < 0) {
      continue;
    }
    if (size_t(op.layer) >= seen.size()) {
      seen.resize(op.layer + 1, false);
      layers.isConvolution.resize(op.layer + 1, false);
    }
    if (op.phase == Phase::Forward) {
      layers.isConvolution[op.layer] =
          layers.isConvolution[op.layer] || op.opClass == OpClass::Convolution;
    } else if (op.phase == Phase::Backward && !seen[op.layer]) {
      seen[op.layer] = true;
      layers.backward.push_back({op.layer, id, layers.endOfLayer[id]});
    }
  }
  return layers;
}

} // namespace vdnn::planning
