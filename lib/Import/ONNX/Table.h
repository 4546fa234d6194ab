//===- Table.h - which ops can be imported, and by what -------------------===//

#ifndef VDNN_LIB_IMPORT_ONNX_TABLE_H
#define VDNN_LIB_IMPORT_ONNX_TABLE_H

#include "Node.h"

namespace vdnn::onnx {

inline constexpr int64_t oldestOpset = 1;
inline constexpr int64_t newestOpset = 23;

using Handler = mlir::LogicalResult (*)(const Node &);

struct Entry {
  llvm::StringLiteral op;
  /// Opsets whose definitions of the op the handlers implement.
  int64_t first = oldestOpset;
  int64_t last = newestOpset;
  /// Makes ops. Null: the op only works on tensors known at import.
  Handler build = nullptr;
  /// Computes the result of constant operands. Null: `build` is always used.
  Handler fold = nullptr;
};

/// Entries of each family of ops.
llvm::ArrayRef<Entry> convEntries();
llvm::ArrayRef<Entry> elementwiseEntries();
llvm::ArrayRef<Entry> logicEntries();
llvm::ArrayRef<Entry> lossEntries();
llvm::ArrayRef<Entry> matMulEntries();
llvm::ArrayRef<Entry> normEntries();
llvm::ArrayRef<Entry> poolEntries();
llvm::ArrayRef<Entry> reduceEntries();
llvm::ArrayRef<Entry> shapeEntries();
llvm::ArrayRef<Entry> slicingEntries();

/// Imports a node: folds or builds it, or says what is not supported.
mlir::LogicalResult importNode(const Node &node, llvm::StringRef domain);

} // namespace vdnn::onnx

#endif
