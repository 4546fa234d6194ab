// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=output momentum=0" | FileCheck %s

// The gradient of a ReLU reads its output, so that the ReLU may work in place.

// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = vdnn.pointwise ins(%{{[a-z0-9]+}} : tensor<4xf32>)
// CHECK: vdnn.reduce
// CHECK: vdnn.pointwise ins(%[[Y]], %{{.*}} : tensor<4xf32>
// CHECK-SAME: vdnn.gradient_of = "w"
// CHECK: arith.cmpf ogt
// CHECK: arith.select
func.func @main(%x: tensor<4xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<1xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y = vdnn.pointwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  %z = vdnn.reduce %y {kind = #vdnn<reduction sum>, axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<1xf32>
  return %z : tensor<1xf32>
}

// -----

// A broadcast operand gets the sum; an addition hands the gradient on as it is.

// CHECK-LABEL: func.func @main
// CHECK: arith.addf
// CHECK: %[[DY:.*]] = vdnn.pointwise ins(%{{[a-z0-9]+}} : tensor<1x1xf32>)
// CHECK: vdnn.reduce %[[DY]] {axes = array<i64: 0>
// CHECK-SAME: vdnn.gradient_of = "b"
func.func @main(%x: tensor<4x3xf32> {vdnn.name = "x", vdnn.role = "input"}, %b: tensor<1x3xf32> {vdnn.name = "b", vdnn.role = "parameter"})
    -> (tensor<1x1xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y = vdnn.pointwise ins(%x, %b : tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a: f32, %c: f32):
    %r = arith.addf %a, %c : f32
    vdnn.yield %r : f32
  }
  %z = vdnn.reduce %y {kind = #vdnn<reduction mean>, axes = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<1x1xf32>
  return %z : tensor<1x1xf32>
}
