// RUN: vdnn-opt %s | vdnn-opt | FileCheck %s
// RUN: vdnn-opt -mlir-print-op-generic %s | vdnn-opt | FileCheck %s

// CHECK-LABEL: func.func @transfers
// CHECK-SAME: (%[[X:.*]]: tensor<8x64xf32>)
func.func @transfers(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NEXT: %[[H:.*]], %[[D:.*]] = vdnn.offload %[[X]] {note = "kept"} : tensor<8x64xf32>
  %h, %done = vdnn.offload %x {note = "kept"} : tensor<8x64xf32>
  // CHECK-NEXT: vdnn.release %[[X]] after %[[D]] : tensor<8x64xf32>
  vdnn.release %x after %done : tensor<8x64xf32>
  // CHECK-NEXT: vdnn.barrier
  vdnn.barrier
  // CHECK-NEXT: %[[Y:.*]] = vdnn.prefetch %[[H]] : tensor<8x64xf32>
  %y = vdnn.prefetch %h : tensor<8x64xf32>
  // CHECK-NEXT: return %[[Y]]
  return %y : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @types
// CHECK-SAME: (%{{.*}}: !vdnn.host<tensor<2x3x4x4xf32, #vdnn.layout<channels_last>>>, %{{.*}}: !vdnn.token)
func.func @types(%h: !vdnn.host<tensor<2x3x4x4xf32, #vdnn.layout<channels_last>>>, %t: !vdnn.token) {
  return
}
