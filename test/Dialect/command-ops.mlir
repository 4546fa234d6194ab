// RUN: vdnn-opt --unproven %s | vdnn-opt --unproven | FileCheck %s
// RUN: vdnn-opt --unproven -mlir-print-op-generic %s | vdnn-opt --unproven | FileCheck %s

// One line per tensor, buffer and command; only the program of a pointwise kernel takes more.

// CHECK: vdnn.plan @net attributes {device_arena = 8192 : i64} {
vdnn.plan @net attributes {device_arena = 8192 : i64} {
  // CHECK-NEXT: {{^ *}}vdnn.tensor @x input tensor<8x3x4x4xf32> 1536 bytes keep "an input"{{$}}
  vdnn.tensor @x input tensor<8x3x4x4xf32> 1536 bytes keep "an input"
  // CHECK-NEXT: {{^ *}}vdnn.tensor @"layer/w" parameter tensor<16x3x3x3xf32> 1728 bytes keep "a parameter" entry @b1 exit @b1 initial<normal, 0.000000e+00, 4.000000e-02>{{$}}
  vdnn.tensor @"layer/w" parameter tensor<16x3x3x3xf32> 1728 bytes keep "a parameter" entry @b1 exit @b1 initial<normal, 0.0, 0.04>
  // CHECK-NEXT: {{^ *}}vdnn.tensor @w16 state tensor<16x3x3x3xbf16> 864 bytes keep "" initial<converted, "layer/w">{{$}}
  vdnn.tensor @w16 state tensor<16x3x3x3xbf16> 864 bytes keep "" initial<converted, "layer/w">
  // CHECK-NEXT: {{^ *}}vdnn.tensor @dw gradient tensor<16x3x3x3xf32> 1728 bytes keep "" gradient_of @"layer/w"{{$}}
  vdnn.tensor @dw gradient tensor<16x3x3x3xf32> 1728 bytes keep "" gradient_of @"layer/w"
  // CHECK-NEXT: {{^ *}}vdnn.tensor @y activation tensor<8x16x4x4xf32> 8192 bytes offload "idle 41 ms"{{$}}
  vdnn.tensor @y activation tensor<8x16x4x4xf32> 8192 bytes offload "idle 41 ms"

  // CHECK-NEXT: {{^ *}}vdnn.buffer @b0 of @x device at 0 bytes 1536 align 256{{$}}
  vdnn.buffer @b0 of @x device at 0 bytes 1536 align 256
  // CHECK-NEXT: {{^ *}}vdnn.buffer @b1 of @"layer/w" device at 1536 bytes 1728 align 256{{$}}
  vdnn.buffer @b1 of @"layer/w" device at 1536 bytes 1728 align 256
  // CHECK-NEXT: {{^ *}}vdnn.buffer @h host at 0 bytes 8192 align 256{{$}}
  vdnn.buffer @h host at 0 bytes 8192 align 256

  // CHECK-NEXT: {{^ *}}vdnn.cmd.launch "conv" algorithm "direct" on compute (@b0 : tensor<8x3x4x4xf32>, @b1 : tensor<16x3x3x3xf32>) -> (@h : tensor<8x16x4x4xf32, #vdnn.layout<channels_last>>) workspace @b1 ns 1200 from "layer" {group = 1 : i64, pads = array<i64: 1, 1, 1, 1>}{{$}}
  vdnn.cmd.launch "conv" algorithm "direct" on compute (@b0 : tensor<8x3x4x4xf32>, @b1 : tensor<16x3x3x3xf32>) -> (@h : tensor<8x16x4x4xf32, #vdnn.layout<channels_last>>) workspace @b1 ns 1200 from "layer" {pads = array<i64: 1, 1, 1, 1>, group = 1 : i64}
  // CHECK-NEXT: {{^ *}}vdnn.cmd.launch "matmul" algorithm "f32:inplace" nondeterministic on compute (@b0 : tensor<4x4xf32>) -> (@b1 : tensor<4x4xf32>) ns 0 from ""{{$}}
  vdnn.cmd.launch "matmul" algorithm "f32:inplace" nondeterministic on compute (@b0 : tensor<4x4xf32>) -> (@b1 : tensor<4x4xf32>) ns 0 from ""
  // CHECK-NEXT: {{^ *}}vdnn.cmd.launch "sgd" on compute (@b0 : tensor<4xf32>, @b0 : tensor<4xf32>) -> (@b0 : tensor<4xf32>) in_place [0 -> 0] ns 0 from "w"{{$}}
  vdnn.cmd.launch "sgd" on compute (@b0 : tensor<4xf32>, @b0 : tensor<4xf32>) -> (@b0 : tensor<4xf32>) in_place [0 -> 0] ns 0 from "w"
  // CHECK-NEXT: {{^ *}}vdnn.cmd.launch "pointwise" on compute (@b0 : tensor<4xf32>) -> (@b1 : tensor<4xf32>) ns 7 from "relu" program {{[{]$}}
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
  // CHECK-NEXT: %[[Y:.*]] = arith.negf %[[X]] : f32
  // CHECK-NEXT: vdnn.yield %[[Y]] : f32
  // CHECK-NEXT: } attributes {note = "kept"}
  vdnn.cmd.launch "pointwise" on compute (@b0 : tensor<4xf32>) -> (@b1 : tensor<4xf32>) ns 7 from "relu" program {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    vdnn.yield %y : f32
  } attributes {note = "kept"}
  // CHECK-NEXT: {{^ *}}vdnn.cmd.copy on d2h @b1 to @h ns 3 from "y"{{$}}
  vdnn.cmd.copy on d2h @b1 to @h ns 3 from "y"
  // CHECK-NEXT: {{^ *}}vdnn.cmd.record on compute event 3{{$}}
  vdnn.cmd.record on compute event 3
  // CHECK-NEXT: {{^ *}}vdnn.cmd.wait on h2d event 3{{$}}
  vdnn.cmd.wait on h2d event 3
}
