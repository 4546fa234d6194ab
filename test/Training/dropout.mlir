// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0" | FileCheck %s

// No mask is kept: the gradient draws the same mask again, by the same id, seed and step.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: tensor<i64> {vdnn.name = "vdnn.seed"
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: tensor<i64> {vdnn.name = "vdnn.step"
// CHECK: vdnn.dropout %[[W]], %[[SEED]], %[[STEP]] {id = 3 : i64, ratio = 5.000000e-01
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[DW:.*]] = vdnn.dropout %[[DY]], %[[SEED]], %[[STEP]] {id = 3 : i64, ratio = 5.000000e-01
// CHECK-SAME: vdnn.gradient_of = "w"
// CHECK: vdnn.sgd %[[W]], %[[DW]]
func.func @main(%w: tensor<4x8xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %seed: tensor<i64> {vdnn.name = "vdnn.seed", vdnn.role = "input"},
                %step: tensor<i64> {vdnn.name = "vdnn.step", vdnn.role = "input"})
    -> (tensor<4x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.dropout %w, %seed, %step {ratio = 0.5 : f64, id = 3 : i64} : (tensor<4x8xf32>, tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
