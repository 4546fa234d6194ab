// RUN: vdnn-opt %s --vdnn-build-step="loss=output momentum=0.9 weight-decay=0.1" | FileCheck %s

// The input's gradient is not computed. The filter's gradient comes before the data's, and each update right after the backward ops of the
// first op that reads the parameter.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x2x4x4xf32>
// CHECK-SAME: %[[W1:[a-z0-9]+]]: tensor<2x2x3x3xf32>
// CHECK-SAME: %[[B1:[a-z0-9]+]]: tensor<2xf32>
// CHECK-SAME: %[[W2:[a-z0-9]+]]: tensor<1x2x4x4xf32>
// CHECK-SAME: vdnn.name = "vdnn.rate", vdnn.role = "input"
// CHECK-SAME: vdnn.name = "w2.velocity", vdnn.role = "state"
// CHECK: %[[Y:.*]] = vdnn.conv %[[X]], %[[W1]], %[[B1]]
// CHECK-SAME: vdnn.layer = 0 : i64
// CHECK-SAME: vdnn.phase = "forward"
// CHECK: vdnn.conv %[[Y]], %[[W2]]
// CHECK: %[[DW2:.*]] = vdnn.conv_backward_filter %[[Y]], %[[DZ:.*]] {
// CHECK-SAME: vdnn.gradient_of = "w2"
// CHECK-SAME: vdnn.layer = 1 : i64
// CHECK-SAME: vdnn.names = ["w2.grad"]
// CHECK-SAME: vdnn.phase = "backward"
// CHECK: %[[DY:.*]] = vdnn.conv_backward_data %[[DZ]], %[[W2]]
// CHECK-SAME: vdnn.names = ["y.grad"]
// CHECK: vdnn.sgd %[[W2]], %[[DW2]]
// CHECK-SAME: momentum = 9.000000e-01
// CHECK-SAME: vdnn.layer = 1 : i64
// CHECK-SAME: vdnn.phase = "update"
// CHECK-SAME: weight_decay = 1.000000e-01
// CHECK: %[[D1:.*]], %[[DB1:.*]] = vdnn.conv_backward_filter %[[X]], %[[DY]]
// CHECK-SAME: vdnn.gradients = ["w1", "b1"]
// CHECK-NOT: vdnn.conv_backward_data
// CHECK: vdnn.sgd %[[W1]], %[[D1]]
// CHECK: vdnn.sgd %[[B1]], %[[DB1]]
func.func @main(%x: tensor<1x2x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w1: tensor<2x2x3x3xf32> {vdnn.name = "w1", vdnn.role = "parameter"},
                %b1: tensor<2xf32> {vdnn.name = "b1", vdnn.role = "parameter"},
                %w2: tensor<1x2x4x4xf32> {vdnn.name = "w2", vdnn.role = "parameter"})
    -> (tensor<1x1x1x1xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y = vdnn.conv %x, %w1, %b1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, vdnn.names = ["y"]}
    : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %z = vdnn.conv %y, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, vdnn.names = ["z"]}
    : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x1x1x1xf32>
  return %z : tensor<1x1x1x1xf32>
}
