// RUN: vdnn-opt %s --split-input-file --vdnn-group-updates | FileCheck %s
// RUN: vdnn-opt %s --split-input-file --vdnn-group-updates="parameter-bytes=63" | FileCheck %s --check-prefix=SMALL
// RUN: vdnn-opt %s --split-input-file --vdnn-group-updates="pending-bytes=160" | FileCheck %s --check-prefix=PENDING
// RUN: vdnn-opt %s --split-input-file --vdnn-group-updates="pending-bytes=100" | FileCheck %s --check-prefix=KINDS

// Updates that differ in their tensors alone become one in the place of the last, with its layer; names stay with their values. A parameter of more
// than 4 MiB is updated as before.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[RATE:[a-z0-9]+]]: tensor<f32>
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<16xf32>, %[[VA:[a-z0-9]+]]: tensor<16xf32>, %[[B:[a-z0-9]+]]: tensor<4x6xf32>, %[[VB:[a-z0-9]+]]: tensor<4x6xf32>, %[[C:[a-z0-9]+]]: tensor<2xf32>, %[[VC:[a-z0-9]+]]: tensor<2xf32>, %{{[a-z0-9]+}}: tensor<1048577xf32>, %{{[a-z0-9]+}}: tensor<1048577xf32>)
// CHECK-NOT: vdnn.sgd_group
// CHECK: vdnn.sgd %{{.*}}, %{{.*}}, %[[RATE]], %{{.*}}vdnn.names = ["l.new", "l.velocity.new"]
// CHECK: %[[DC:.*]] = vdnn.pointwise {{.*}}vdnn.names = ["c.grad"]
// CHECK: vdnn.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[NEW:.*]]:6 = vdnn.sgd_group %[[RATE]] parameters(%[[A]], %[[B]], %[[C]]) gradients(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[DC]]) velocities(%[[VA]], %[[VB]], %[[VC]])
// CHECK-SAME: momentum = 9.000000e-01 : f64, nesterov, vdnn.layer = 1 : i64
// CHECK-SAME: vdnn.names = ["a.new", "b.new", "c.new", "a.velocity.new", "b.velocity.new", "c.velocity.new"], vdnn.phase = "update", weight_decay = 1.000000e-04 : f64
// CHECK-NOT: vdnn.sgd
// CHECK: return %[[NEW]]#0, %[[NEW]]#3, %[[NEW]]#1, %[[NEW]]#4, %[[NEW]]#2, %[[NEW]]#5, %{{.*}}, %{{.*}}

// A smaller bound leaves one parameter, which is no group.
// SMALL-LABEL: func.func @main
// SMALL-NOT: vdnn.sgd_group

// Gradients of 64 and 96 bytes may wait together; the third begins another group.
// PENDING-LABEL: func.func @main
// PENDING: vdnn.sgd_group {{.*}}vdnn.names = ["a.new", "b.new", "a.velocity.new", "b.velocity.new"]
// PENDING: vdnn.pointwise {{.*}}vdnn.names = ["c.grad"]
// PENDING: vdnn.sgd {{.*}}vdnn.names = ["c.new", "c.velocity.new"]
func.func @main(%rate: tensor<f32>, %x: tensor<16xf32>, %y: tensor<4x6xf32>, %z: tensor<2xf32>, %g: tensor<1048577xf32>,
                %a: tensor<16xf32>, %va: tensor<16xf32>, %b: tensor<4x6xf32>, %vb: tensor<4x6xf32>, %c: tensor<2xf32>, %vc: tensor<2xf32>,
                %l: tensor<1048577xf32>, %vl: tensor<1048577xf32>)
    -> (tensor<16xf32>, tensor<16xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1048577xf32>, tensor<1048577xf32>) {
  %a1, %va1 = vdnn.sgd %a, %x, %rate, %va {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov, vdnn.layer = 3 : i64, vdnn.names = ["a.new", "a.velocity.new"], vdnn.phase = "update"}
    : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %l1, %vl1 = vdnn.sgd %l, %g, %rate, %vl {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov, vdnn.layer = 3 : i64, vdnn.names = ["l.new", "l.velocity.new"], vdnn.phase = "update"}
    : (tensor<1048577xf32>, tensor<1048577xf32>, tensor<f32>, tensor<1048577xf32>) -> (tensor<1048577xf32>, tensor<1048577xf32>)
  %b1, %vb1 = vdnn.sgd %b, %y, %rate, %vb {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov, vdnn.layer = 2 : i64, vdnn.names = ["b.new", "b.velocity.new"], vdnn.phase = "update"}
    : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  %dc = vdnn.pointwise ins(%z : tensor<2xf32>) {vdnn.names = ["c.grad"]} -> tensor<2xf32> {
  ^bb0(%e: f32):
    %n = arith.negf %e : f32
    vdnn.yield %n : f32
  }
  %c1, %vc1 = vdnn.sgd %c, %dc, %rate, %vc {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov, vdnn.layer = 1 : i64, vdnn.names = ["c.new", "c.velocity.new"], vdnn.phase = "update"}
    : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %a1, %va1, %b1, %vb1, %c1, %vc1, %l1, %vl1
    : tensor<16xf32>, tensor<16xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1048577xf32>, tensor<1048577xf32>
}

// -----

// Gradients of f32 and of bf16, with and without a copy, and other rates are groups of their own. Alone, an update stays what it was.

// SMALL-LABEL: func.func @main
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[RATE:[a-z0-9]+]]: tensor<f32>, %[[OTHER:[a-z0-9]+]]: tensor<f32>, %[[G:[a-z0-9]+]]: tensor<4xf32>, %[[H:[a-z0-9]+]]: tensor<4xbf16>, %[[A:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[C:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>, %[[E:[a-z0-9]+]]: tensor<4xf32>, %[[F:[a-z0-9]+]]: tensor<4xf32>)
// CHECK: vdnn.sgd %[[E]], %[[G]], %[[OTHER]]
// CHECK: vdnn.sgd_group %[[RATE]] parameters(%[[A]], %[[C]]) gradients(%[[G]], %[[G]]) {{.*}} -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: vdnn.sgd_group %[[RATE]] parameters(%[[B]], %[[D]]) gradients(%[[H]], %[[H]]) {{.*}} -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xbf16>)
// CHECK: vdnn.sgd %[[F]], %[[H]]
func.func @main(%rate: tensor<f32>, %other: tensor<f32>, %g: tensor<4xf32>, %h: tensor<4xbf16>,
                %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>, %f: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xbf16>) {
  %a1 = vdnn.sgd %a, %g, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b1, %bc = vdnn.sgd %b, %h, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xbf16>, tensor<f32>) -> (tensor<4xf32>, tensor<4xbf16>)
  %e1 = vdnn.sgd %e, %g, %other {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c1 = vdnn.sgd %c, %g, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d1, %dc = vdnn.sgd %d, %h, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xbf16>, tensor<f32>) -> (tensor<4xf32>, tensor<4xbf16>)
  %f1 = vdnn.sgd %f, %h, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xbf16>, tensor<f32>) -> tensor<4xf32>
  return %a1, %b1, %c1, %d1, %e1, %f1, %bc, %dc : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xbf16>
}

// -----

// The bound is one for all kinds together. A large group of another kind is closed first, so that small ones stay together.

// KINDS-LABEL: module @kinds
// KINDS: vdnn.sgd %{{.*}} -> tensor<16xf32>
// KINDS-NOT: vdnn.sgd %
// KINDS: vdnn.sgd_group %{{.*}} -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// KINDS-NOT: vdnn.sgd
// KINDS: return
module @kinds {
  func.func @main(%rate: tensor<f32>, %other: tensor<f32>, %x: tensor<16xf32>, %y: tensor<4xf32>, %a: tensor<16xf32>, %b: tensor<4xf32>,
                  %c: tensor<4xf32>, %d: tensor<4xf32>) -> (tensor<16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %a1 = vdnn.sgd %a, %x, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
    %b1 = vdnn.sgd %b, %y, %other {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %c1 = vdnn.sgd %c, %y, %other {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %d1 = vdnn.sgd %d, %y, %other {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    return %a1, %b1, %c1, %d1 : tensor<16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
