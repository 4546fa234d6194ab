//===- Importer.h - one model being imported ------------------------------===//

#ifndef VDNN_LIB_IMPORT_ONNX_IMPORTER_H
#define VDNN_LIB_IMPORT_ONNX_IMPORTER_H

#include "ExternalData.h"
#include "HostTensor.h"

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Import/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <memory>

namespace vdnn::onnx {

class Node;

/// How a parameter starts, and how sure the importer is: a use by a
/// convolution says more than one by an addition.
struct Start {
  InitialKind kind = InitialKind::Constant;
  double a = 0;
  double b = 0;
  bool guessed = false;

  static Start zeros() { return {}; }
  static Start ones() { return {InitialKind::Constant, 1, 0}; }
  /// He et al.: normal with variance 2 / fan-in.
  static Start he(double fanIn);
  /// A small normal, where nothing is known of the use.
  static Start guess() { return {InitialKind::Normal, 0, 0.02, true}; }
};

enum class Role { Parameter, State };

/// An initializer, or a constant of the graph, that may become a parameter.
struct Weight {
  std::string name;
  mlir::Type element;
  Shape shape;
  const vdnn_onnx::TensorProto *proto = nullptr; ///< or:
  std::shared_ptr<const HostTensor> values;

  /// Function arguments made of it: one, or one for every node that uses it
  /// where it is untied.
  struct Argument {
    mlir::BlockArgument value;
    std::string name;
    Role role;
    Start start;
    int64_t user; ///< index of the node
  };
  std::deque<Argument> arguments;
};

/// What a name of the graph stands for. At least one of `value`, `constant`
/// and `weight` is set, but for names of optional operands left out.
struct Tensor {
  mlir::Type element;
  Shape shape;
  mlir::Value value;                          ///< computed by the step
  std::shared_ptr<const HostTensor> constant; ///< known at import
  Weight *weight = nullptr;

  bool isFloat() const { return llvm::isa<mlir::FloatType>(element); }
  mlir::RankedTensorType type() const {
    return mlir::RankedTensorType::get(shape, element);
  }
};

class Importer {
public:
  Importer(mlir::MLIRContext &context, std::string path,
           const ImportOptions &options);

  ImportedModel run();

  //===--- for nodes ------------------------------------------------------===//

  const ImportOptions &getOptions() const { return options; }
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLocation() const { return location; }
  const Tensor *find(llvm::StringRef name) const;
  bool isUsed(llvm::StringRef name) const { return used.contains(name); }
  mlir::LogicalResult define(const Node &node, llvm::StringRef name,
                             Tensor tensor);

  /// The argument that holds a weight, made at its first use.
  mlir::FailureOr<mlir::Value> materialize(const Node &node, Weight &weight,
                                           Role role, Start start);
  /// Says how the parameter `value` starts, where that was only guessed.
  void refineStart(mlir::Value value, Start start);
  /// The values of a weight; null where they are absent or too many to look
  /// at.
  std::shared_ptr<const HostTensor> valuesOf(Weight &weight);
  /// A constant of the graph that may become a parameter.
  Weight *addConstantWeight(llvm::StringRef name,
                            std::shared_ptr<const HostTensor> values);

  /// The scalar input `vdnn.seed` or `vdnn.step`.
  mlir::Value scalarInput(llvm::StringRef name);
  int64_t nextDropout() { return dropouts++; }
  /// Returns `value` as the new value of the argument of a weight.
  void addUpdate(mlir::Value argument, mlir::Value value);
  /// `name`, or with a number appended where it is taken.
  std::string uniqueName(llvm::StringRef name);
  /// Counts the elements that nodes compute at import, so that a small file
  /// cannot ask for much work; fails once there are too many.
  mlir::LogicalResult chargeFolding(const Node &node, int64_t elements);

  struct Counts {
    int64_t inferenceBatchNorms = 0;
    int64_t batchNorms = 0;
    int64_t convs = 0;
    int64_t foldedConvs = 0;
  } counts;

private:
  mlir::LogicalResult readModel();
  mlir::LogicalResult readOpsets();
  mlir::LogicalResult addInitializers();
  mlir::LogicalResult addInputs();
  mlir::LogicalResult checkInitializer(const vdnn_onnx::TensorProto &proto,
                                       mlir::Type element,
                                       llvm::ArrayRef<int64_t> shape);
  mlir::LogicalResult bindDimensions();
  mlir::LogicalResult addInput(const vdnn_onnx::ValueInfoProto &input);
  mlir::LogicalResult addNodes();
  mlir::LogicalResult addOutputs();
  void finishFunction();
  void eraseUnused();
  /// The bytes of a weight, none where they are absent.
  std::optional<std::vector<char>> bytesOf(const Weight &weight);
  void setArgumentAttributes();
  void collectWeights();
  void report();
  mlir::BlockArgument addArgument(mlir::Type type, llvm::StringRef name,
                                  llvm::StringRef role);

  mlir::MLIRContext &context;
  std::string path;
  const ImportOptions &options;
  mlir::Location location;
  mlir::OpBuilder builder;
  ExternalData external;
  vdnn_onnx::ModelProto model;
  std::map<std::string, int64_t> opsets; ///< version by domain

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::NamedAttrList> argumentAttributes;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::DictionaryAttr> resultAttributes;
  llvm::SmallVector<std::pair<mlir::Value, mlir::DictionaryAttr>> updates;

  llvm::StringMap<Tensor> tensors;
  llvm::StringSet<> used; ///< names that nodes or graph outputs read
  llvm::StringSet<> names;
  std::deque<Weight> weights;
  /// Weight and number of its argument.
  llvm::DenseMap<mlir::Value, std::pair<Weight *, size_t>> argumentOf;
  /// Number of arguments of each weight that was untied, by its name.
  llvm::MapVector<const Weight *, int64_t> untied;
  /// Sizes of symbolic dimensions; unnamed ones are called `input.position`.
  std::map<std::string, int64_t> dims;
  int64_t dropouts = 0;
  int64_t foldedElements = 0;
  std::vector<StoredTensor> stored;
};

} // namespace vdnn::onnx

#endif
