//===- Tensors.h - what every reader of tensors must keep -----------------===//

#ifndef VDNN_TEST_FUZZ_TENSORS_H
#define VDNN_TEST_FUZZ_TENSORS_H

#include "runtime/exec/files/HostTensor.h"

#include <cstdlib>

namespace vdnn::test {

/// Aborts unless the tensor has the bytes of its shape; reads them all.
inline void expectSound(const rt::HostTensor &tensor) {
  std::optional<uint64_t> count = rt::elementCount(tensor.shape);
  if (!count ||
      *count * schedule::elementBytes(tensor.element) != tensor.data.size()) {
    std::abort();
  }
  rt::toDoubles(tensor, 0, *count);
}

} // namespace vdnn::test

#endif
