//===- Table.cpp - kernel kind to factory ---------------------------------===//

#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

const std::vector<TableEntry> &kernelTable() {
  static const std::vector<TableEntry> table = {
      {"pointwise", createPointwise},
  };
  return table;
}

} // namespace vdnn::rt::cuda
