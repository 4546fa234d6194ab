//===- npy.cpp - fuzzes the reader of NumPy's files -----------------------===//

#include "Tensors.h"

#include "runtime/exec/files/Npy.h"

using namespace vdnn;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rt::Result<rt::HostTensor> tensor = rt::parseNpy(
      std::as_bytes(std::span(data, size)), "input", /*owner=*/nullptr);
  if (tensor.ok()) {
    test::expectSound(*tensor);
  }
  return 0;
}
