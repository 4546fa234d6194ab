//===- Table.cpp - kernel kind to factory ---------------------------------===//

#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

const std::vector<TableEntry> &kernelTable() {
  static const std::vector<TableEntry> table = {
      {"conv", createConv, queryConv},
      {"conv_backward_data", createConv, queryConv},
      {"conv_backward_filter", createConv, queryConv},
      {"matmul", createMatMul, queryMatMul},
      {"pointwise", createPointwise},
  };
  return table;
}

} // namespace vdnn::rt::cuda
