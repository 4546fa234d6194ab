//===- PaperAccounting.cpp - the byte counts that the vDNN paper reports --===//

#include "vdnn/Planning/PaperAccounting.h"

#include "Layers.h"
#include "PaperPolicies.h"

#include <algorithm>

namespace vdnn::planning {
namespace {

/// Feature maps that a later one overwrites in the forward pass: the framework
/// computes activations in place whether or not anything else would allow it,
/// as long as no one reads the old value again.
std::vector<bool> findOverwritten(const Problem &problem) {
  std::vector<bool> overwritten(problem.tensors.size(), false);
  std::vector<TensorUses> uses = findUses(problem);
  for (OpId id = 0; id < problem.ops.size(); ++id) {
    if (problem.ops[id].phase != Phase::Forward) {
      continue;
    }
    for (InPlacePair pair : problem.ops[id].inPlace) {
      overwritten[pair.from] =
          overwritten[pair.from] ||
          (uses[pair.from].reads.back() == id &&
           problem.tensors[pair.from].bytes == problem.tensors[pair.to].bytes);
    }
  }
  return overwritten;
}

/// Maps that hold another map's elements in another memory layout: the paper's
/// framework has one layout.
std::vector<bool> findCopies(const Problem &problem) {
  std::vector<bool> copies(problem.tensors.size(), false);
  for (const Op &op : problem.ops) {
    if (op.opClass == OpClass::Other && op.reads.size() == 1 &&
        op.writes.size() == 1 &&
        problem.tensors[op.reads[0]].bytes ==
            problem.tensors[op.writes[0]].bytes) {
      copies[op.writes[0]] = true;
    }
  }
  return copies;
}

uint64_t largestWorkspace(const Problem &problem, KernelPreference preference) {
  std::vector<uint32_t> choice = chooseKernels(problem, preference);
  uint64_t largest = 0;
  for (OpId op = 0; op < problem.ops.size(); ++op) {
    largest =
        std::max(largest, problem.ops[op].choices[choice[op]].workspaceBytes);
  }
  return largest;
}

uint64_t offloadedBytes(const Problem &problem, const char *policy) {
  uint64_t sum = 0;
  Solution solution = findPolicy(policy)->plan(problem, {});
  for (const Transfer &transfer : solution.transfers) {
    sum += problem.tensors[transfer.tensor].bytes;
  }
  return sum;
}

} // namespace

PaperAccounting accountAsInPaper(const Problem &problem) {
  PaperAccounting result;
  std::vector<bool> overwritten = findOverwritten(problem);
  std::vector<bool> copies = findCopies(problem);
  for (const FeatureMap &map : findLayers(problem).maps) {
    if (!overwritten[map.tensor] && !copies[map.tensor]) {
      result.featureMaps += problem.tensors[map.tensor].bytes;
    }
  }
  for (const Tensor &tensor : problem.tensors) {
    if (tensor.kind == TensorKind::Parameter && tensor.liveIn) {
      result.weights += tensor.bytes;
    } else if (tensor.kind == TensorKind::Gradient) {
      result.weightGradients += tensor.bytes;
    }
  }
  for (const Op &op : problem.ops) {
    if (op.phase != Phase::Backward) {
      continue;
    }
    for (TensorId tensor : op.writes) {
      if (problem.tensors[tensor].kind == TensorKind::Activation) {
        result.largestGradientMap =
            std::max(result.largestGradientMap, problem.tensors[tensor].bytes);
      }
    }
  }
  result.workspacePerformance =
      largestWorkspace(problem, KernelPreference::Performance);
  result.workspaceMemory = largestWorkspace(problem, KernelPreference::Memory);
  result.baseline = result.featureMaps + result.weights +
                    result.weightGradients + 2 * result.largestGradientMap;
  result.offloadAll = offloadedBytes(problem, "all");
  result.offloadConv = offloadedBytes(problem, "conv");
  return result;
}

} // namespace vdnn::planning
