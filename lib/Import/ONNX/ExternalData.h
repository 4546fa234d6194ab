//===- ExternalData.h - tensors whose bytes lie beside the model ----------===//

#ifndef VDNN_LIB_IMPORT_ONNX_EXTERNALDATA_H
#define VDNN_LIB_IMPORT_ONNX_EXTERNALDATA_H

#include "Proto.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>

namespace vdnn::onnx {

/// Reads external tensor data from the folder of a model, and from nowhere
/// else. Files are mapped once and stay so while the reader lives.
class ExternalData {
public:
  explicit ExternalData(const std::string &modelPath);

  enum class Status { Found, Absent, Invalid };

  /// Finds the `expected` bytes of `tensor`, which stay valid with this reader.
  /// Absent: the file is not there, which is no error. Invalid: `error` says
  /// why.
  Status find(const vdnn_onnx::TensorProto &tensor, int64_t expected,
              llvm::ArrayRef<char> &bytes, std::string &error);

private:
  std::string folder;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
};

} // namespace vdnn::onnx

#endif
