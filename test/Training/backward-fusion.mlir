// RUN: vdnn-opt %s --vdnn-cast-to-bf16 --vdnn-build-step="loss=mse momentum=0" --vdnn-keep-derived-copies | FileCheck %s

// In bf16 too the batch norm before a residual block adds up the gradients of both branches and masks them: the cast of a
// parameter's gradient, which is gone once the update takes it as it is, does not keep them apart.

// CHECK-LABEL: func.func @main
// CHECK: %[[Y:[a-z0-9_]+]], {{.*}} = vdnn.batch_norm {{.*}} residual(
// CHECK: %[[AFTER:[0-9]+]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[DX:[0-9]+]] = vdnn.conv_backward_data {{.*}} -> tensor<2x3x4x4xbf16>
// CHECK-NEXT: vdnn.sgd
// CHECK-NEXT: vdnn.batch_norm_backward %[[AFTER]], {{.*}} y(%[[Y]]) addend(%[[DX]]) {{.*}}relu
// CHECK-NOT: arith.addf
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %w: tensor<3x3x1x1xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %n0:5 = vdnn.batch_norm %x, %m, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %i:5 = vdnn.batch_norm %x, %g, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %s0 = vdnn.pointwise ins(%n0#0, %i#0 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    vdnn.yield %r : f32
  }
  %z0 = vdnn.pointwise ins(%s0 : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  %conv = vdnn.conv %z0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64}
    : (tensor<2x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<2x3x4x4xf32>
  %n1:5 = vdnn.batch_norm %conv, %m, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %s1 = vdnn.pointwise ins(%n1#0, %z0 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    vdnn.yield %r : f32
  }
  %z1 = vdnn.pointwise ins(%s1 : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  return %z1 : tensor<2x3x4x4xf32>
}
