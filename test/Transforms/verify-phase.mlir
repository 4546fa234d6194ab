// RUN: vdnn-opt %S/Inputs/step.mlir --vdnn-verify-phase=phase=compute -o /dev/null
// RUN: not vdnn-opt %s --vdnn-verify-phase=phase=compute 2>&1 | FileCheck %s --check-prefix=COMPUTE
// RUN: not vdnn-opt %s --vdnn-verify-phase=phase=step 2>&1 | FileCheck %s --check-prefixes=COMPUTE,STEP
// RUN: not vdnn-opt %s --vdnn-verify-phase=phase=transfers 2>&1 | FileCheck %s --check-prefix=TRANSFERS
// RUN: not vdnn-opt %s --vdnn-verify-phase=phase=commands 2>&1 | FileCheck %s --check-prefix=COMMANDS
// RUN: not vdnn-opt %s --vdnn-verify-phase=phase=moon 2>&1 | FileCheck %s --check-prefix=PHASE

// All violations are reported, not the first one only.
// COMPUTE: argument 1 lacks 'vdnn.name' or 'vdnn.role'
// COMPUTE: has two arguments named 'x'
// COMPUTE: argument 'z' has the role 'friend', expected 'input', 'parameter' or 'state'
// COMPUTE: result 0 updates 'nothing', which is no argument
// STEP: 'vdnn.conv' op lacks 'vdnn.layer' or 'vdnn.phase'
// STEP: 'vdnn.conv' op mixes layouts
// STEP: 'vdnn.sgd_group' op mixes layouts
// STEP-NOT: 'vdnn.sgd_group' op mixes layouts
// COMPUTE: 'vdnn.barrier' op is a transfer op before the transfers are planned
// TRANSFERS: 'vdnn.conv' op lacks its kernel
// COMMANDS: is left beside the plan
// COMMANDS: has 0 plans, expected one
// PHASE: unknown phase 'moon'
func.func @main(%x: tensor<4x3x8x8xf32> {vdnn.name = "x", vdnn.role = "input"}, %n: tensor<4xf32>,
                %w: tensor<16x3x3x3xf32, #vdnn.layout<channels_last>> {vdnn.name = "x", vdnn.role = "parameter"},
                %z: tensor<4xf32> {vdnn.name = "z", vdnn.role = "friend"}, %r: tensor<f32> {vdnn.name = "r", vdnn.role = "input"})
    -> (tensor<4x16x8x8xf32> {vdnn.name = "nothing", vdnn.role = "update"}) {
  %y = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32, #vdnn.layout<channels_last>>) -> tensor<4x16x8x8xf32>
  // Each parameter may have a layout of its own, but its gradient has the same.
  %0:2 = vdnn.sgd_group %r parameters(%x, %w) gradients(%x, %w) {momentum = 0.0 : f64, weight_decay = 0.0 : f64, vdnn.layer = 0 : i64, vdnn.phase = "update"}
    : (tensor<f32>, tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32, #vdnn.layout<channels_last>>, tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32, #vdnn.layout<channels_last>>)
      -> (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32, #vdnn.layout<channels_last>>)
  %1 = vdnn.sgd_group %r parameters(%y) gradients(%y) {momentum = 0.0 : f64, weight_decay = 0.0 : f64, vdnn.layer = 0 : i64, vdnn.phase = "update"}
    : (tensor<f32>, tensor<4x16x8x8xf32>, tensor<4x16x8x8xf32>) -> tensor<4x16x8x8xf32, #vdnn.layout<channels_last>>
  vdnn.barrier
  return %y : tensor<4x16x8x8xf32>
}
