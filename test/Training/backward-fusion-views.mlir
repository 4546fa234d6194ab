// RUN: vdnn-opt %s --vdnn-build-step="loss=mse momentum=0" | FileCheck %s

// The gradient of a ReLU could take in that of the frozen batch norm behind it, but for the update of the scale between them: the
// latter reads the scale, through a view, and the new value may take the old one's bytes.

// CHECK-LABEL: func.func @main
// CHECK: %[[VIEW:[0-9]+]] = vdnn.reshape %[[G:arg2]] {{.*}}vdnn.phase = "backward"
// CHECK: vdnn.pointwise ins({{.*}}%[[VIEW]]{{.*}}vdnn.phase = "backward"
// CHECK: vdnn.sgd %[[G]],
// CHECK-NOT: %[[VIEW]]
// CHECK: vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK-NOT: %[[VIEW]]
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<3x3x1x1xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %conv = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64}
    : (tensor<2x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<2x3x4x4xf32>
  %relu = vdnn.pointwise ins(%conv : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  %y = vdnn.batch_norm_inference %relu, %g, %m, %m, %m {epsilon = 1.0e-5 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
  return %y : tensor<2x3x4x4xf32>
}
