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
    before it; a batch norm may have taken in the addition and the ReLU behind it, a convolution the ReLU behind it.

    With `loss=none` the module is only run: layers are numbered, nothing is added, and a convolution takes in the ReLU behind it.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross_entropy\"", "cross_entropy, mse, output or none">,
    Option<"momentum", "momentum", "double", "0.9", "momentum of the gradient descent">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "weight decay of the gradient descent">,
    Option<"nesterov", "nesterov", "bool", "false", "Nesterov's momentum">,
    Option<"storage", "storage", "std::string", "\"compact\"", "compact: pool indices; paper: pool inputs and outputs">,
    Option<"fuse", "fuse", "std::string", "\"all\"", "all: batch norm, residual addition and ReLU as one op, convolution and ReLU as one op, ReLUs behind max pools, with compact storage (loss=none: convolution and ReLU alone); none">,
    ListOption<"frozen", "frozen", "std::string", "names of parameters that are not trained">
  ];
  let dependentDialects = ["::vdnn::VDNNDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def CastToBF16 : Pass<"vdnn-cast-to-bf16", "::mlir::ModuleOp"> {
  let summary = "makes the activations of a model bf16, and the products that make them";
  let description = [{
    In: a function 'main' of forward compute ops in f32. Out: the same function, with the same arguments and results, whose activations are
    bf16 from its floating-point inputs to its outputs. Convolutions and matrix products take bf16; a parameter is cast right before the
    first product that reads it. Pools, normalisations and whatever moves or maps elements follow their operands; softmaxes, losses and
    outputs are f32, which the matrix product, pointwise op or reduction before them gives itself where nothing else reads it. Scales, statistics and
    the biases of convolutions stay f32. Lost: precision; nothing else.
  }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def KeepDerivedCopies : Pass<"vdnn-keep-derived-copies", "::mlir::ModuleOp"> {
  let summary = "keeps the bf16 copies of parameters from step to step";
  let description = [{
    In: a step. Out: the same step; where a parameter was cast to bf16, a new state `NAME.bf16` stands for the cast. It starts as the
    converted parameter. Where the parameter is updated, its `vdnn.sgd` writes the copy's new value as one more result and reads the bf16
    gradient, without a cast. Lost: the casts.
  }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def GroupUpdates : Pass<"vdnn-group-updates", "::mlir::ModuleOp"> {
  let summary = "makes one kernel of the updates of several small parameters";
  let description = [{
    In: a training step. Out: the same step; `vdnn.sgd` ops of small parameters that differ in their tensors alone are one `vdnn.sgd_group` in the place of
    the last of them, until it has 64 parameters or the gradients that wait for it would be more than `pending-bytes`. The bits are
    the same. Lost: gradients no longer die at once.
  }];
  let options = [
    Option<"parameterBytes", "parameter-bytes", "int64_t", "4 << 20", "a larger parameter is updated alone">,
    Option<"pendingBytes", "pending-bytes", "int64_t", "16 << 20", "bytes of gradients that wait for a group">
  ];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

#endif
