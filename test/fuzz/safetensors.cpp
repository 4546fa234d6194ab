//===- safetensors.cpp - fuzzes the reader of weights ---------------------===//

#include "Tensors.h"

#include "runtime/exec/files/Safetensors.h"

using namespace vdnn;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rt::Result<rt::Safetensors> file = rt::Safetensors::parse(
      std::as_bytes(std::span(data, size)), "input", /*owner=*/nullptr);
  if (file.ok()) {
    for (const auto &[name, tensor] : file->tensors()) {
      test::expectSound(tensor);
    }
  }
  return 0;
}
