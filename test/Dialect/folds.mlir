// RUN: vdnn-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @reshape_of_reshape
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x3x3xf32>)
func.func @reshape_of_reshape(%x: tensor<2x4x3x3xf32>) -> tensor<8x9xf32> {
  // CHECK-NEXT: %[[Y:.*]] = vdnn.reshape %[[X]] : (tensor<2x4x3x3xf32>) -> tensor<8x9xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = vdnn.reshape %x : (tensor<2x4x3x3xf32>) -> tensor<2x36xf32>
  %1 = vdnn.reshape %0 : (tensor<2x36xf32>) -> tensor<8x9xf32>
  return %1 : tensor<8x9xf32>
}

// CHECK-LABEL: func.func @reshape_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x36xf32>)
func.func @reshape_and_back(%x: tensor<2x36xf32>) -> tensor<2x36xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = vdnn.reshape %x : (tensor<2x36xf32>) -> tensor<8x9xf32>
  %1 = vdnn.reshape %0 : (tensor<8x9xf32>) -> tensor<2x36xf32>
  return %1 : tensor<2x36xf32>
}

// CHECK-LABEL: func.func @reorder_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x3x3xf32>)
func.func @reorder_and_back(%x: tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = vdnn.reorder %x : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32, #vdnn.layout<channels_last>>
  %1 = vdnn.reorder %0 : (tensor<2x4x3x3xf32, #vdnn.layout<channels_last>>) -> tensor<2x4x3x3xf32>
  return %1 : tensor<2x4x3x3xf32>
}

// A reorder that is used otherwise stays.
// CHECK-LABEL: func.func @reorder_stays
func.func @reorder_stays(%x: tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32, #vdnn.layout<channels_last>> {
  // CHECK-NEXT: vdnn.reorder
  %0 = vdnn.reorder %x : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32, #vdnn.layout<channels_last>>
  return %0 : tensor<2x4x3x3xf32, #vdnn.layout<channels_last>>
}

// CHECK-LABEL: func.func @transpose_of_transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4x5xf32>)
func.func @transpose_of_transpose(%x: tensor<2x3x4x5xf32>) -> tensor<5x3x4x2xf32> {
  // CHECK-NEXT: %[[Y:.*]] = vdnn.transpose %[[X]] {permutation = array<i64: 3, 1, 2, 0>} : (tensor<2x3x4x5xf32>) -> tensor<5x3x4x2xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = vdnn.transpose %x {permutation = array<i64: 1, 2, 0, 3>} : (tensor<2x3x4x5xf32>) -> tensor<3x4x2x5xf32>
  %1 = vdnn.transpose %0 {permutation = array<i64: 3, 0, 1, 2>} : (tensor<3x4x2x5xf32>) -> tensor<5x3x4x2xf32>
  return %1 : tensor<5x3x4x2xf32>
}

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4x5xf32>)
func.func @identities(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = vdnn.transpose %x {permutation = array<i64: 0, 1, 2, 3>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = vdnn.reshape %0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %2 = vdnn.reorder %1 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}

// Equal constants become one.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[C:.*]] = vdnn.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK-NEXT: return %[[C]], %[[C]]
  %0 = vdnn.constant dense<1.0> : tensor<4xf32>
  %1 = vdnn.constant dense<1.0> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A pool over one element is its operand, unless it leaves elements out.

// CHECK-LABEL: func.func @pools
// CHECK-SAME: %[[X:.*]]: tensor<4x16x6x6xf32>
// CHECK-NEXT: %[[Y:.*]] = vdnn.avg_pool %[[X]] {{.*}} -> tensor<4x16x3x3xf32>
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @pools(%x: tensor<4x16x6x6xf32>) -> (tensor<4x16x6x6xf32>, tensor<4x16x3x3xf32>) {
  %a = vdnn.avg_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<4x16x6x6xf32>) -> tensor<4x16x6x6xf32>
  %b = vdnn.avg_pool %a {kernel = array<i64: 1, 1>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>}
    : (tensor<4x16x6x6xf32>) -> tensor<4x16x3x3xf32>
  return %a, %b : tensor<4x16x6x6xf32>, tensor<4x16x3x3xf32>
}
