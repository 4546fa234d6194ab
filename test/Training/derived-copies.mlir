// RUN: vdnn-opt %s --split-input-file --verify-diagnostics --vdnn-cast-to-bf16 --vdnn-build-step="loss=mse momentum=0 frozen=f" --vdnn-keep-derived-copies | FileCheck %s

// A parameter that two products read is cast once; its gradient is added up in one pass, which gives f32. The copy of a frozen
// parameter stays as it is.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x8xf32> {vdnn.name = "w"
// CHECK-SAME: %[[F:[a-z0-9]+]]: tensor<8x8xf32> {vdnn.name = "f"
// CHECK-SAME: %[[COPY:[a-z0-9]+]]: tensor<8x8xbf16> {vdnn.initial = #vdnn.initial<converted, "w">, vdnn.name = "w.bf16", vdnn.role = "state"}
// CHECK-SAME: %[[FROZEN:[a-z0-9]+]]: tensor<8x8xbf16> {vdnn.initial = #vdnn.initial<converted, "f">, vdnn.name = "f.bf16", vdnn.role = "state"}
// CHECK: vdnn.matmul %{{.*}}, %[[COPY]]
// CHECK: vdnn.matmul %{{.*}}, %[[COPY]]
// CHECK: vdnn.matmul %{{.*}}, %[[FROZEN]]
// CHECK-NOT: ins(%[[F]]
// CHECK: %[[SUM:.*]] = vdnn.pointwise ins(%{{.*}}, %{{.*}} : tensor<8x8xbf16>, tensor<8x8xbf16>) {vdnn.gradient_of = "w", {{.*}}vdnn.names = ["w.grad"]
// CHECK: arith.addf
// CHECK-NOT: vdnn.pointwise
// CHECK: %{{.*}}, %[[NEW:.*]] = vdnn.sgd %[[W]], %[[SUM]], %{{.*}} -> (tensor<8x8xf32>, tensor<8x8xbf16>)
// CHECK: return {{.*}}%[[NEW]] :
func.func @main(%x: tensor<4x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<8x8xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %f: tensor<8x8xf32> {vdnn.name = "f", vdnn.role = "parameter"})
    -> (tensor<4x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %0 = vdnn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = vdnn.matmul %0, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = vdnn.matmul %1, %f : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{the model has a tensor 'w.bf16', the name of the bf16 copy of parameter 'w'; rename the model's tensor}}
func.func @main(%x: tensor<4x8xf32> {vdnn.name = "x", vdnn.role = "input"},
                %w: tensor<8x8xf32> {vdnn.name = "w", vdnn.role = "parameter"},
                %f: tensor<8x8xf32> {vdnn.name = "f", vdnn.role = "parameter"},
                %c: tensor<1x8xf32> {vdnn.name = "w.bf16", vdnn.role = "parameter"})
    -> (tensor<4x8xf32> {vdnn.name = "y", vdnn.role = "output"}) {
  %0 = vdnn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = vdnn.matmul %0, %f : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = vdnn.pointwise ins(%1, %c : tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    vdnn.yield %s : f32
  }
  return %2 : tensor<4x8xf32>
}
