// RUN: vdnn-opt %s --vdnn-build-step="loss=mse momentum=0" | FileCheck %s --check-prefix=SHARED
// RUN: vdnn-opt %s --vdnn-build-step="loss=mse momentum=0.9 frozen=v" | FileCheck %s --check-prefix=THROUGH
// RUN: vdnn-opt %s --vdnn-build-step="loss=mse momentum=0 frozen=w" | FileCheck %s --check-prefix=CUT
// RUN: not vdnn-opt %s --vdnn-build-step="loss=mse frozen=u" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not vdnn-opt %s --vdnn-build-step="loss=mse momentum=0 nesterov=true" 2>&1 | FileCheck %s --check-prefix=NESTEROV

// A parameter with two readers gets the sum of their gradients, and one update after the last of them.

// SHARED: %[[FIRST:.*]] = vdnn.matmul {{.*}}vdnn.names = ["matmul.2"], vdnn.phase = "backward"
// SHARED-NOT: vdnn.names = ["w.new"]
// SHARED: %[[SECOND:.*]] = vdnn.matmul {{.*}}vdnn.names = ["matmul.0"], vdnn.phase = "backward"
// SHARED: %[[SUM:.*]] = vdnn.pointwise ins(%[[FIRST]], %[[SECOND]] : {{.*}}vdnn.gradient_of = "w"
// SHARED: arith.addf
// SHARED: vdnn.sgd %{{[a-z0-9]+}}, %[[SUM]]{{.*}}vdnn.names = ["w.new"]
// SHARED-NOT: vdnn.names = ["w.new"]

// A frozen parameter has no gradient, velocity or update; gradients pass through its op to those before it.

// THROUGH: func.func @main
// THROUGH-NOT: "v.velocity"
// THROUGH-SAME: "w.velocity"
// THROUGH-NOT: "v.grad"
// THROUGH: vdnn.names = ["h.grad"]
// THROUGH-NOT: "v.new"
// THROUGH: vdnn.names = ["w.new", "w.velocity.new"]

// NESTEROV: error: a Nesterov step needs a momentum; give --momentum above 0 or leave --nesterov out
// NONE: error: there is no parameter 'u' to freeze

// Where nothing before it is trained, the backward pass ends.

// CUT-NOT: "w.grad"
// CUT: vdnn.gradient_of = "v"
// CUT-NOT: "h.grad"
// CUT-NOT: "w.new"
// CUT: vdnn.names = ["v.new"]

func.func @main(%x: tensor<8x4xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<4x4xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %v: tensor<4x4xf32> {vdnn.name = "v", vdnn.role = "parameter"})
    -> (tensor<8x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %h = vdnn.matmul %x, %w {vdnn.names = ["h"]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %k = vdnn.matmul %h, %v {vdnn.names = ["k"]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = vdnn.matmul %k, %w {vdnn.names = ["y"]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
