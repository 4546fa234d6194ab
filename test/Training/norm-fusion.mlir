// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0" | FileCheck %s
// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0 fuse=none" | FileCheck %s --check-prefix=PLAIN
// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0 storage=paper" | FileCheck %s --check-prefix=PLAIN
// RUN: not vdnn-opt %s --split-input-file --vdnn-build-step="fuse=some" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown fusion 'some'; expected all or none
// PLAIN-NOT: relu,
// PLAIN-NOT: residual(
// PLAIN-NOT: bias(

// A batch norm and its ReLU become one op, which has the ReLU's name. The backward op takes the bias in place of the output.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4x4xf32>
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<3xf32> {vdnn.name = "g"
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<3xf32> {vdnn.name = "b"
// CHECK: %[[Y:[a-z0-9_]+]], %[[MEAN:[a-z0-9_]+]], %[[STD:[a-z0-9_]+]], %{{.*}}, %{{.*}} = vdnn.batch_norm %[[X]], %[[G]], %[[B]], %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {epsilon
// CHECK-SAME: relu, vdnn.layer = 0 : i64, vdnn.names = ["relu_out", "mean", "inv_std", "m1", "v1"]
// CHECK-NOT: arith.maximumf
// CHECK-NOT: arith.cmpf
// CHECK: vdnn.batch_norm_backward %{{.*}}, %[[X]], %[[G]], %[[MEAN]], %[[STD]] bias(%[[B]]) {epsilon = 1.000000e-05 : f64, relu
// CHECK-SAME: vdnn.gradients = ["", "g", "b"]
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %b: tensor<3xf32> {vdnn.name = "b", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"},
                %v: tensor<3xf32> {vdnn.name = "v", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y:5 = vdnn.batch_norm %x, %g, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, vdnn.names = ["norm_out", "mean", "inv_std", "m1", "v1"]}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %z = vdnn.pointwise ins(%y#0 : tensor<2x3x4x4xf32>) {vdnn.names = ["relu_out"]} -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  return %z : tensor<2x3x4x4xf32>
}

// -----

// The end of a residual block with a projection: of the two batch norms the later one takes the other's result. One op masks the gradient by the
// output, for both.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4x4xf32>
// CHECK: %[[FIRST:[a-z0-9_]+]], %[[MEAN0:[a-z0-9_]+]], %[[STD0:[a-z0-9_]+]], %{{.*}}, %{{.*}} = vdnn.batch_norm
// CHECK-NOT: relu
// CHECK: %[[Y:[a-z0-9_]+]], %[[MEAN1:[a-z0-9_]+]], %[[STD1:[a-z0-9_]+]], %{{.*}}, %{{.*}} = vdnn.batch_norm {{.*}} residual(%[[FIRST]]) {epsilon
// CHECK-SAME: relu
// CHECK-SAME: vdnn.names = ["relu_out"
// CHECK: %[[MASKED:[0-9]+]] = vdnn.pointwise ins(%[[Y]], {{.*}}vdnn.phase = "backward"
// CHECK: arith.cmpf ogt
// CHECK: arith.select
// CHECK: vdnn.batch_norm_backward %[[MASKED]], %[[X]], %{{.*}}, %[[MEAN1]], %[[STD1]] {epsilon
// CHECK: vdnn.batch_norm_backward %[[MASKED]], %[[X]], %{{.*}}, %[[MEAN0]], %[[STD0]] {epsilon
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %h: tensor<3xf32> {vdnn.name = "h", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y:5 = vdnn.batch_norm %x, %g, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %p:5 = vdnn.batch_norm %x, %h, %m, %m, %m {epsilon = 1.0e-3 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %s = vdnn.pointwise ins(%y#0, %p#0 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    vdnn.yield %r : f32
  }
  %z = vdnn.pointwise ins(%s : tensor<2x3x4x4xf32>) {vdnn.names = ["relu_out"]} -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  return %z : tensor<2x3x4x4xf32>
}

// -----

// A batch norm waits for what is added to it.

// CHECK-LABEL: func.func @main
// CHECK: %[[EXP:[a-z0-9_]+]] = vdnn.pointwise
// CHECK: math.exp
// CHECK: vdnn.batch_norm {{.*}} residual(%[[EXP]]) {epsilon
// CHECK-SAME: relu
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y:5 = vdnn.batch_norm %x, %g, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %e = vdnn.pointwise ins(%x : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    vdnn.yield %r : f32
  }
  %s = vdnn.pointwise ins(%e, %y#0 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    vdnn.yield %r : f32
  }
  %z = vdnn.pointwise ins(%s : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  return %z : tensor<2x3x4x4xf32>
}

// -----

// Not where something else reads the normalised values, nor where the maximum is with another number.

// CHECK-LABEL: func.func @main
// CHECK-NOT: relu
// CHECK: arith.constant 1.0
// CHECK: arith.maximumf
// CHECK-NOT: relu
// CHECK: arith.maximumf
// CHECK-NOT: relu
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}, tensor<2x3x4x4xf32> {vdnn.name = "u", vdnn.role = "output"}) {
  %y:5 = vdnn.batch_norm %x, %g, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %o = vdnn.pointwise ins(%y#0 : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 1.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  %q:5 = vdnn.batch_norm %o, %g, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %z = vdnn.pointwise ins(%q#0 : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  return %z, %q#0 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>
}

// -----

// Between two residual blocks the batch norm adds up the gradients of both branches and masks them, although a parameter is updated in between.

// CHECK-LABEL: func.func @main
// CHECK: %[[Y:[a-z0-9_]+]], {{.*}} = vdnn.batch_norm {{.*}} residual(
// CHECK: vdnn.batch_norm {{.*}} residual(%[[Y]]) {epsilon
// CHECK: %[[AFTER:[0-9]+]] = vdnn.pointwise {{.*}}vdnn.phase = "backward"
// CHECK: %[[DX:[0-9]+]] = vdnn.conv_backward_data
// CHECK-NEXT: vdnn.sgd
// CHECK-NEXT: vdnn.batch_norm_backward %[[AFTER]], {{.*}} y(%[[Y]]) addend(%[[DX]]) {{.*}}relu
// CHECK-NOT: arith.addf
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %g: tensor<3xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %w: tensor<3x3x1x1xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %m: tensor<3xf32> {vdnn.name = "m", vdnn.role = "state"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %n0:5 = vdnn.batch_norm %x, %g, %m, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %s0 = vdnn.pointwise ins(%n0#0, %x : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
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
