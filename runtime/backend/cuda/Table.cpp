//===- Table.cpp - kernel kind to factory ---------------------------------===//

#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

const std::vector<TableEntry> &kernelTable() {
  static const std::vector<TableEntry> table = {
      {"avg_pool", createAvgPool},
      {"avg_pool_backward", createAvgPoolBackward},
      {"batch_norm", createBatchNorm},
      {"batch_norm_backward", createBatchNormBackward},
      {"batch_norm_inference", createBatchNormInference},
      {"concat", createConcat},
      {"conv", createConv, queryConv},
      {"conv_backward_data", createConv, queryConv},
      {"conv_backward_filter", createConv, queryConv},
      {"dropout", createDropout},
      {"lrn", createLrn},
      {"lrn_backward", createLrnBackward},
      {"matmul", createMatMul, queryMatMul},
      {"max_pool", createMaxPool},
      {"max_pool_backward", createMaxPoolBackward},
      {"pointwise", createPointwise},
      {"reduce", createReduce},
      {"reorder", createReorder},
      {"sgd", createSgd},
      {"sgd_group", createSgdGroup},
      {"slice", createSlice},
      {"softmax", createSoftmax},
      {"softmax_backward", createSoftmaxBackward},
      {"softmax_cross_entropy", createSoftmaxCrossEntropy},
      {"softmax_cross_entropy_backward", createSoftmaxCrossEntropyBackward},
      {"transpose", createTranspose},
  };
  return table;
}

} // namespace vdnn::rt::cuda
