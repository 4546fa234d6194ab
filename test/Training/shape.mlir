// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0" | FileCheck %s

// The gradient of a transpose is the inverse transpose.

// CHECK-LABEL: func.func @main
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: vdnn.transpose %[[DY]] {permutation = array<i64: 1, 2, 0>
// CHECK-SAME: vdnn.gradient_of = "w"
// CHECK-SAME: (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
func.func @main(%w: tensor<2x3x4xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<4x2x3xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.transpose %w {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}

// -----

// The gradient of a concat is a slice for each operand that is trained, at its offset.

// CHECK-LABEL: func.func @main
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK-DAG: vdnn.slice %[[DY]] {axis = 1 : i64, offset = 0 : i64, vdnn.gradient_of = "v"{{.*}} -> tensor<2x3xf32>
// CHECK-DAG: vdnn.slice %[[DY]] {axis = 1 : i64, offset = 4 : i64, vdnn.gradient_of = "w"{{.*}} -> tensor<2x4xf32>
// CHECK-NOT: tensor<2x1xf32>
// CHECK: return
func.func @main(%v: tensor<2x3xf32> {vdnn.name = "v", vdnn.role = "parameter"},
                %x: tensor<2x1xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<2x4xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<2x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.concat %v, %x, %w {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// What a slice leaves out gets zeros.

// CHECK-LABEL: func.func @main
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[ZERO:.*]] = vdnn.pointwise {{.*}} -> tensor<2x2xf32>
// CHECK: arith.constant 0.000000e+00
// CHECK: vdnn.concat %[[ZERO]], %[[DY]] {axis = 1 : i64, vdnn.gradient_of = "w"{{.*}}vdnn.phase = "backward"
func.func @main(%w: tensor<2x5xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<2x3xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.slice %w {axis = 1 : i64, offset = 2 : i64} : (tensor<2x5xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Slices that cover a tensor give its gradient in one concat, without zeros and sums.

// CHECK-LABEL: func.func @main
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[DB:.*]] = vdnn.slice %[[DY]] {axis = 1 : i64, offset = 0 : i64
// CHECK: %[[DA:.*]] = vdnn.slice %[[DY]] {axis = 1 : i64, offset = 3 : i64
// CHECK-NOT: vdnn.constant
// CHECK: vdnn.concat %[[DA]], %[[DB]] {axis = 1 : i64, vdnn.gradient_of = "w"{{.*}}vdnn.phase = "backward"
// CHECK-NOT: arith.addf
// CHECK: return
func.func @main(%w: tensor<2x5xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<2x5xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %a = vdnn.slice %w {axis = 1 : i64, offset = 0 : i64} : (tensor<2x5xf32>) -> tensor<2x2xf32>
  %b = vdnn.slice %w {axis = 1 : i64, offset = 2 : i64} : (tensor<2x5xf32>) -> tensor<2x3xf32>
  %y = vdnn.concat %b, %a {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
