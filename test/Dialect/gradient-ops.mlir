// RUN: vdnn-opt %s | vdnn-opt | FileCheck %s
// RUN: vdnn-opt -mlir-print-op-generic %s | vdnn-opt | FileCheck %s

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<2x8x9x9xf32>, %w: tensor<16x4x3x3xf32>, %dy: tensor<2x16x5x5xf32>) {
  // CHECK: vdnn.conv_backward_data %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x16x5x5xf32>, tensor<16x4x3x3xf32>) -> tensor<2x8x9x9xf32>
  %0 = vdnn.conv_backward_data %dy, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 2 : i64}
    : (tensor<2x16x5x5xf32>, tensor<16x4x3x3xf32>) -> tensor<2x8x9x9xf32>
  // CHECK: %{{.*}}, %{{.*}} = vdnn.conv_backward_filter {{.*}} -> (tensor<16x4x3x3xf32>, tensor<16xf32>)
  %1:2 = vdnn.conv_backward_filter %x, %dy {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 2 : i64}
    : (tensor<2x8x9x9xf32>, tensor<2x16x5x5xf32>) -> (tensor<16x4x3x3xf32>, tensor<16xf32>)
  // CHECK: vdnn.conv_backward_filter {{.*}} -> tensor<16x4x3x3xf32>
  %2 = vdnn.conv_backward_filter %x, %dy {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 2 : i64}
    : (tensor<2x8x9x9xf32>, tensor<2x16x5x5xf32>) -> tensor<16x4x3x3xf32>
  return
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<2x4x6x6xf32>, %y: tensor<2x4x3x3xf32>, %i: tensor<2x4x3x3xi8>) {
  // CHECK: vdnn.max_pool_backward %{{.*}} index(%{{.*}}) {
  %0 = vdnn.max_pool_backward %y index(%i) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xi8>) -> tensor<2x4x6x6xf32>
  // CHECK: vdnn.max_pool_backward %{{.*}} forward(%{{.*}}, %{{.*}}) {
  %1 = vdnn.max_pool_backward %y forward(%x, %y) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<2x4x3x3xf32>, tensor<2x4x6x6xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  // CHECK: vdnn.avg_pool_backward %{{.*}} {kernel = array<i64: 2, 2>
  %2 = vdnn.avg_pool_backward %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = vdnn.batch_norm_backward
  %0:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v {epsilon = 1.0e-5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: vdnn.batch_norm_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}}) {epsilon = {{.*}}, relu}
  %relu:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v bias(%v) {epsilon = 1.0e-5 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: vdnn.batch_norm_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} y(%{{.*}}) addend(%{{.*}}) {epsilon = {{.*}}, relu}
  %joined:4 = vdnn.batch_norm_backward %x, %x, %v, %v, %v y(%x) addend(%x) {epsilon = 1.0e-5 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
  // CHECK: vdnn.lrn_backward
  %1 = vdnn.lrn_backward %x, %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  // CHECK: vdnn.softmax_backward %{{.*}}, %{{.*}} {axis = 3 : i64, log}
  %2 = vdnn.softmax_backward %x, %x {axis = 3 : i64, log} : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  return
}

// CHECK-LABEL: func.func @loss
func.func @loss(%dloss: tensor<f32>, %lp: tensor<8x10x5xf32>, %labels: tensor<8x5xi32>, %w: tensor<10xf32>) {
  // CHECK: vdnn.softmax_cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {ignore_index = 0 : i64, reduction = #vdnn<reduction sum>}
  %0 = vdnn.softmax_cross_entropy_backward %dloss, %lp, %labels, %w {reduction = #vdnn<reduction sum>, ignore_index = 0 : i64}
    : (tensor<f32>, tensor<8x10x5xf32>, tensor<8x5xi32>, tensor<10xf32>) -> tensor<8x10x5xf32>
  return
}
