//===- Node.h - a node of the graph, as handlers see it -------------------===//

#ifndef VDNN_LIB_IMPORT_ONNX_NODE_H
#define VDNN_LIB_IMPORT_ONNX_NODE_H

#include "Importer.h"

namespace vdnn::onnx {

class Node {
public:
  Node(Importer &importer, const vdnn_onnx::NodeProto &proto, int64_t opset,
       int64_t index);

  /// Looks up the operands; fails where one is not defined (yet).
  mlir::LogicalResult resolve();

  llvm::StringRef op() const { return proto.op_type(); }
  llvm::StringRef name() const { return nodeName; }
  int64_t opset() const { return version; }
  int64_t index() const { return position; }
  Importer &getImporter() const { return importer; }
  const ImportOptions &getOptions() const { return importer.getOptions(); }
  mlir::OpBuilder &builder() const { return importer.getBuilder(); }
  mlir::Location loc() const { return location; }

  /// An error that names this node, its op and opset.
  mlir::InFlightDiagnostic error() const;
  /// `what` was given, `accepted` would be taken.
  mlir::LogicalResult unsupported(const llvm::Twine &what,
                                  const llvm::Twine &accepted) const;

  //===--- operands -------------------------------------------------------===//

  size_t inputs() const { return operands.size(); }
  bool has(size_t i) const { return i < operands.size() && operands[i]; }
  /// Fails unless the number of operands lies in the range and the first
  /// `least` are there.
  mlir::LogicalResult checkInputs(size_t least, size_t most) const;
  const Tensor &in(size_t i) const { return *operands[i]; }
  int64_t rank(size_t i) const { return int64_t(in(i).shape.size()); }
  llvm::StringRef inputName(size_t i) const { return proto.input(int(i)); }

  /// The operand as a value of the step: an initializer becomes a parameter
  /// (a constant if it is a scalar), another constant a vdnn.constant.
  mlir::FailureOr<mlir::Value> value(size_t i) const;
  /// The operand where the op expects a trained tensor.
  mlir::FailureOr<mlir::Value> parameter(size_t i, Start start) const;
  mlir::FailureOr<mlir::Value> state(size_t i, Start start) const;
  /// The values of an operand; null where they are not known at import.
  std::shared_ptr<const HostTensor> constant(size_t i) const;
  /// All operands that are there are constants of the graph.
  bool isConstant() const;
  /// The operand as integers known at import.
  mlir::FailureOr<Shape> integers(size_t i, llvm::StringRef what) const;
  /// `axis`, counted from the end where negative, within a tensor of `rank`.
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank) const;
  mlir::FailureOr<Shape> normalizeAxes(Shape axes, int64_t rank) const;

  //===--- attributes -----------------------------------------------------===//

  const vdnn_onnx::AttributeProto *attribute(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name, int64_t absent) const;
  double number(llvm::StringRef name, double absent) const;
  std::string text(llvm::StringRef name, llvm::StringRef absent) const;
  std::optional<Shape> list(llvm::StringRef name) const;

  //===--- results --------------------------------------------------------===//

  size_t outputs() const { return size_t(proto.output_size()); }
  llvm::StringRef outputName(size_t i) const;
  /// The result has a name that something reads.
  bool isUsed(size_t i) const;
  mlir::LogicalResult set(size_t i, mlir::Value value) const;
  mlir::LogicalResult set(size_t i, HostTensor constant) const;
  /// The first result is a constant that the graph itself holds: it becomes a
  /// parameter where an op trains it.
  mlir::LogicalResult setConstant(HostTensor constant) const;
  /// The result is operand `input`.
  mlir::LogicalResult forward(size_t i, size_t input) const;

  /// Gives the results of `op` names: `name` for the first, `name.suffix` for
  /// the others.
  void nameResults(mlir::Operation *op, llvm::StringRef name,
                   llvm::ArrayRef<llvm::StringRef> suffixes = {}) const;

  //===--- ops that many handlers need ------------------------------------===//

  /// `value` under another shape of as many elements; itself where it has it.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;
  mlir::Value constantOp(const HostTensor &tensor) const;

private:
  Importer &importer;
  const vdnn_onnx::NodeProto &proto;
  int64_t version;
  int64_t position;
  std::string nodeName;
  mlir::Location location;
  llvm::SmallVector<const Tensor *, 4> operands;
};

/// A number as its writer meant it: the shortest decimal fraction that is
/// `number` in single precision.
double shortestDecimal(float number);

/// Shape of a value.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline mlir::Type elementOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

} // namespace vdnn::onnx

#endif
