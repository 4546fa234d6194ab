//===- Import.h - ONNX model -> compute ops -------------------------------===//

#ifndef VDNN_IMPORT_IMPORT_H
#define VDNN_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace vdnn {

enum class BatchNormMode { Train, Frozen };

struct ImportOptions {
  /// Sizes of symbolic dimensions by name (`--dim name=N`).
  std::map<std::string, int64_t> dims;
  /// Size of the first dimension of every input where it is symbolic
  /// (`--batch`).
  std::optional<int64_t> batch;
  /// Training: parameters are trained, BatchNorm normalises by the batch unless
  /// frozen, dropout is on. Inference: neither.
  bool training = false;
  BatchNormMode batchNorm = BatchNormMode::Train;
  /// Dropout of a training model; off: the identity.
  bool dropout = true;
  /// Un-share small 1-D parameters that the exporter merged by value.
  bool untie = true;
};

/// A tensor whose bytes the model carries: little-endian, dense, row major.
struct StoredTensor {
  std::string name;
  std::string dtype; ///< safetensors name: "F32", "I64", ...
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

struct ImportedModel {
  /// One `func.func @main` of compute ops; arguments and results carry the
  /// attributes that VDNNBase.td lists.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Parameters and states whose values the model (or its external data) holds.
  std::vector<StoredTensor> weights;
};

/// Reads a `.onnx` file. Errors and notices go to the context's diagnostics; a
/// null module says that it failed.
ImportedModel importOnnx(mlir::MLIRContext &context, const std::string &path,
                         const ImportOptions &options);

/// The ops of ONNX that can be imported, as a table in Markdown.
std::string listOnnxOps();

} // namespace vdnn

#endif
