//===- Table.cpp - kernel kind to factory ---------------------------------===//

#include "runtime/backend/cpu/Factories.h"

namespace vdnn::rt::cpu {

const std::vector<TableEntry> &kernelTable() {
  static const std::vector<TableEntry> table = {
      {"avg_pool", {}, createAvgPool},
      {"avg_pool_backward", {}, createAvgPoolBackward},
      {"batch_norm", {}, createBatchNorm},
      {"batch_norm_backward", {}, createBatchNormBackward},
      {"batch_norm_inference", {}, createBatchNormInference},
      {"concat", {}, createConcat, true},
      {"conv", {"direct", "gemm"}, createConv},
      {"conv_backward_data", {"direct", "gemm"}, createConvBackwardData},
      {"conv_backward_filter", {"direct", "gemm"}, createConvBackwardFilter},
      {"dropout", {}, createDropout},
      {"lrn", {}, createLrn},
      {"lrn_backward", {}, createLrnBackward},
      {"matmul", {}, createMatMul},
      {"max_pool", {}, createMaxPool},
      {"max_pool_backward", {}, createMaxPoolBackward},
      {"pointwise", {}, createPointwise, true},
      {"reduce", {}, createReduce},
      {"reorder", {}, createReorder, true},
      {"sgd", {}, createSgd},
      {"sgd_group", {}, createSgdGroup},
      {"slice", {}, createSlice, true},
      {"softmax", {}, createSoftmax},
      {"softmax_backward", {}, createSoftmaxBackward},
      {"softmax_cross_entropy", {}, createSoftmaxCrossEntropy},
      {"softmax_cross_entropy_backward", {}, createSoftmaxCrossEntropyBackward},
      {"transpose", {}, createTranspose, true},
  };
  return table;
}

} // namespace vdnn::rt::cpu
