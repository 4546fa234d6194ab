// RUN: vdnn-opt %s --vdnn-build-step="loss=mse" | FileCheck %s --check-prefix=COMPACT
// RUN: vdnn-opt %s --vdnn-build-step="loss=mse storage=paper" | FileCheck %s --check-prefix=PAPER

// A pool behind a pool has an index too.
// COMPACT: %[[Y:.*]], %[[INDEX:.*]] = vdnn.max_pool
// COMPACT-SAME: vdnn.names = ["y", "y.index"]
// COMPACT: %{{.*}}, %[[SECOND:.*]] = vdnn.max_pool %[[Y]]
// COMPACT: vdnn.avg_pool_backward
// COMPACT: vdnn.max_pool_backward %{{.*}} index(%[[SECOND]])
// COMPACT: vdnn.max_pool_backward %{{.*}} index(%[[INDEX]])
// PAPER: %[[Y:.*]] = vdnn.max_pool %[[X:[^ ]+]] {
// PAPER: vdnn.max_pool_backward %{{.*}} forward(%[[Y]]
// PAPER: vdnn.max_pool_backward %{{.*}} forward(%[[X]], %[[Y]])
func.func @main(%x: tensor<1x2x4x4xf32> {vdnn.name = "w", vdnn.role = "parameter"})
    -> (tensor<1x2x1x1xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  %y = vdnn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, vdnn.names = ["y"]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %m = vdnn.max_pool %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
      dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %z = vdnn.avg_pool %m {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<1x2x2x2xf32>) -> tensor<1x2x1x1xf32>
  return %z : tensor<1x2x1x1xf32>
}
