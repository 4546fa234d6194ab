// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0" | FileCheck %s

// One op gives the gradients of scale and bias; it takes what the forward pass kept of the batch. Running statistics get no gradient.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4x4xf32>
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<3xf32> {vdnn.name = "g"
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<3xf32> {vdnn.name = "b"
// CHECK: %[[Y:[a-z0-9_]+]], %[[MEAN:[a-z0-9_]+]], %[[STD:[a-z0-9_]+]], %[[M:[a-z0-9_]+]], %[[V:[a-z0-9_]+]] = vdnn.batch_norm %[[X]], %[[G]]
// CHECK: %{{.*}}, %[[DG:.*]], %[[DB:.*]] = vdnn.batch_norm_backward %{{.*}}, %[[X]], %[[G]], %[[MEAN]], %[[STD]] {epsilon = 1.000000e-05
// CHECK-SAME: vdnn.gradients = ["", "g", "b"]
// CHECK: %[[NEWG:.*]] = vdnn.sgd %[[G]], %[[DG]]
// CHECK: %[[NEWB:.*]] = vdnn.sgd %[[B]], %[[DB]]
// CHECK-NOT: vdnn.sgd
// CHECK: return %[[Y]], %[[M]], %[[V]], %{{.*}}, %[[NEWG]], %[[NEWB]]
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %b: tensor<3xf32> {vdnn.name = "b", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"},
                %v: tensor<3xf32> {vdnn.name = "v", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "y", vdnn.role = "output"}, tensor<3xf32> {vdnn.name = "m", vdnn.role = "update"},
        tensor<3xf32> {vdnn.name = "v", vdnn.role = "update"}) {
  %y:5 = vdnn.batch_norm %x, %g, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, vdnn.names = ["y", "", "", "", ""]}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y#0, %y#3, %y#4 : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>
}
