// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0" | FileCheck %s

// The gradient reads the output, so that the input may go.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK: %[[Y:[a-z0-9]+]] = vdnn.softmax %[[W]] {axis = 1 : i64,
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[DW:.*]] = vdnn.softmax_backward %[[DY]], %[[Y]] {axis = 1 : i64,
// CHECK-SAME: vdnn.gradient_of = "w"
// CHECK: vdnn.sgd %[[W]], %[[DW]]
func.func @main(%w: tensor<4x8xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<4x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.softmax %w {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// So does that of the logarithm.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK: %[[Y:[a-z0-9]+]] = vdnn.softmax %[[W]] {axis = 0 : i64, log,
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[DW:.*]] = vdnn.softmax_backward %[[DY]], %[[Y]] {axis = 0 : i64, log,
// CHECK-SAME: vdnn.gradient_of = "w"
// CHECK: vdnn.sgd %[[W]], %[[DW]]
func.func @main(%w: tensor<4x8xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<4x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.softmax %w {axis = 0 : i64, log} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
