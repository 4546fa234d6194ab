// RUN: vdnn-opt %s | vdnn-opt | FileCheck %s
// RUN: vdnn-opt -mlir-print-op-generic %s | vdnn-opt | FileCheck %s

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<2x8x9x9xf32>, %w: tensor<16x4x3x3xf32>, %b: tensor<16xf32>) {
  // CHECK: vdnn.conv %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 1, 2>, group = 2 : i64, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 1>} : (tensor<2x8x9x9xf32>, tensor<16x4x3x3xf32>, tensor<16xf32>) -> tensor<2x16x5x6xf32>
  %0 = vdnn.conv %x, %w, %b {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 0, 1, 1>, group = 2 : i64}
    : (tensor<2x8x9x9xf32>, tensor<16x4x3x3xf32>, tensor<16xf32>) -> tensor<2x16x5x6xf32>
  // CHECK: vdnn.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
  %1 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 2 : i64}
    : (tensor<2x8x9x9xf32>, tensor<16x4x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// CHECK-LABEL: func.func @conv_1d_3d
func.func @conv_1d_3d(%x: tensor<2x8x9xbf16>, %w: tensor<16x8x3xbf16>, %u: tensor<2x8x9x9x9xf32>, %v: tensor<16x8x1x2x3xf32>) {
  // CHECK: vdnn.conv {{.*}} -> tensor<2x16x7xbf16>
  %0 = vdnn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>}
    : (tensor<2x8x9xbf16>, tensor<16x8x3xbf16>) -> tensor<2x16x7xbf16>
  // CHECK: vdnn.conv {{.*}} -> tensor<2x16x9x8x7xf32>
  %1 = vdnn.conv %u, %v {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>}
    : (tensor<2x8x9x9x9xf32>, tensor<16x8x1x2x3xf32>) -> tensor<2x16x9x8x7xf32>
  return
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<3x4x5xf32>, %b: tensor<3x5x6xf32>, %at: tensor<5x4xf32>, %bt: tensor<6x5xf32>, %bias: tensor<6xf32>) {
  // CHECK: vdnn.matmul %{{.*}}, %{{.*}} : (tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
  %0 = vdnn.matmul %a, %b : (tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
  // CHECK: vdnn.matmul %{{.*}}, %{{.*}}, %{{.*}} {transpose_a, transpose_b}
  %1 = vdnn.matmul %at, %bt, %bias {transpose_a, transpose_b} : (tensor<5x4xf32>, tensor<6x5xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<2x4x7x7xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = vdnn.max_pool {{.*}} -> (tensor<2x4x3x3xf32>, tensor<2x4x3x3xi8>)
  %0:2 = vdnn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<2x4x7x7xf32>) -> (tensor<2x4x3x3xf32>, tensor<2x4x3x3xi8>)
  // The last window may reach beyond the input: 7 = 2 * 3 + 1.
  // CHECK: vdnn.max_pool {{.*}} -> tensor<2x4x4x4xf32>
  %1 = vdnn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<2x4x7x7xf32>) -> tensor<2x4x4x4xf32>
  // CHECK: vdnn.avg_pool %{{.*}} {count_include_pad, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
  %2 = vdnn.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, count_include_pad}
    : (tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>, %seed: tensor<i64>) {
  // CHECK: vdnn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = {{.*}}, momentum = {{.*}}, unbiased_running_var}
  %0:5 = vdnn.batch_norm %x, %v, %v, %v, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, unbiased_running_var}
    : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: vdnn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = {{.*}}, momentum = {{.*}}, relu} : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) ->
  %relu:5 = vdnn.batch_norm %x, %v, %v, %v, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: vdnn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} residual(%{{.*}}) {epsilon
  %sum:5 = vdnn.batch_norm %x, %v, %v, %v, %v residual(%relu#0) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: vdnn.batch_norm_inference
  %1 = vdnn.batch_norm_inference %x, %v, %v, %v, %v {epsilon = 1.0e-5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x7x7xf32>
  // CHECK: vdnn.lrn %{{.*}} {alpha = {{.*}}, beta = {{.*}}, bias = {{.*}}, size = 5 : i64}
  %2 = vdnn.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : (tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  // CHECK: vdnn.softmax %{{.*}} {axis = 1 : i64, log}
  %3 = vdnn.softmax %x {axis = 1 : i64, log} : (tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  // CHECK: vdnn.dropout %{{.*}}, %{{.*}}, %{{.*}} {id = 3 : i64, ratio = 5.000000e-01 : f64}
  %4 = vdnn.dropout %x, %seed, %seed {ratio = 0.5 : f64, id = 3 : i64} : (tensor<2x4x7x7xf32>, tensor<i64>, tensor<i64>) -> tensor<2x4x7x7xf32>
  return
}

// CHECK-LABEL: func.func @pointwise
func.func @pointwise(%a: tensor<8x16xf32>, %b: tensor<1x16xf32>) {
  // CHECK: %{{.*}}:2 = vdnn.pointwise ins(%{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>, tensor<8x16xi1> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Z:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[Z]] : f32
  // CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[S]], %[[Z]] : f32
  // CHECK-NEXT: vdnn.yield %[[S]], %[[C]] : f32, i1
  %0:2 = vdnn.pointwise ins(%a, %b : tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>, tensor<8x16xi1> {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    %c = arith.cmpf ogt, %s, %z : f32
    vdnn.yield %s, %c : f32, i1
  }
  // CHECK: vdnn.pointwise ins() -> tensor<4xf32> {
  %1 = vdnn.pointwise ins() -> tensor<4xf32> {
    %one = arith.constant 1.0 : f32
    vdnn.yield %one : f32
  }
  // CHECK: vdnn.reduce %{{.*}} {axes = array<i64: 0, 1>, kind = #vdnn<reduction sum_square>} : (tensor<8x16xf32>) -> tensor<1x1xf32>
  %2 = vdnn.reduce %a {kind = #vdnn<reduction sum_square>, axes = array<i64: 0, 1>} : (tensor<8x16xf32>) -> tensor<1x1xf32>
  return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x4x3x3xf32>) {
  // CHECK: vdnn.constant dense<1.000000e+00> : tensor<1x16xf32>
  %0 = vdnn.constant dense<1.0> : tensor<1x16xf32>
  // CHECK: vdnn.reshape %{{.*}} : (tensor<2x4x3x3xf32>) -> tensor<2x36xf32>
  %1 = vdnn.reshape %x : (tensor<2x4x3x3xf32>) -> tensor<2x36xf32>
  // CHECK: vdnn.reorder %{{.*}} : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32, #vdnn.layout<channels_last>>
  %2 = vdnn.reorder %x : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32, #vdnn.layout<channels_last>>
  // CHECK: vdnn.transpose %{{.*}} {permutation = array<i64: 3, 0, 1, 2>}
  %3 = vdnn.transpose %x {permutation = array<i64: 3, 0, 1, 2>} : (tensor<2x4x3x3xf32>) -> tensor<3x2x4x3xf32>
  // CHECK: vdnn.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x8x3x3xf32>
  %4 = vdnn.concat %x, %x {axis = 1 : i64} : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x8x3x3xf32>
  // CHECK: vdnn.slice %{{.*}} {axis = 1 : i64, offset = 3 : i64}
  %5 = vdnn.slice %4 {axis = 1 : i64, offset = 3 : i64} : (tensor<2x8x3x3xf32>) -> tensor<2x5x3x3xf32>
  return
}

// CHECK-LABEL: func.func @loss_and_update
func.func @loss_and_update(%logits: tensor<8x10xf32>, %labels: tensor<8xi64>, %weights: tensor<10xf32>, %p: tensor<16xf32>, %rate: tensor<f32>) {
  // CHECK: vdnn.softmax_cross_entropy %{{.*}}, %{{.*}} {reduction = #vdnn<reduction mean>} : (tensor<8x10xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8x10xf32>)
  %0:2 = vdnn.softmax_cross_entropy %logits, %labels {reduction = #vdnn<reduction mean>} : (tensor<8x10xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8x10xf32>)
  // CHECK: vdnn.softmax_cross_entropy %{{.*}}, %{{.*}}, %{{.*}} {ignore_index = -1 : i64, reduction = #vdnn<reduction none>}
  %1:2 = vdnn.softmax_cross_entropy %logits, %labels, %weights {reduction = #vdnn<reduction none>, ignore_index = -1 : i64}
    : (tensor<8x10xf32>, tensor<8xi64>, tensor<10xf32>) -> (tensor<8xf32>, tensor<8x10xf32>)
  // CHECK: vdnn.sgd %{{.*}}, %{{.*}}, %{{.*}} {momentum = 0.000000e+00 : f64, weight_decay = 0.000000e+00 : f64}
  %2 = vdnn.sgd %p, %p, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  // CHECK: vdnn.sgd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {momentum = 9.000000e-01 : f64, nesterov, weight_decay = 1.000000e-04 : f64}
  %3:2 = vdnn.sgd %p, %p, %rate, %p {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov}
    : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  // CHECK: vdnn.sgd_group %{{.*}} parameters(%{{.*}}, %{{.*}}) gradients(%{{.*}}, %{{.*}}) velocities(%{{.*}}, %{{.*}}) {momentum = 9.000000e-01 : f64, nesterov, weight_decay = 1.000000e-04 : f64}
  %4:4 = vdnn.sgd_group %rate parameters(%p, %logits) gradients(%p, %logits) velocities(%p, %logits) {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov}
    : (tensor<f32>, tensor<16xf32>, tensor<8x10xf32>, tensor<16xf32>, tensor<8x10xf32>, tensor<16xf32>, tensor<8x10xf32>)
      -> (tensor<16xf32>, tensor<8x10xf32>, tensor<16xf32>, tensor<8x10xf32>)
  return
}

// Beside bf16 activations stands f32 where there is one number for many elements.

// CHECK-LABEL: func.func @bf16
func.func @bf16(%x: tensor<2x8x9x9xbf16>, %w: tensor<16x8x3x3xbf16>, %b: tensor<16xf32>, %a: tensor<8x16xbf16>, %c: tensor<16x4xbf16>, %d: tensor<4xf32>, %rate: tensor<f32>,
                %p: tensor<16xf32>, %g: tensor<16xbf16>) {
  // CHECK: vdnn.conv {{.*}} : (tensor<2x8x9x9xbf16>, tensor<16x8x3x3xbf16>, tensor<16xf32>) -> tensor<2x16x7x7xbf16>
  %0 = vdnn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<2x8x9x9xbf16>, tensor<16x8x3x3xbf16>, tensor<16xf32>) -> tensor<2x16x7x7xbf16>
  // CHECK: vdnn.conv_backward_filter {{.*}} -> (tensor<16x8x3x3xbf16>, tensor<16xf32>)
  %1:2 = vdnn.conv_backward_filter %x, %0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<2x8x9x9xbf16>, tensor<2x16x7x7xbf16>) -> (tensor<16x8x3x3xbf16>, tensor<16xf32>)
  // CHECK: vdnn.matmul {{.*}} : (tensor<8x16xbf16>, tensor<16x4xbf16>, tensor<4xf32>) -> tensor<8x4xf32>
  %2 = vdnn.matmul %a, %c, %d : (tensor<8x16xbf16>, tensor<16x4xbf16>, tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK: vdnn.reduce {{.*}} : (tensor<8x16xbf16>) -> tensor<1x16xf32>
  %3 = vdnn.reduce %a {kind = #vdnn<reduction sum>, axes = array<i64: 0>} : (tensor<8x16xbf16>) -> tensor<1x16xf32>
  // CHECK: vdnn.sgd {{.*}} : (tensor<16xf32>, tensor<16xbf16>, tensor<f32>) -> (tensor<16xf32>, tensor<16xbf16>)
  %4:2 = vdnn.sgd %p, %g, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<16xf32>, tensor<16xbf16>, tensor<f32>) -> (tensor<16xf32>, tensor<16xbf16>)
  // CHECK: vdnn.sgd_group %{{.*}} parameters(%{{.*}}) gradients(%{{.*}}) {{{.*}}} : (tensor<f32>, tensor<16xf32>, tensor<16xbf16>) -> (tensor<16xf32>, tensor<16xbf16>)
  %5:2 = vdnn.sgd_group %rate parameters(%p) gradients(%g) {momentum = 0.0 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<16xf32>, tensor<16xbf16>) -> (tensor<16xf32>, tensor<16xbf16>)
  return
}
