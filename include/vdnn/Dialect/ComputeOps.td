//===- ComputeOps.td - forward ops and the weight update, on values -------------------------------------===//

#ifndef VDNN_COMPUTE_OPS_TD
#define VDNN_COMPUTE_OPS_TD

include "vdnn/Dialect/VDNNBase.td"

//===--- linear -----------------------------------------------------------------------------------------===//

def VDNN_ConvOp : VDNN_ComputeOp<"conv", [], ["getOpClass", "getFlops"]> {
  let summary = "convolution over 1 to 3 spatial dimensions, grouped";
  let description = [{
    `x`: N x C x spatial. `w`: O x C/group x kernel. `bias`: O. Result: N x O x spatial'. `pads` holds the begins, then the ends, of
    the spatial dimensions, as ONNX has them. With `relu` the result is the maximum of that and zero. Beside bf16 the bias may be f32.

    ```mlir
    %y = vdnn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        pads = array<i64: 1, 1, 1, 1>, group = 1 : i64}
      : (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>) -> tensor<8x16x32x32xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, VDNN_FloatTensor:$w, Optional<VDNN_FloatTensor>:$bias,
                   DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
                   DefaultValuedAttr<I64Attr, "1">:$group, UnitAttr:$relu);
  let results = (outs VDNN_FloatTensor:$y);
  let assemblyFormat = "$x `,` $w (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_MatMulOp : VDNN_ComputeOp<"matmul", [], ["getOpClass", "getFlops"]> {
  let summary = "matrix product of the last two dimensions, batched over the others";
  let description = [{
    `a`: ... x M x K (K x M with `transpose_a`). `b`: ... x K x N (N x K with `transpose_b`). Leading dimensions are equal.
    `bias`, where given, is a vector of N elements added to every row. Result: ... x M x N. The result of bf16 operands is bf16 or f32; the bias has
    the result's element type.

    ```mlir
    %y = vdnn.matmul %x, %w, %b {transpose_b} : (tensor<8x512xf32>, tensor<10x512xf32>, tensor<10xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$a, VDNN_FloatTensor:$b, Optional<VDNN_FloatTensor>:$bias,
                   UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs VDNN_FloatTensor:$y);
  let assemblyFormat = "$a `,` $b (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- pooling ----------------------------------------------------------------------------------------===//

class VDNN_PoolOp<string mnemonic, list<string> methods = ["getOpClass", "getFlops"]> : VDNN_ComputeOp<mnemonic, [], methods> {
  let hasVerifier = 1;
}

def VDNN_MaxPoolOp : VDNN_PoolOp<"max_pool"> {
  let summary = "maximum over windows; may also return where in its window each maximum lay";
  let description = [{
    `x`: N x C x spatial. `y`: N x C x spatial'. `index`, where asked for, has y's shape and element type i8: the position of the
    maximum in its window, counted in row-major order of the window (windows of more than 127 positions have no index). Padding is never chosen.
    The first maximum counts. NaN counts as larger than every number.

    ```mlir
    %y, %i = vdnn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
        dilations = array<i64: 1, 1>} : (tensor<8x16x32x32xf32>) -> (tensor<8x16x16x16xf32>, tensor<8x16x16x16xi8>)
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs VDNN_FloatTensor:$y, Optional<StaticShapeTensorOf<[I8]>>:$index);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def VDNN_AvgPoolOp : VDNN_PoolOp<"avg_pool"> {
  let summary = "mean over windows";
  let description = [{
    As `vdnn.max_pool`. With `count_include_pad` the padding counts in the divisor (but never what lies beyond `pads`).

    ```mlir
    %y = vdnn.avg_pool %x {kernel = array<i64: 7, 7>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
      : (tensor<8x64x7x7xf32>) -> tensor<8x64x1x1xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$pads, UnitAttr:$count_include_pad);
  let results = (outs VDNN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

//===--- normalisation ----------------------------------------------------------------------------------===//

def VDNN_BatchNormOp : VDNN_ComputeOp<"batch_norm", [], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "batch normalisation by the statistics of this batch; updates the running statistics; may add a tensor and apply a ReLU";
  let description = [{
    `x`: N x C x spatial; the vectors have C elements. `y = scale * (x - mean) * inv_std + bias` with `inv_std = 1 / sqrt(variance + epsilon)` and the
    biased variance. The running statistics become `running * momentum + batch * (1 - momentum)`; the running variance takes the
    unbiased variance with `unbiased_running_var` (PyTorch) and the biased one without (ONNX).

    What follows in a network may be part of the op, which saves its passes over memory: `residual`, of the type of `x`, is added to
    that `y`, and `relu` then makes negative elements zero. Either is allowed without the other.

    ```mlir
    %y, %mean, %inv_std, %m1, %v1 = vdnn.batch_norm %x, %scale, %bias, %m0, %v0 {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
      : (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        -> (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
    %y1, %mean1, %inv_std1, %m2, %v2 = vdnn.batch_norm %x, %scale, %bias, %m0, %v0 residual(%r) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, relu}
      : (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x16x32x32xf32>)
        -> (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, VDNN_FloatTensor:$scale, VDNN_FloatTensor:$bias, VDNN_FloatTensor:$running_mean,
                   VDNN_FloatTensor:$running_var, Optional<VDNN_FloatTensor>:$residual, F64Attr:$epsilon, F64Attr:$momentum,
                   UnitAttr:$unbiased_running_var, UnitAttr:$relu);
  let results = (outs VDNN_FloatTensor:$y, VDNN_FloatTensor:$mean, VDNN_FloatTensor:$inv_std,
                 VDNN_FloatTensor:$new_running_mean, VDNN_FloatTensor:$new_running_var);
  let assemblyFormat = "$x `,` $scale `,` $bias `,` $running_mean `,` $running_var (`residual` `(` $residual^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_BatchNormInferenceOp : VDNN_ComputeOp<"batch_norm_inference", [], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "batch normalisation by given statistics";
  let description = [{
    ```mlir
    %y = vdnn.batch_norm_inference %x, %scale, %bias, %mean, %var {epsilon = 1.0e-5 : f64}
      : (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16x32x32xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, VDNN_FloatTensor:$scale, VDNN_FloatTensor:$bias, VDNN_FloatTensor:$mean,
                   VDNN_FloatTensor:$var, F64Attr:$epsilon);
  let results = (outs VDNN_FloatTensor:$y);
  let assemblyFormat = "$x `,` $scale `,` $bias `,` $mean `,` $var attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_LRNOp : VDNN_ComputeOp<"lrn", [], ["getOpClass", "getFlops"]> {
  let summary = "local response normalisation across channels";
  let description = [{
    `y = x / (bias + alpha / size * sum of squares over size channels) ^ beta`, ONNX's definition.

    ```mlir
    %y = vdnn.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : (tensor<8x96x27x27xf32>) -> tensor<8x96x27x27xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, I64Attr:$size, F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);
  let results = (outs VDNN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_SoftmaxOp : VDNN_ComputeOp<"softmax", [], ["getFlops", "getInPlacePairs"]> {
  let summary = "softmax (or its logarithm) along one axis";
  let description = [{
    ```mlir
    %y = vdnn.softmax %x {axis = 1 : i64} : (tensor<8x1000xf32>) -> tensor<8x1000xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, I64Attr:$axis, UnitAttr:$log);
  let results = (outs VDNN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_DropoutOp : VDNN_ComputeOp<"dropout", [], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "sets a random share `ratio` of the elements to zero and scales the others by 1 / (1 - ratio)";
  let description = [{
    The choice is a pure function of (`seed`, `step`, `id`, position of the element in memory): Philox4x32-10 with key `seed` and
    counter (position / 4, id, step). Nothing is stored: the backward op is this op again, on the gradient, with the same `id`.
    `seed` and `step` are scalars of the step.

    ```mlir
    %y = vdnn.dropout %x, %seed, %step {ratio = 0.5 : f64, id = 3 : i64} : (tensor<8x4096xf32>, tensor<i64>, tensor<i64>) -> tensor<8x4096xf32>
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$x, StaticShapeTensorOf<[I64]>:$seed, StaticShapeTensorOf<[I64]>:$step, F64Attr:$ratio, I64Attr:$id);
  let results = (outs VDNN_FloatTensor:$y);
  let assemblyFormat = "$x `,` $seed `,` $step attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- elementwise and reductions ---------------------------------------------------------------------===//

def VDNN_PointwiseOp : VDNN_ComputeOp<"pointwise", [IsolatedFromAbove, SingleBlock], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "a scalar program applied to every element";
  let description = [{
    All elementwise ops are this op: its region holds `arith` and `math` ops on scalars, one block argument per operand, one yielded value per
    result. Operands have the result's rank; a dimension of size 1 is broadcast. An element of a bf16 tensor is an f32 scalar: it is widened when read
    and rounded to nearest even when written, so that an identity between f32 and bf16 tensors is a cast.

    ```mlir
    %y = vdnn.pointwise ins(%a, %b : tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%x: f32, %z: f32):
      %s = arith.addf %x, %z : f32
      vdnn.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Variadic<VDNN_Tensor>:$inputs);
  let results = (outs Variadic<VDNN_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`ins` `(` ($inputs^ `:` type($inputs))? `)` attr-dict `->` type($outputs) $body";
  let hasVerifier = 1;
}

def VDNN_YieldOp : VDNN_Op<"yield", [Pure, Terminator, ParentOneOf<["PointwiseOp", "LaunchOp"]>]> {
  let summary = "the results of a pointwise program";
  let description = [{
    Also ends the program of a `vdnn.cmd.launch`.

    ```mlir
    %y = vdnn.pointwise ins(%a : tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%x: f32):
      vdnn.yield %x : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def VDNN_ReduceOp : VDNN_ComputeOp<"reduce", [], ["getFlops"]> {
  let summary = "reduction over some axes; the result keeps them with size 1";
  let description = [{
    The result of a bf16 operand is bf16 or f32.

    ```mlir
    %y = vdnn.reduce %x {kind = #vdnn<reduction mean>, axes = array<i64: 2, 3>} : (tensor<8x64x7x7xf32>) -> tensor<8x64x1x1xf32>
    ```
  }];
  let arguments = (ins VDNN_Tensor:$x, VDNN_ReductionAttr:$kind, DenseI64ArrayAttr:$axes);
  let results = (outs VDNN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- shape ------------------------------------------------------------------------------------------===//

def VDNN_ConstantOp : VDNN_ComputeOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant of the model that is no parameter";
  let description = [{
    ```mlir
    %c = vdnn.constant dense<1.0> : tensor<1x16xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs VDNN_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::DenseElementsAttr":$value), [{ build($_builder, $_state, value.getType(), value); }]>];
}

def VDNN_ReshapeOp : VDNN_ComputeOp<"reshape", [], ["isView"]> {
  let summary = "the same elements, in row-major order, under another shape";
  let description = [{
    A view: operand and result share their bytes. Both are row major; a tensor in another layout is reordered first.

    ```mlir
    %y = vdnn.reshape %x : (tensor<8x64x1x1xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins VDNN_Tensor:$x);
  let results = (outs VDNN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def VDNN_ReorderOp : VDNN_ComputeOp<"reorder"> {
  let summary = "the same tensor in another memory layout";
  let description = [{
    ```mlir
    %y = vdnn.reorder %x : (tensor<8x3x224x224xf32>) -> tensor<8x3x224x224xf32, #vdnn.layout<channels_last>>
    ```
  }];
  let arguments = (ins VDNN_Tensor:$x);
  let results = (outs VDNN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def VDNN_TransposeOp : VDNN_ComputeOp<"transpose"> {
  let summary = "permutes dimensions: dimension i of the result is dimension permutation[i] of x";
  let description = [{
    ```mlir
    %y = vdnn.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<8x4x6xf32>) -> tensor<8x6x4xf32>
    ```
  }];
  let arguments = (ins VDNN_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs VDNN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def VDNN_ConcatOp : VDNN_ComputeOp<"concat"> {
  let summary = "joins tensors along one axis";
  let description = [{
    ```mlir
    %y = vdnn.concat %a, %b {axis = 1 : i64} : (tensor<8x64x28x28xf32>, tensor<8x32x28x28xf32>) -> tensor<8x96x28x28xf32>
    ```
  }];
  let arguments = (ins Variadic<VDNN_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs VDNN_Tensor:$y);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_SliceOp : VDNN_ComputeOp<"slice"> {
  let summary = "a contiguous part of x along one axis, from `offset`, as long as the result";
  let description = [{
    ```mlir
    %y = vdnn.slice %x {axis = 1 : i64, offset = 64 : i64} : (tensor<8x96x28x28xf32>) -> tensor<8x32x28x28xf32>
    ```
  }];
  let arguments = (ins VDNN_Tensor:$x, I64Attr:$axis, I64Attr:$offset);
  let results = (outs VDNN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- loss and update --------------------------------------------------------------------------------===//

def VDNN_SoftmaxCrossEntropyOp : VDNN_ComputeOp<"softmax_cross_entropy", [], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "cross entropy of softmax(logits) against class indices";
  let description = [{
    `logits`: N x C x d... . `labels`: N x d..., i64 or i32 class indices. `weights`: C, where given. `log_prob` is the log-softmax over C, kept for the backward op.
    `reduction`: `mean` (weighted by the classes' weights; elements labelled `ignore_index` do not count), `sum` (both give a scalar) or `none` (N x d...).

    ```mlir
    %loss, %lp = vdnn.softmax_cross_entropy %logits, %labels {reduction = #vdnn<reduction mean>}
      : (tensor<8x10xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8x10xf32>)
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$logits, StaticShapeTensorOf<[I64, I32]>:$labels, Optional<VDNN_FloatTensor>:$weights,
                   VDNN_ReductionAttr:$reduction, OptionalAttr<I64Attr>:$ignore_index);
  let results = (outs VDNN_FloatTensor:$loss, VDNN_FloatTensor:$log_prob);
  let assemblyFormat = "$logits `,` $labels (`,` $weights^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_SGDOp : VDNN_ComputeOp<"sgd", [], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "stochastic gradient descent with momentum and weight decay, PyTorch's definition";
  let description = [{
    `g = gradient + weight_decay * parameter`; `v' = momentum * v + g` (velocities start at zero); `parameter' = parameter - rate * v'`. Without momentum there is no `velocity` and `v' = g`.
    `rate` is a scalar of the step.

    The results after `parameter'`: `v'`, where there is a velocity, and, where asked for, a copy of `parameter'` that is rounded to bf16. The gradient
    may be bf16 too; all is computed in the parameter's type.

    ```mlir
    %w1, %v1 = vdnn.sgd %w0, %g, %rate, %v0 {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64}
      : (tensor<16x3x3x3xf32>, tensor<16x3x3x3xf32>, tensor<f32>, tensor<16x3x3x3xf32>) -> (tensor<16x3x3x3xf32>, tensor<16x3x3x3xf32>)
    %w2, %v2, %c2 = vdnn.sgd %w1, %h, %rate, %v1 {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64}
      : (tensor<16x3x3x3xf32>, tensor<16x3x3x3xbf16>, tensor<f32>, tensor<16x3x3x3xf32>)
        -> (tensor<16x3x3x3xf32>, tensor<16x3x3x3xf32>, tensor<16x3x3x3xbf16>)
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$parameter, VDNN_FloatTensor:$gradient, VDNN_FloatTensor:$rate, Optional<VDNN_FloatTensor>:$velocity,
                   F64Attr:$momentum, F64Attr:$weight_decay, UnitAttr:$nesterov);
  let results = (outs VDNN_FloatTensor:$new_parameter, Variadic<VDNN_FloatTensor>:$others);
  let extraClassDeclaration = [{
    /// Null without a velocity.
    ::mlir::Value getNewVelocity() {
      return getVelocity() && !getOthers().empty() ? getOthers().front() : ::mlir::Value();
    }
    /// The new parameter in bf16; null where nobody asked for it.
    ::mlir::Value getNewCopy() {
      return getOthers().size() > (getVelocity() ? 1 : 0) ? getOthers().back() : ::mlir::Value();
    }
  }];
  let assemblyFormat = "$parameter `,` $gradient `,` $rate (`,` $velocity^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VDNN_SGDGroupOp : VDNN_ComputeOp<"sgd_group", [AttrSizedOperandSegments], ["getOpClass", "getFlops", "getInPlacePairs"]> {
  let summary = "several `vdnn.sgd` in one kernel";
  let description = [{
    What one `vdnn.sgd` for each of the parameters does, bit for bit, at the cost of one launch. There are at most 64 parameters, each with a gradient and, with
    momentum, a velocity. All gradients have one element type. The results: the new parameters, the new velocities, where there are
    velocities, and, where asked for, a copy of each new parameter that is rounded to bf16. Each parameter may have a layout of its own.

    ```mlir
    %r:4 = vdnn.sgd_group %rate parameters(%w, %b) gradients(%dw, %db) velocities(%vw, %vb) {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64}
      : (tensor<f32>, tensor<10x16xf32>, tensor<10xf32>, tensor<10x16xf32>, tensor<10xf32>, tensor<10x16xf32>, tensor<10xf32>)
        -> (tensor<10x16xf32>, tensor<10xf32>, tensor<10x16xf32>, tensor<10xf32>)
    ```
  }];
  let arguments = (ins VDNN_FloatTensor:$rate, Variadic<VDNN_FloatTensor>:$parameters, Variadic<VDNN_FloatTensor>:$gradients,
                   Variadic<VDNN_FloatTensor>:$velocities, F64Attr:$momentum, F64Attr:$weight_decay, UnitAttr:$nesterov);
  let results = (outs Variadic<VDNN_FloatTensor>:$new_values);
  let extraClassDeclaration = [{
    /// As many as one launch takes.
    static constexpr unsigned kMaxParameters = 64;

    /// Which parameter the operand or result with this number belongs to. The rate counts with the first.
    unsigned getParameterOfOperand(unsigned operand) {
      return operand == 0 ? 0 : (operand - 1) % unsigned(getParameters().size());
    }
    unsigned getParameterOfResult(unsigned result) { return result % unsigned(getParameters().size()); }
  }];
  let assemblyFormat = [{
    $rate `parameters` `(` $parameters `)` `gradients` `(` $gradients `)` (`velocities` `(` $velocities^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
