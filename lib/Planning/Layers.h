//===- Layers.h - a problem as the vDNN paper sees it: layers with input feature
// maps ------------------------===//

#ifndef VDNN_LIB_PLANNING_LAYERS_H
#define VDNN_LIB_PLANNING_LAYERS_H

#include "Uses.h"

namespace vdnn::planning {

/// X of some layer: a tensor that forward ops read.
struct FeatureMap {
  TensorId tensor = 0;
  /// The last forward op that reads it; it belongs to the layer of this op.
  OpId lastConsumer = NoOp;
  /// The first op that reads it after the forward pass, or NoOp.
  OpId readAgain = NoOp;
  bool feedsConvolution = false;
  /// Whether the last consumer is part of feature extraction.
  bool managed = false;
};

/// Consecutive ops that compute the gradients of one layer.
struct BackwardLayer {
  int32_t layer = -1;
  OpId begin = 0;
  OpId end = 0;
};

struct Layers {
  std::vector<FeatureMap> maps;
  /// In order of execution.
  std::vector<BackwardLayer> backward;
  /// Per layer number.
  std::vector<bool> isConvolution;
  /// Per op: the position after the last op of its run of ops of one layer and
  /// phase.
  std::vector<OpId> endOfLayer;
};

/// Feature extraction is every forward op that is no classifier, loss or last
/// layer before a loss, and does not come behind a classifier. Maps come in
/// order of tensors; parameters, states and gradients are none.
Layers findLayers(const Problem &problem);

} // namespace vdnn::planning

#endif
