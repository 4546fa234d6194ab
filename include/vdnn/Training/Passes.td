//===- Passes.td - a model becomes a step ---------------------------------===//

#ifndef VDNN_TRAINING_PASSES_TD
#define VDNN_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildStep : Pass<"vdnn-build-step", "::mlir::ModuleOp"> {
  let summary = "makes one training step of a model: loss, gradients, updates";
  let description = [{
    In: a function 'main' of forward compute ops whose arguments have names and roles. Out: the same function with the
    loss, the gradient of every trained parameter, and the update right after each; every op has `vdnn.layer` and
    `vdnn.phase`. Lost: nothing of the model, but a max pool may have got an index result and changed places with the ReLU
    before it, a batch norm the addition and the ReLU behind it, a convolution the ReLU behind it.

    With `loss=none` the module is only run: layers are numbered, nothing is added.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross_entropy\"", "cross_entropy, mse, output or none">,
    Option<"momentum", "momentum", "double", "0.9", "momentum of the gradient descent">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "weight decay of the gradient descent">,
    Option<"nesterov", "nesterov", "bool", "false", "Nesterov's momentum">,
    Option<"storage", "storage", "std::string", "\"compact\"", "compact: pool indices; paper: pool inputs and outputs">,
    Option<"fuse", "fuse", "std::string", "\"all\"", "all: batch norm, residual addition and ReLU as one op, convolution and ReLU as one op, ReLUs behind max pools, with compact storage; none">,
    ListOption<"frozen", "frozen", "std::string", "names of parameters that are not trained">
  ];
  let dependentDialects = ["::vdnn::VDNNDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif
