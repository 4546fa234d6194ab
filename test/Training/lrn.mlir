// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0" | FileCheck %s

// The gradient takes the input and the same attributes; nothing else is kept.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<1x8x2x2xf32>
// CHECK: %[[Y:[a-z0-9]+]] = vdnn.lrn %[[W]]
// CHECK: %[[DY:.*]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[DW:.*]] = vdnn.lrn_backward %[[DY]], %[[W]] {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 2.000000e+00 : f64, size = 5 : i64
// CHECK-SAME: vdnn.gradient_of = "w"
// CHECK: vdnn.sgd %[[W]], %[[DW]]
func.func @main(%w: tensor<1x8x2x2xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<1x8x2x2xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.lrn %w {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 2.0 : f64} : (tensor<1x8x2x2xf32>) -> tensor<1x8x2x2xf32>
  return %y : tensor<1x8x2x2xf32>
}
