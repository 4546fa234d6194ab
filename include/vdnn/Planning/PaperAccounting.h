//===- PaperAccounting.h - the byte counts that the vDNN paper reports ----===//

#ifndef VDNN_PLANNING_PAPERACCOUNTING_H
#define VDNN_PLANNING_PAPERACCOUNTING_H

#include "vdnn/Planning/Problem.h"

namespace vdnn::planning {

/// Bytes, as a framework without virtualisation allocates them for one training
/// step: everything for the whole network.
struct PaperAccounting {
  /// Input batch and all results of forward ops that forward ops read; what is
  /// computed in place counts once.
  uint64_t featureMaps = 0;
  /// Parameters, and their gradients.
  uint64_t weights = 0;
  uint64_t weightGradients = 0;
  /// The largest gradient of a feature map; the framework keeps two buffers of
  /// this size and reuses them.
  uint64_t largestGradientMap = 0;
  /// The largest workspace of the fastest kernels and of the smallest ones; not
  /// part of the baseline.
  uint64_t workspacePerformance = 0;
  uint64_t workspaceMemory = 0;
  /// featureMaps + weights + weightGradients + 2 * largestGradientMap.
  uint64_t baseline = 0;
  /// X of every layer that `all` and `conv` offload, the input batch included
  /// (which needs no copy, for the host still has it).
  uint64_t offloadAll = 0;
  uint64_t offloadConv = 0;
};

PaperAccounting accountAsInPaper(const Problem &problem);

} // namespace vdnn::planning

#endif
