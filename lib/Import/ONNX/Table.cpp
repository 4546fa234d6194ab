//===- Table.cpp - which ops can be imported, and by what -----------------===//

#include "Table.h"

#include "vdnn/Import/Import.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace vdnn::onnx;

static const llvm::StringMap<SmallVector<Entry, 1>> &table() {
  static const auto entries = [] {
    llvm::StringMap<SmallVector<Entry, 1>> result;
    for (ArrayRef<Entry> family :
         {convEntries(), elementwiseEntries(), logicEntries(), lossEntries(),
          matMulEntries(), normEntries(), poolEntries(), reduceEntries(),
          shapeEntries(), slicingEntries()}) {
      for (const Entry &entry : family) {
        result[entry.op].push_back(entry);
      }
    }
    return result;
  }();
  return entries;
}

static std::string allOps() {
  SmallVector<StringRef> ops;
  for (const auto &entry : table()) {
    ops.push_back(entry.first());
  }
  llvm::sort(ops);
  return llvm::join(ops, ", ");
}

std::string vdnn::listOnnxOps() {
  SmallVector<Entry> entries;
  for (const auto &op : table()) {
    llvm::append_range(entries, op.second);
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::pair<StringRef, int64_t>(a.op, a.first) <
           std::pair<StringRef, int64_t>(b.op, b.first);
  });
  std::string text = "| op | opsets | operands |\n|---|---|---|\n";
  for (const Entry &entry : entries) {
    text += (Twine("| ") + entry.op + " | " + Twine(entry.first) + " to " +
             Twine(entry.last) + " | " +
             (entry.build ? "any" : "constants of the model") + " |\n")
                .str();
  }
  return text;
}

LogicalResult vdnn::onnx::importNode(const Node &node, StringRef domain) {
  if (!domain.empty() && domain != "ai.onnx") {
    return node.unsupported("domain '" + domain + "'", "the domain of ONNX");
  }
  auto found = table().find(node.op());
  if (found == table().end()) {
    return node.unsupported("this op", allOps());
  }
  std::string opsets;
  for (const Entry &entry : found->second) {
    if (node.opset() < entry.first || node.opset() > entry.last) {
      opsets += (opsets.empty() ? "opset " : " or ") +
                std::to_string(entry.first) + " to " +
                std::to_string(entry.last);
      continue;
    }
    if (entry.fold && node.isConstant()) {
      return entry.fold(node);
    }
    if (!entry.build) {
      return node.unsupported("an operand that is computed by the step",
                              "operands that are constants");
    }
    return entry.build(node);
  }
  return node.unsupported("this opset", opsets);
}
