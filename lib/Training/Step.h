//===- Step.h - the parts of building a step --------------------*- C++ -*-===//

#ifndef VDNN_LIB_TRAINING_STEP_H
#define VDNN_LIB_TRAINING_STEP_H

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Training/Training.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace vdnn {

//===--- Arguments.cpp ----------------------------------------------------===//

/// The argument named `name`, or null.
mlir::BlockArgument findArgument(mlir::func::FuncOp function,
                                 llvm::StringRef name);

/// Whether an argument has the role `role`.
bool hasRole(mlir::BlockArgument argument, llvm::StringRef role);

/// Appends an argument of that name and role, with `initial` where given.
mlir::BlockArgument addArgument(mlir::func::FuncOp function, mlir::Type type,
                                llvm::StringRef name, llvm::StringRef role,
                                InitialAttr initial = {});

/// The argument of that name, appended as an input where there is none.
mlir::FailureOr<mlir::BlockArgument> getOrAddInput(mlir::func::FuncOp function,
                                                   mlir::Type type,
                                                   llvm::StringRef name);

/// Appends a result of that name and role.
void addResult(mlir::func::FuncOp function, mlir::Value value,
               llvm::StringRef name, llvm::StringRef role);

/// Numbers of the results that have the role `role`.
llvm::SmallVector<unsigned> findResults(mlir::func::FuncOp function,
                                        llvm::StringRef role);

//===--- Loss.cpp ---------------------------------------------------------===//

/// Appends the loss to the forward ops; a tensor of one element. Fails with an
/// error at the function.
mlir::FailureOr<mlir::Value> buildLoss(mlir::func::FuncOp function,
                                       LossKind kind);

//===--- Layers.cpp -------------------------------------------------------===//

/// Gives each op its layer, in program order, and the phase "forward".
void numberLayers(mlir::func::FuncOp function);

/// Gives the ops from `first` to the end of their block a layer and a phase.
void setLayer(mlir::Operation *first, mlir::Attribute layer,
              llvm::StringRef phase);

//===--- Activity.cpp -----------------------------------------------------===//

/// The values whose gradient is needed: those between a trained parameter and
/// the loss, both included.
llvm::DenseSet<mlir::Value>
findWanted(llvm::ArrayRef<mlir::BlockArgument> trained, mlir::Value loss);

/// Asks each max pool whose gradient is needed for the index of its maxima,
/// where the window is small enough to have one.
void addPoolIndices(mlir::func::FuncOp function,
                    const llvm::DenseSet<mlir::Value> &wanted);

//===--- NormFusion.cpp ---------------------------------------------------===//

/// Makes a batch norm, a sum of its result and another tensor, and a ReLU one
/// op, where nothing else reads what lies between them. Before gradients are
/// made.
void fuseNorms(mlir::func::FuncOp function);

//===--- ReluPlacement.cpp ------------------------------------------------===//

/// Lets a ReLU that a max pool alone reads work on the pool's result. Before
/// gradients are made.
void moveRelusBehindPools(mlir::func::FuncOp function);

//===--- ConvFusion.cpp ---------------------------------------------------===//

/// Makes a convolution with a bias and the ReLU that alone reads it one op.
/// Before gradients are made, if any are.
void fuseConvolutions(mlir::func::FuncOp function);

//===--- Fusion.cpp -------------------------------------------------------===//

/// Merges each backward pointwise op that one pointwise op alone reads, as the
/// next op of the block but updates, into that op.
void fuseBackward(mlir::func::FuncOp function);

//===--- Update.cpp -------------------------------------------------------===//

/// Whether an op says that `gradient` is the whole gradient of a parameter.
bool isMarked(mlir::OpResult gradient);

/// Says on the op that `gradient` is the whole gradient of `parameter`.
void mark(mlir::OpResult gradient, llvm::StringRef parameter);

/// What `value` is a view of, or itself: a view has no bytes of its own.
mlir::Value throughViews(mlir::Value value);

/// Appends updates of parameters, each right after its gradient.
class Updates {
public:
  Updates(mlir::func::FuncOp function, const TrainingOptions &options,
          mlir::OpBuilder &builder)
      : function(function), options(options), builder(builder) {}

  /// Marks `gradient` as the whole gradient of `parameter` and appends the
  /// update. Fails with an error at the function.
  mlir::LogicalResult add(mlir::BlockArgument parameter, mlir::Value gradient);

  /// Returns the new values, and the running statistics of batch norms.
  void addResults();

private:
  struct Update {
    mlir::Value value;
    std::string name;
  };
  mlir::func::FuncOp function;
  const TrainingOptions &options;
  mlir::OpBuilder &builder;
  std::vector<Update> updates;
};

} // namespace vdnn

#endif
