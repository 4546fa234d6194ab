// RUN: vdnn-opt %s --vdnn-plan=device=titanx | FileCheck %s

// Outputs are asked for by name: an inner value of that name gives way, also where the output is a reorder of it.

// CHECK: vdnn.tensor @x input
// CHECK: vdnn.tensor @y.1 activation
// CHECK: vdnn.tensor @y output
func.func @main(%x: tensor<1x4x8x8xf32> {vdnn.name = "x", vdnn.role = "input"})
    -> (tensor<1x4x4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %y = vdnn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, vdnn.names = ["y"], vdnn.layer = 0 : i64, vdnn.phase = "forward"}
    : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}
