// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0" | FileCheck %s
// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0 fuse=none" | FileCheck %s --check-prefix=PLAIN
// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=mse momentum=0 storage=paper" | FileCheck %s --check-prefix=PLAIN
// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=none" | FileCheck %s --check-prefix=INFERENCE
// RUN: vdnn-opt %s --split-input-file --vdnn-build-step="loss=none fuse=none" | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: relu,

// A convolution with a bias and its ReLU become one op, which has the ReLU's name; the gradient is masked by what it returns.

// CHECK-LABEL: func.func @main
// CHECK: %[[Y:[a-z0-9_]+]] = vdnn.conv %{{.*}}, %{{.*}}, %{{.*}} {dilations
// CHECK-SAME: relu
// CHECK-SAME: vdnn.names = ["relu_out"]
// CHECK-NOT: arith.maximumf
// CHECK: %[[MASKED:[0-9]+]] = vdnn.pointwise ins(%[[Y]], {{.*}}vdnn.phase = "backward"
// CHECK: arith.cmpf ogt
// CHECK: vdnn.conv_backward_filter %{{.*}}, %[[MASKED]]

// In inference as well.

// INFERENCE-LABEL: func.func @main
// INFERENCE: %[[Y:[a-z0-9_]+]] = vdnn.conv %{{.*}}, %{{.*}}, %{{.*}} {dilations
// INFERENCE-SAME: relu
// INFERENCE-SAME: vdnn.names = ["relu_out"]
// INFERENCE-NEXT: return %[[Y]]
// INFERENCE-LABEL: func.func @main
// INFERENCE-NOT: relu,
// INFERENCE: return
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<5x3x1x1xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %b: tensor<5xf32> {vdnn.name = "b", vdnn.role = "parameter"})
    -> (tensor<2x5x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y = vdnn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, vdnn.names = ["conv_out"]}
    : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>, tensor<5xf32>) -> tensor<2x5x4x4xf32>
  %z = vdnn.pointwise ins(%y : tensor<2x5x4x4xf32>) {vdnn.names = ["relu_out"]} -> tensor<2x5x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    vdnn.yield %r : f32
  }
  return %z : tensor<2x5x4x4xf32>
}

// -----

// Not without a bias, nor where something else reads what the convolution returns.

// CHECK-LABEL: func.func @main
// CHECK-NOT: relu,
// CHECK: arith.maximumf
// CHECK-NOT: relu,
// CHECK: arith.maximumf
// CHECK-NOT: relu,
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<3x3x1x1xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %b: tensor<3xf32> {vdnn.name = "b", vdnn.role = "parameter"})
    -> (tensor<2x3x4x4xf32> {vdnn.name = "z", vdnn.role = "output"}, tensor<2x3x4x4xf32> {vdnn.name = "u", vdnn.role = "output"}) {
  %y = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64}
    : (tensor<2x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<2x3x4x4xf32>
  %r = vdnn.pointwise ins(%y : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %c : f32
    vdnn.yield %m : f32
  }
  %q = vdnn.conv %r, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64}
    : (tensor<2x3x4x4xf32>, tensor<3x3x1x1xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
  %z = vdnn.pointwise ins(%q : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %c : f32
    vdnn.yield %m : f32
  }
  return %z, %q : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>
}

// -----

// A ReLU between a convolution and a max pool goes behind the pool, under the pool's name. What entered the pool is read by no backward op, and the
// gradient of the bias is summed over the pool's output.

// CHECK-LABEL: func.func @main
// CHECK: %[[Y:[a-z0-9_]+]] = vdnn.conv {{.*}}vdnn.names = ["conv_out"]
// CHECK-NEXT: %[[P:[a-z0-9_]+]], %[[INDEX:[a-z0-9_]+]] = vdnn.max_pool %[[Y]]
// CHECK-NOT: pool_out
// CHECK: %[[R:[a-z0-9_]+]] = vdnn.pointwise ins(%[[P]] : tensor<2x5x2x2xf32>) {{.*}}vdnn.names = ["pool_out"]
// CHECK: arith.maximumf
// CHECK: %[[MASKED:[0-9]+]] = vdnn.pointwise ins(%[[R]], {{.*}}vdnn.phase = "backward"
// CHECK: %[[DY:[0-9]+]] = vdnn.max_pool_backward %[[MASKED]] index(%[[INDEX]])
// CHECK: %[[SUM:[0-9]+]] = vdnn.reduce %[[MASKED]] {{.*}}vdnn.gradient_of = "b"
// CHECK: vdnn.conv_backward_filter %{{[a-z0-9]+}}, %[[DY]] {{.*}} -> tensor<5x3x1x1xf32>
// CHECK-NOT: %[[Y]]
// CHECK: return
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<5x3x1x1xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %b: tensor<5xf32> {vdnn.name = "b", vdnn.role = "parameter"})
    -> (tensor<2x5x2x2xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y = vdnn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, vdnn.names = ["conv_out"]}
    : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>, tensor<5xf32>) -> tensor<2x5x4x4xf32>
  %r = vdnn.pointwise ins(%y : tensor<2x5x4x4xf32>) {vdnn.names = ["relu_out"]} -> tensor<2x5x4x4xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %c : f32
    vdnn.yield %m : f32
  }
  %z = vdnn.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, vdnn.names = ["pool_out"]}
    : (tensor<2x5x4x4xf32>) -> tensor<2x5x2x2xf32>
  return %z : tensor<2x5x2x2xf32>
}

// -----

// Not where something else reads what the ReLU returns, nor where a window may lie in the padding alone. The gradient of the bias is then the sum
// over the convolution's result.

// CHECK-LABEL: func.func @main
// CHECK: vdnn.conv
// CHECK-SAME: relu
// CHECK-NEXT: vdnn.max_pool
// CHECK: vdnn.conv
// CHECK-SAME: relu
// CHECK-NEXT: vdnn.max_pool
// CHECK: vdnn.max_pool_backward
// CHECK-NOT: vdnn.reduce
// CHECK: vdnn.conv_backward_filter {{.*}} -> (tensor<5x5x1x1xf32>, tensor<5xf32>)
// CHECK-NOT: vdnn.reduce
// CHECK: vdnn.conv_backward_filter {{.*}} -> (tensor<5x3x1x1xf32>, tensor<5xf32>)
// CHECK-NOT: vdnn.reduce
func.func @main(%x: tensor<2x3x4x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<5x3x1x1xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %b: tensor<5xf32> {vdnn.name = "b", vdnn.role = "parameter"},
                %v: tensor<5x5x1x1xf32> {vdnn.name = "v", vdnn.role = "parameter"},
                %c: tensor<5xf32> {vdnn.name = "c", vdnn.role = "parameter"})
    -> (tensor<2x5x2x2xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y = vdnn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64}
    : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>, tensor<5xf32>) -> tensor<2x5x4x4xf32>
  %r = vdnn.pointwise ins(%y : tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32> {
  ^bb0(%a: f32):
    %k = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %k : f32
    vdnn.yield %m : f32
  }
  %p = vdnn.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<2x5x4x4xf32>) -> tensor<2x5x2x2xf32>
  %y1 = vdnn.conv %r, %v, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64}
    : (tensor<2x5x4x4xf32>, tensor<5x5x1x1xf32>, tensor<5xf32>) -> tensor<2x5x4x4xf32>
  %r1 = vdnn.pointwise ins(%y1 : tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32> {
  ^bb0(%a: f32):
    %k = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %k : f32
    vdnn.yield %m : f32
  }
  %p1 = vdnn.max_pool %r1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 2, 2>}
    : (tensor<2x5x4x4xf32>) -> tensor<2x5x2x2xf32>
  %z = vdnn.pointwise ins(%p, %p1 : tensor<2x5x2x2xf32>, tensor<2x5x2x2xf32>) -> tensor<2x5x2x2xf32> {
  ^bb0(%a: f32, %d: f32):
    %s = arith.addf %a, %d : f32
    vdnn.yield %s : f32
  }
  return %z : tensor<2x5x2x2xf32>
}
