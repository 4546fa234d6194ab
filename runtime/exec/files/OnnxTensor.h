//===- OnnxTensor.h - ONNX TensorProto files ------------------------------===//

#ifndef VDNN_RUNTIME_EXEC_FILES_ONNXTENSOR_H
#define VDNN_RUNTIME_EXEC_FILES_ONNXTENSOR_H

#include "runtime/exec/files/HostTensor.h"

namespace vdnn::rt {

/// Reads a serialized `TensorProto` (`input_0.pb` of ONNX's test data). The
/// tensor has the proto's name. Strings, complex and unsigned 16- to 64-bit
/// elements, segments and external data are errors.
Result<HostTensor> readOnnxTensor(const std::string &path);

/// Reads from memory; the result owns its bytes. `name` is for messages.
Result<HostTensor> parseOnnxTensor(std::span<const std::byte> bytes,
                                   const std::string &name);

} // namespace vdnn::rt

#endif
