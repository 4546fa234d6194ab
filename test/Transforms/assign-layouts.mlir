// RUN: vdnn-opt %s --split-input-file --vdnn-assign-layouts | FileCheck %s

// The filter becomes channels last itself; the user's input is reordered once for both of its consumers.
// CHECK-LABEL: func.func @filters
// CHECK-SAME: %[[X:.*]]: tensor<4x3x8x8xf32> {vdnn.name = "x"
// CHECK-SAME: %[[W:.*]]: tensor<16x3x3x3xf32, #vdnn.layout<channels_last>>
// CHECK: %[[R:.*]] = vdnn.reorder %[[X]] {vdnn.layer = 0 : i64, vdnn.names = ["x.channels_last"], vdnn.phase = "forward"}
// CHECK-NOT: vdnn.reorder
// CHECK: vdnn.conv %[[R]], %[[W]]
// CHECK-NOT: vdnn.reorder
// CHECK: vdnn.conv %[[R]], %[[W]]
// CHECK: vdnn.pointwise {{.*}} -> tensor<4x16x8x8xf32, #vdnn.layout<channels_last>>
// CHECK: %[[Y:.*]] = vdnn.reorder
// CHECK: return %[[Y]] : tensor<4x16x8x8xf32>
func.func @filters(%x: tensor<4x3x8x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                   %w: tensor<16x3x3x3xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<4x16x8x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %a = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, vdnn.layer = 0 : i64, vdnn.phase = "forward"}
    : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<4x16x8x8xf32>
  %b = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, vdnn.layer = 1 : i64, vdnn.phase = "forward"}
    : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<4x16x8x8xf32>
  %y = vdnn.pointwise ins(%a, %b : tensor<4x16x8x8xf32>, tensor<4x16x8x8xf32>) -> tensor<4x16x8x8xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    vdnn.yield %s : f32
  }
  return %y : tensor<4x16x8x8xf32>
}

// -----

// Without kernels that want channels last, nothing is: what is free to choose stays row major.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: channels_last
// CHECK: return
func.func @plain(%x: tensor<4x3x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                 %w: tensor<4x8x5xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<4x3x5xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.matmul %x, %w : (tensor<4x3x8xf32>, tensor<4x8x5xf32>) -> tensor<4x3x5xf32>
  return %y : tensor<4x3x5xf32>
}

// -----

// The reorder between the last pool and the flattening moves nothing where one position is left: planners take it for a view.
// The large tensor is never reordered: the pool's result is cheaper.
// CHECK-LABEL: func.func @classifier
// CHECK: vdnn.avg_pool {{.*}} -> tensor<4x16x1x1xf32, #vdnn.layout<channels_last>>
// CHECK: vdnn.reorder {{.*}} : (tensor<4x16x1x1xf32, #vdnn.layout<channels_last>>) -> tensor<4x16x1x1xf32>
// CHECK-NEXT: vdnn.reshape
func.func @classifier(%x: tensor<4x16x8x8xf32> {vdnn.name = "x", vdnn.role = "input"})
    -> (tensor<4x16xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %p = vdnn.avg_pool %x {kernel = array<i64: 8, 8>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<4x16x8x8xf32>) -> tensor<4x16x1x1xf32>
  %y = vdnn.reshape %p : (tensor<4x16x1x1xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// Of a fork, the smaller side is reordered: 2 channels go back to row major, not 64.
// CHECK-LABEL: func.func @cheaper_side
// CHECK: vdnn.reduce {{.*}} -> tensor<4x1x8x8xf32, #vdnn.layout<channels_last>>
// CHECK: vdnn.reorder {{.*}}tensor<4x1x8x8xf32
// CHECK-NOT: vdnn.reorder
// CHECK: return
func.func @cheaper_side(%w: tensor<64x2x3x3xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                        %x: tensor<4x2x8x8xf32> {vdnn.name = "x", vdnn.role = "parameter"})
    -> (tensor<256xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %a = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<4x2x8x8xf32>, tensor<64x2x3x3xf32>) -> tensor<4x64x8x8xf32>
  %s = vdnn.reduce %a {kind = #vdnn<reduction sum>, axes = array<i64: 1>} : (tensor<4x64x8x8xf32>) -> tensor<4x1x8x8xf32>
  %y = vdnn.reshape %s : (tensor<4x1x8x8xf32>) -> tensor<256xf32>
  return %y : tensor<256xf32>
}

// -----

// What a dropout drops depends on positions in memory: forward and backward op get the same layout, although each alone would get another.
// CHECK-LABEL: func.func @dropouts
// CHECK: vdnn.dropout {{.*}} -> tensor<4x16x8x8xf32>
// CHECK-NEXT: vdnn.reorder
// CHECK: vdnn.dropout {{.*}} -> tensor<4x16x8x8xf32>
func.func @dropouts(%g: tensor<4x16x8x8xf32> {vdnn.name = "g", vdnn.role = "input"}, %p: tensor<4x16x8x8xf32> {vdnn.name = "p", vdnn.role = "parameter"},
                    %seed: tensor<i64> {vdnn.name = "vdnn.seed", vdnn.role = "input"}, %step: tensor<i64> {vdnn.name = "vdnn.step", vdnn.role = "input"})
    -> (tensor<4x16x1x1xf32> {vdnn.name = "y", vdnn.role = "output"}, tensor<4x16x8x8xf32> {vdnn.name = "d", vdnn.role = "output"}) {
  %a = vdnn.dropout %p, %seed, %step {ratio = 0.5 : f64, id = 3 : i64} : (tensor<4x16x8x8xf32>, tensor<i64>, tensor<i64>) -> tensor<4x16x8x8xf32>
  %y = vdnn.avg_pool %a {kernel = array<i64: 8, 8>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<4x16x8x8xf32>) -> tensor<4x16x1x1xf32>
  %d = vdnn.dropout %g, %seed, %step {ratio = 0.5 : f64, id = 3 : i64} : (tensor<4x16x8x8xf32>, tensor<i64>, tensor<i64>) -> tensor<4x16x8x8xf32>
  return %y, %d : tensor<4x16x1x1xf32>, tensor<4x16x8x8xf32>
}

// -----

// Each output gets bytes of its own: an argument, the same value again, and a view of an argument are copied; an unchanged state is not.
// CHECK-LABEL: func.func @results
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4xf32>
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<4xf32> {vdnn.name = "s"
// CHECK: %[[A:.*]] = vdnn.pointwise ins(%[[X]]
// CHECK: %[[B:.*]] = vdnn.pointwise ins(%[[X]]
// CHECK: return %[[A]], %[[B]], %[[S]]
func.func @results(%x: tensor<4xf32> {vdnn.name = "x", vdnn.role = "input"}, %s: tensor<4xf32> {vdnn.name = "s", vdnn.role = "state"})
    -> (tensor<4xf32> {vdnn.name = "a", vdnn.role = "output"}, tensor<4xf32> {vdnn.name = "b", vdnn.role = "output"},
        tensor<4xf32> {vdnn.name = "s", vdnn.role = "update"}) {
  return %x, %x, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What an argument holds is copied before it is overwritten.
// CHECK-LABEL: func.func @overwritten
// CHECK: %[[V:.*]] = vdnn.reshape %[[W:[a-z0-9]*]]
// CHECK: %[[OUTPUT:.*]] = vdnn.pointwise ins(%[[V]]
// CHECK: vdnn.sgd %[[W]],
// CHECK-NOT: vdnn.pointwise
// CHECK: return %[[OUTPUT]],
func.func @overwritten(%w: tensor<4x4xf32> {vdnn.name = "w", vdnn.role = "parameter"}, %d: tensor<4x4xf32> {vdnn.name = "d", vdnn.role = "input"},
                       %rate: tensor<f32> {vdnn.name = "vdnn.rate", vdnn.role = "input"})
    -> (tensor<16xf32> {vdnn.name = "v", vdnn.role = "output"}, tensor<4x4xf32> {vdnn.name = "w", vdnn.role = "update"}) {
  %v = vdnn.reshape %w : (tensor<4x4xf32>) -> tensor<16xf32>
  %new = vdnn.sgd %w, %d, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64}
    : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %v, %new : tensor<16xf32>, tensor<4x4xf32>
}

// -----

// Where the device says so, convolutions work on planes, and pools with them.
// CHECK: module attributes
// CHECK-LABEL: func.func @planes
// CHECK-NOT: channels_last
// CHECK: return
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "x", device_to_host = 5.0e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "", host_budget = 0 : i64, host_to_device = 5.0e10 : f64, kind = "model", latency_ns = 0 : i64, name = "x", overhead = 0 : i64, pools_planes, precision = "fp32", prefers_planes, threads = 0 : i64}} {
  func.func @planes(%x: tensor<4x3x8x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                    %w: tensor<16x3x3x3xf32> {vdnn.name = "w", vdnn.role = "parameter"})
      -> (tensor<4x16x4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<4x16x8x8xf32>
    %y = vdnn.max_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<4x16x8x8xf32>) -> tensor<4x16x4x4xf32>
    return %y : tensor<4x16x4x4xf32>
  }
}

// -----

// With a batch norm, which knows channels last alone, they do not: a second copy of each activation would live until the backward pass. Nor where
// the device has no such wish, as with tensor cores.
// CHECK-LABEL: func.func @normed
// CHECK: vdnn.conv {{.*}} -> tensor<4x16x8x8xf32, #vdnn.layout<channels_last>>
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "x", device_to_host = 5.0e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "", host_budget = 0 : i64, host_to_device = 5.0e10 : f64, kind = "model", latency_ns = 0 : i64, name = "x", overhead = 0 : i64, pools_planes, precision = "fp32", prefers_planes, threads = 0 : i64}} {
  func.func @normed(%x: tensor<4x3x8x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                    %w: tensor<16x3x3x3xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                    %g: tensor<16xf32> {vdnn.name = "g", vdnn.role = "parameter"})
      -> (tensor<4x16x8x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<4x16x8x8xf32>
    %y = vdnn.batch_norm_inference %a, %g, %g, %g, %g {epsilon = 1.0e-5 : f64}
      : (tensor<4x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x16x8x8xf32>
    return %y : tensor<4x16x8x8xf32>
  }
}

// -----

// CHECK-LABEL: func.func @tensor_cores
// CHECK: vdnn.conv {{.*}} -> tensor<4x16x8x8xf32, #vdnn.layout<channels_last>>
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "x", device_to_host = 5.0e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "", host_budget = 0 : i64, host_to_device = 5.0e10 : f64, kind = "model", latency_ns = 0 : i64, name = "x", overhead = 0 : i64, pools_planes, precision = "tf32", threads = 0 : i64}} {
  func.func @tensor_cores(%x: tensor<4x3x8x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                          %w: tensor<16x3x3x3xf32> {vdnn.name = "w", vdnn.role = "parameter"})
      -> (tensor<4x16x8x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<4x16x8x8xf32>
    return %a : tensor<4x16x8x8xf32>
  }
}

// -----

// Each parameter of a group has the layout of its own readers: the filter channels last, the matrices of a product row major.
// CHECK-LABEL: func.func @group
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<16x3x3x3xf32, #vdnn.layout<channels_last>> {vdnn.name = "w"
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<3x8x4xf32> {vdnn.name = "m"
// CHECK: vdnn.reorder
// CHECK: vdnn.conv
// CHECK-NOT: vdnn.reorder
// CHECK: vdnn.sgd_group %{{.*}} parameters(%[[M]], %[[W]])
// CHECK-SAME: -> (tensor<3x8x4xf32>, tensor<16x3x3x3xf32, #vdnn.layout<channels_last>>, tensor<3x8x4xf32>, tensor<16x3x3x3xf32, #vdnn.layout<channels_last>>)
// CHECK-NEXT: return
func.func @group(%x: tensor<4x3x8x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                 %y: tensor<3x5x8xf32> {vdnn.name = "y", vdnn.role = "input"},
                 %rate: tensor<f32> {vdnn.name = "vdnn.rate", vdnn.role = "input"},
                 %w: tensor<16x3x3x3xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                 %m: tensor<3x8x4xf32> {vdnn.name = "m", vdnn.role = "parameter"},
                 %vw: tensor<16x3x3x3xf32> {vdnn.name = "vw", vdnn.role = "state"},
                 %vm: tensor<3x8x4xf32> {vdnn.name = "vm", vdnn.role = "state"})
    -> (tensor<16x3x3x3xf32> {vdnn.name = "w", vdnn.role = "update"}, tensor<3x8x4xf32> {vdnn.name = "m", vdnn.role = "update"},
        tensor<16x3x3x3xf32> {vdnn.name = "vw", vdnn.role = "update"}, tensor<3x8x4xf32> {vdnn.name = "vm", vdnn.role = "update"}) {
  %a = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<4x16x8x8xf32>
  %dw = vdnn.conv_backward_filter %x, %a {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64}
    : (tensor<4x3x8x8xf32>, tensor<4x16x8x8xf32>) -> tensor<16x3x3x3xf32>
  %b = vdnn.matmul %y, %m : (tensor<3x5x8xf32>, tensor<3x8x4xf32>) -> tensor<3x5x4xf32>
  %dm = vdnn.matmul %y, %b {transpose_a} : (tensor<3x5x8xf32>, tensor<3x5x4xf32>) -> tensor<3x8x4xf32>
  %r:4 = vdnn.sgd_group %rate parameters(%m, %w) gradients(%dm, %dw) velocities(%vm, %vw) {momentum = 0.9 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<3x8x4xf32>, tensor<16x3x3x3xf32>, tensor<3x8x4xf32>, tensor<16x3x3x3xf32>, tensor<3x8x4xf32>, tensor<16x3x3x3xf32>)
      -> (tensor<3x8x4xf32>, tensor<16x3x3x3xf32>, tensor<3x8x4xf32>, tensor<16x3x3x3xf32>)
  return %r#1, %r#0, %r#3, %r#2 : tensor<16x3x3x3xf32>, tensor<3x8x4xf32>, tensor<16x3x3x3xf32>, tensor<3x8x4xf32>
}
