//===- GradientOps.td - backward ops, on values ---------------------------------------------------------===//

#ifndef VDNN_GRADIENT_OPS_TD
#define VDNN_GRADIENT_OPS_TD

include "vdnn/Dialect/VDNNBase.td"

class VDNN_ConvGradientOp<string mnemonic> : VDNN_ComputeOp<mnemonic, [], ["getOpClass", "getFlops"]> {
  let hasVerifier = 1;
}

def VDNN_ConvBackwardDataOp : VDNN_ConvGradientOp<"conv_backward_data"> {
  let summary = "gradient of a convolution with respect to its input";
  let description = [{
    The result's shape is the input's; the attributes are those of `vdnn.conv`.

    ```mlir
    %dx = vdnn.conv_backward_data %dy, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64}
      : (tensor<8x16x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<8x3x32x32xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$dy, VDNN_FloatTensor:$w, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                   DenseI64ArrayAttr:$pads, DefaultValuedAttr<I64Attr, "1">:$group);
  let results = (outs VDNN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $w attr-dict `:` functional-type(operands, results)";
}

def VDNN_ConvBackwardFilterOp : VDNN_ConvGradientOp<"conv_backward_filter"> {
  let summary = "gradient of a convolution with respect to its filter and, where asked for, its bias";
  let description = [{
    ```mlir
    %dw, %db = vdnn.conv_backward_filter %x, %dy {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64}
      : (tensor<8x3x32x32xf32>, tensor<8x16x32x32xf32>) -> (tensor<16x3x3x3xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, VDNN_FloatTensor:$dy, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                   DenseI64ArrayAttr:$pads, DefaultValuedAttr<I64Attr, "1">:$group);
  let results = (outs VDNN_FloatTensor:$dw, Optional<VDNN_FloatTensor>:$dbias);
  let assemblyFormat = "$x `,` $dy attr-dict `:` functional-type(operands, results)";
}

def VDNN_MaxPoolBackwardOp : VDNN_ComputeOp<"max_pool_backward", [AttrSizedOperandSegments], ["getOpClass", "getFlops"]> {
  let summary = "gradient of a maximum pool, from its index or from its input and output";
  let description = [{
    Either `index` (compact storage) or `x` and `y` (as cuDNN 4 and the vDNN paper need them) is given.

    ```mlir
    %dx = vdnn.max_pool_backward %dy index(%i) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<8x16x16x16xf32>, tensor<8x16x16x16xi8>) -> tensor<8x16x32x32xf32>
    %dx1 = vdnn.max_pool_backward %dy forward(%x, %y) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<8x16x16x16xf32>, tensor<8x16x32x32xf32>, tensor<8x16x16x16xf32>) -> tensor<8x16x32x32xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$dy, Optional<StaticShapeTensorOf<[I8]>>:$index, Optional<VDNN_FloatTensor>:$x, Optional<VDNN_FloatTensor>:$y,
                   DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs VDNN_FloatTensor:$dx);
  let assemblyFormat = "$dy (`index` `(` $index^ `)`)? (`forward` `(` $x^ `,` $y `)`)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_AvgPoolBackwardOp : VDNN_ComputeOp<"avg_pool_backward", [], ["getOpClass", "getFlops"]> {
  let summary = "gradient of a mean pool";
  let description = [{
    ```mlir
    %dx = vdnn.avg_pool_backward %dy {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>}
      : (tensor<8x16x16x16xf32>) -> tensor<8x16x32x32xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$dy, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$pads, UnitAttr:$count_include_pad);
  let results = (outs VDNN_FloatTensor:$dx);
  let assemblyFormat = "$dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_BatchNormBackwardOp : VDNN_ComputeOp<"batch_norm_backward", [AttrSizedOperandSegments], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "gradients of batch normalisation, from its input and the statistics of the batch";
  let description = [{
    With `relu` it is the gradient of the op and a ReLU: `dy` counts where the ReLU let through. Without a residual the op computes that again from
    `x`, the statistics, `scale` and `bias`, so that no backward op reads the output. With one it reads the output `y` instead, and the masked `dy`, which
    is also the gradient of the residual, is a result. Where two gradients meet, `addend` is added to `dy` before.

    ```mlir
    %dx, %dscale, %dbias = vdnn.batch_norm_backward %dy, %x, %scale, %mean, %inv_std {epsilon = 1.0e-5 : f64}
      : (tensor<8x16x32x32xf32>, tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        -> (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>)
    %dx1, %dscale1, %dbias1 = vdnn.batch_norm_backward %dy, %x, %scale, %mean, %inv_std bias(%bias) {epsilon = 1.0e-5 : f64, relu}
      : (tensor<8x16x32x32xf32>, tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        -> (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>)
    %dx2, %dscale2, %dbias2, %dresidual = vdnn.batch_norm_backward %dy, %x, %scale, %mean, %inv_std y(%y) addend(%d) {epsilon = 1.0e-5 : f64, relu}
      : (tensor<8x16x32x32xf32>, tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x16x32x32xf32>, tensor<8x16x32x32xf32>)
        -> (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x16x32x32xf32>)
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$dy, VDNN_FloatTensor:$x, VDNN_FloatTensor:$scale, VDNN_FloatTensor:$mean, VDNN_FloatTensor:$inv_std,
                   Optional<VDNN_FloatTensor>:$bias, Optional<VDNN_FloatTensor>:$y, Optional<VDNN_FloatTensor>:$addend, F64Attr:$epsilon, UnitAttr:$relu);
  let results = (outs VDNN_FloatTensor:$dx, VDNN_FloatTensor:$dscale, VDNN_FloatTensor:$dbias, Optional<VDNN_FloatTensor>:$dresidual);
  let assemblyFormat = "$dy `,` $x `,` $scale `,` $mean `,` $inv_std (`bias` `(` $bias^ `)`)? (`y` `(` $y^ `)`)? (`addend` `(` $addend^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_LRNBackwardOp : VDNN_ComputeOp<"lrn_backward", [], ["getOpClass", "getFlops"]> {
  let summary = "gradient of local response normalisation, from its input";
  let description = [{
    ```mlir
    %dx = vdnn.lrn_backward %dy, %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64}
      : (tensor<8x96x27x27xf32>, tensor<8x96x27x27xf32>) -> tensor<8x96x27x27xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$dy, VDNN_FloatTensor:$x, I64Attr:$size, F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);
  let results = (outs VDNN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_SoftmaxBackwardOp : VDNN_ComputeOp<"softmax_backward", [], ["getFlops", "getInPlacePairs"]> {
  let summary = "gradient of softmax (or its logarithm), from its output";
  let description = [{
    ```mlir
    %dx = vdnn.softmax_backward %dy, %y {axis = 1 : i64} : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$dy, VDNN_FloatTensor:$y, I64Attr:$axis, UnitAttr:$log);
  let results = (outs VDNN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $y attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_SoftmaxCrossEntropyBackwardOp : VDNN_ComputeOp<"softmax_cross_entropy_backward", [], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "gradient of the cross entropy with respect to the logits";
  let description = [{
    `dloss` has the shape of the loss. `log_prob` is that of the forward op.

    ```mlir
    %dlogits = vdnn.softmax_cross_entropy_backward %dloss, %lp, %labels {reduction = #vdnn<reduction mean>}
      : (tensor<f32>, tensor<8x10xf32>, tensor<8xi64>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$dloss, VDNN_FloatTensor:$log_prob, StaticShapeTensorOf<[I64, I32]>:$labels, Optional<VDNN_FloatTensor>:$weights,
                   VDNN_ReductionAttr:$reduction, OptionalAttr<I64Attr>:$ignore_index);
  let results = (outs VDNN_FloatTensor:$dlogits);
  let assemblyFormat = "$dloss `,` $log_prob `,` $labels (`,` $weights^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
