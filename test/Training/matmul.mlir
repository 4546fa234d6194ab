// RUN: vdnn-opt %s --vdnn-build-step="momentum=0" | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<3x5xf32>
// CHECK-SAME: vdnn.name = "labels", vdnn.role = "input"
// CHECK-NOT: velocity
// CHECK: %[[H:.*]] = vdnn.matmul %[[X]], %[[W]]
// CHECK: %[[LOSS:.*]], %[[LP:.*]] = vdnn.softmax_cross_entropy
// CHECK: %[[ONE:.*]] = vdnn.constant
// CHECK: %[[DY:.*]] = vdnn.softmax_cross_entropy_backward %[[ONE]], %[[LP]]
// CHECK: %[[DV:.*]] = vdnn.matmul %[[H]], %[[DY]] {transpose_a
// CHECK: %[[DH:.*]] = vdnn.matmul %[[DY]], %[[V]] {transpose_b
// CHECK: vdnn.sgd %[[V]], %[[DV]]
// CHECK: %[[DW:.*]] = vdnn.matmul %[[DH]], %[[X]] {transpose_a
// CHECK: %[[SUM:.*]] = vdnn.reduce %[[DH]] {axes = array<i64: 0>, kind = #vdnn<reduction sum>, vdnn.gradient_of = "b"
// CHECK: vdnn.reshape %[[SUM]]
// CHECK: vdnn.sgd %[[W]], %[[DW]]
// CHECK: return %{{.*}}, %[[LOSS]],
func.func @main(%x: tensor<8x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<3x4xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %b: tensor<3xf32> {vdnn.name = "b", vdnn.role = "parameter"},
                %v: tensor<3x5xf32> {vdnn.name = "v", vdnn.role = "parameter"})
    -> (tensor<8x5xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %h = vdnn.matmul %x, %w, %b {transpose_b, vdnn.names = ["h"]} : (tensor<8x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %y = vdnn.matmul %h, %v {vdnn.names = ["y"]} : (tensor<8x3xf32>, tensor<3x5xf32>) -> tensor<8x5xf32>
  return %y : tensor<8x5xf32>
}
