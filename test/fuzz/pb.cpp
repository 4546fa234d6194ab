//===- pb.cpp - fuzzes the runtime's reader of ONNX tensors ---------------===//

#include "Tensors.h"

#include "runtime/exec/files/OnnxTensor.h"

using namespace vdnn;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rt::Result<rt::HostTensor> tensor =
      rt::parseOnnxTensor(std::as_bytes(std::span(data, size)), "input");
  if (tensor.ok()) {
    test::expectSound(*tensor);
  }
  return 0;
}
