// RUN: vdnn-opt %s --split-input-file --vdnn-cast-to-bf16 | FileCheck %s
// RUN: vdnn-opt %s --split-input-file --vdnn-cast-to-bf16 --vdnn-build-step="loss=mse" | FileCheck %s --check-prefix=STEP
// RUN: vdnn-opt %s --split-input-file --vdnn-cast-to-bf16 --vdnn-build-step="loss=mse" --vdnn-keep-derived-copies | FileCheck %s --check-prefix=COPY

// Every product works in bf16; parameters are cast right before it. The bias of a convolution, scales and statistics stay f32, that of a matrix product
// has its result's type. The last product gives the f32 of the network's output itself.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4x6x6xf32> {vdnn.name = "x"
// CHECK-SAME: -> (tensor<2x5xf32>
// CHECK: %[[X16:.*]] = vdnn.pointwise ins(%[[X]] : tensor<2x4x6x6xf32>) {vdnn.names = ["x.bf16"]} -> tensor<2x4x6x6xbf16>
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32):
// CHECK-NEXT: vdnn.yield %[[S]] : f32
// CHECK: %[[W16:.*]] = vdnn.pointwise ins(%{{.*}} : tensor<8x4x3x3xf32>) {vdnn.names = ["w.bf16"]} -> tensor<8x4x3x3xbf16>
// CHECK: vdnn.conv %[[X16]], %[[W16]], %{{.*}} : (tensor<2x4x6x6xbf16>, tensor<8x4x3x3xbf16>, tensor<8xf32>) -> tensor<2x8x4x4xbf16>
// CHECK: vdnn.batch_norm {{.*}} : (tensor<2x8x4x4xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8x4x4xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK: vdnn.pointwise ins(%{{.*}} : tensor<2x8x4x4xbf16>) {{.*}}-> tensor<2x8x4x4xbf16>
// CHECK: vdnn.max_pool {{.*}} : (tensor<2x8x4x4xbf16>) -> tensor<2x8x2x2xbf16>
// CHECK: vdnn.reshape {{.*}} : (tensor<2x8x2x2xbf16>) -> tensor<2x32xbf16>
// CHECK: vdnn.pointwise ins(%{{.*}} : tensor<7x32xf32>) {vdnn.names = ["u.bf16"]} -> tensor<7x32xbf16>
// CHECK: vdnn.pointwise ins(%{{.*}} : tensor<7xf32>) {vdnn.names = ["c.bf16"]} -> tensor<7xbf16>
// CHECK: vdnn.matmul {{.*}} : (tensor<2x32xbf16>, tensor<7x32xbf16>, tensor<7xbf16>) -> tensor<2x7xbf16>
// CHECK: vdnn.pointwise ins(%{{.*}} : tensor<5x7xf32>) {vdnn.names = ["v.bf16"]} -> tensor<5x7xbf16>
// CHECK-NOT: vdnn.pointwise
// CHECK: vdnn.matmul {{.*}} : (tensor<2x7xbf16>, tensor<5x7xbf16>, tensor<5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: return

// Gradients have the type of what they belong to. That of an f32 bias comes out of the product or the reduction in f32.
// STEP-LABEL: func.func @main
// STEP: %[[D16:.*]] = vdnn.pointwise ins(%{{.*}} : tensor<2x5xf32>) {{.*}}-> tensor<2x5xbf16>
// STEP: vdnn.matmul %[[D16]], {{.*}} : (tensor<2x5xbf16>, tensor<2x7xbf16>) -> tensor<5x7xbf16>
// STEP: vdnn.reduce {{.*}}vdnn.gradient_of = "d"{{.*}} : (tensor<2x5xf32>) -> tensor<1x5xf32>
// STEP: vdnn.pointwise {{.*}}vdnn.gradient_of = "v", {{.*}}vdnn.names = ["v.grad"]{{.*}} -> tensor<5x7xf32>
// STEP: vdnn.reduce {{.*}}vdnn.gradient_of = "c"{{.*}} : (tensor<2x7xbf16>) -> tensor<1x7xf32>
// STEP: vdnn.max_pool_backward {{.*}} -> tensor<2x8x4x4xbf16>
// STEP: vdnn.batch_norm_backward {{.*}} : (tensor<2x8x4x4xbf16>, tensor<2x8x4x4xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8x4x4xbf16>, tensor<8xf32>, tensor<8xf32>)
// STEP: vdnn.conv_backward_filter {{.*}} : (tensor<2x4x6x6xbf16>, tensor<2x8x4x4xbf16>) -> (tensor<8x4x3x3xbf16>, tensor<8xf32>)
// STEP-NOT: conv_backward_data

// The update writes the copy and takes the gradient as it is made, under the name of the whole gradient.
// COPY-LABEL: func.func @main
// COPY-SAME: %[[W:[a-z0-9]+]]: tensor<8x4x3x3xf32> {vdnn.name = "w"
// COPY-SAME: %[[COPY:[a-z0-9]+]]: tensor<8x4x3x3xbf16> {vdnn.initial = #vdnn.initial<converted, "w">, vdnn.name = "w.bf16", vdnn.role = "state"}
// COPY-SAME: tensor<8x4x3x3xbf16> {vdnn.name = "w.bf16", vdnn.role = "update"}
// COPY-NOT: "w.bf16"
// COPY: vdnn.conv %{{.*}}, %[[COPY]], %{{.*}}
// COPY-NOT: vdnn.gradient_of = "v"{{.*}}tensor<5x7xf32>
// COPY: vdnn.matmul {{.*}}vdnn.gradient_of = "v", {{.*}}vdnn.names = ["v.grad"]{{.*}} -> tensor<5x7xbf16>
// COPY: %[[DW:.*]], %{{.*}} = vdnn.conv_backward_filter {{.*}}vdnn.gradients = ["w", "b"], {{.*}}vdnn.names = ["w.grad", "b.grad"]
// COPY: %{{.*}}, %[[NEW:[a-z0-9_]+]]:2 = vdnn.sgd %[[W]], %[[DW]], {{.*}} : (tensor<8x4x3x3xf32>, tensor<8x4x3x3xbf16>, tensor<f32>, tensor<8x4x3x3xf32>) -> (tensor<8x4x3x3xf32>, tensor<8x4x3x3xf32>, tensor<8x4x3x3xbf16>)
// COPY: return {{.*}}%[[NEW]]#1
func.func @main(%x: tensor<2x4x6x6xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<8x4x3x3xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %b: tensor<8xf32> {vdnn.name = "b", vdnn.role = "parameter"},
                %g: tensor<8xf32> {vdnn.name = "g", vdnn.role = "parameter"},
                %h: tensor<8xf32> {vdnn.name = "h", vdnn.role = "parameter"},
                %m: tensor<8xf32> {vdnn.name = "m", vdnn.role = "state"},
                %s: tensor<8xf32> {vdnn.name = "s", vdnn.role = "state"},
                %u: tensor<7x32xf32> {vdnn.name = "u", vdnn.role = "parameter"},
                %c: tensor<7xf32> {vdnn.name = "c", vdnn.role = "parameter"},
                %v: tensor<5x7xf32> {vdnn.name = "v", vdnn.role = "parameter"},
                %d: tensor<5xf32> {vdnn.name = "d", vdnn.role = "parameter"})
    -> (tensor<2x5xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %0 = vdnn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<2x4x6x6xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  %1:5 = vdnn.batch_norm %0, %g, %h, %m, %s {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
    : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %2 = vdnn.pointwise ins(%1#0 : tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32> {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %zero : f32
    vdnn.yield %r : f32
  }
  %3 = vdnn.max_pool %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2xf32>
  %4 = vdnn.reshape %3 : (tensor<2x8x2x2xf32>) -> tensor<2x32xf32>
  %5 = vdnn.matmul %4, %u, %c {transpose_b} : (tensor<2x32xf32>, tensor<7x32xf32>, tensor<7xf32>) -> tensor<2x7xf32>
  %6 = vdnn.matmul %5, %v, %d {transpose_b} : (tensor<2x7xf32>, tensor<5x7xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  return %6 : tensor<2x5xf32>
}

// -----

// A softmax needs f32 and what follows it stays so up to the next product; integers and what depends on parameters alone are left alone; a
// parameter under another shape is cast as it is stored; a constant is rounded once and for all; a sum that is added to takes its f32 operand as it is.

// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = vdnn.pointwise ins(%{{.*}} : tensor<4x8xf32>) {vdnn.names = ["p.bf16"]} -> tensor<4x8xbf16>
// CHECK: vdnn.reshape %[[P]] : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
// CHECK: vdnn.matmul {{.*}} -> tensor<3x4xf32>
// CHECK-NEXT: vdnn.softmax {{.*}} : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK: vdnn.constant dense<1.000980e-01> : tensor<4x4xbf16>
// CHECK: vdnn.matmul {{.*}} : (tensor<3x4xbf16>, tensor<4x4xbf16>) -> tensor<3x4xbf16>
// CHECK: vdnn.pointwise ins(%{{.*}}, %{{.*}} : tensor<3x4xbf16>, tensor<1x4xf32>) {{.*}}-> tensor<3x4xf32>
// CHECK: vdnn.pointwise ins(%{{.*}} : tensor<3xi64>) -> tensor<3xi64>

// The gradient of a broadcast f32 operand is summed up from the gradient itself.
// STEP-LABEL: func.func @main
// STEP: vdnn.reduce {{.*}}vdnn.gradient_of = "q"{{.*}} : (tensor<3x4xf32>) -> tensor<1x4xf32>
// STEP: vdnn.softmax_backward {{.*}} -> tensor<3x4xf32>

// COPY-LABEL: func.func @main
// COPY-SAME: tensor<4x8xbf16> {vdnn.initial = #vdnn.initial<converted, "p">, vdnn.name = "p.bf16", vdnn.role = "state"}
// COPY: vdnn.reshape %{{.*}} : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
// COPY: vdnn.sgd {{.*}} : (tensor<4x8xf32>, tensor<4x8xbf16>, tensor<f32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>)
func.func @main(%x: tensor<3x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                %n: tensor<3xi64> {vdnn.name = "n", vdnn.role = "input"},
                %p: tensor<4x8xf32> {vdnn.name = "p", vdnn.role = "parameter"},
                %q: tensor<1x4xf32> {vdnn.name = "q", vdnn.role = "parameter"})
    -> (tensor<3x4xf32> {vdnn.name = "y", vdnn.role = "output"}, tensor<3xi64> {vdnn.name = "k", vdnn.role = "output"}) {
  %0 = vdnn.reshape %p : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = vdnn.matmul %x, %0 : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %2 = vdnn.softmax %1 {axis = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = vdnn.constant dense<0.1> : tensor<4x4xf32>
  %3 = vdnn.matmul %2, %c : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %4 = vdnn.pointwise ins(%3, %q : tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    vdnn.yield %r : f32
  }
  %5 = vdnn.pointwise ins(%n : tensor<3xi64>) -> tensor<3xi64> {
  ^bb0(%a: i64):
    %r = arith.addi %a, %a : i64
    vdnn.yield %r : i64
  }
  return %4, %5 : tensor<3x4xf32>, tensor<3xi64>
}
