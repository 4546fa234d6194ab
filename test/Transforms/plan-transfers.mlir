// RUN: vdnn-opt %S/Inputs/step.mlir --pass-pipeline='builtin.module(vdnn-attach-target{device=titanx},func.func(vdnn-assign-layouts,vdnn-select-kernels))' -o %t.mlir
// RUN: vdnn-opt %t.mlir --vdnn-plan-transfers=policy=all | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: vdnn-opt %t.mlir --vdnn-plan-transfers=policy=none | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: vdnn-opt %t.mlir --vdnn-plan-transfers="policy=all sync=layer" | FileCheck %s --check-prefix=LAYER
// RUN: not vdnn-opt %t.mlir --vdnn-plan-transfers=policy=most 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not vdnn-opt %t.mlir --vdnn-plan-transfers=kernels=big 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: not vdnn-opt %t.mlir --vdnn-plan-transfers=sync=never 2>&1 | FileCheck %s --check-prefix=SYNC
// RUN: not vdnn-opt %t.mlir --vdnn-plan-transfers --vdnn-plan-transfers 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not vdnn-opt %S/Inputs/step.mlir --vdnn-plan-transfers 2>&1 | FileCheck %s --check-prefix=CHOICES

// CHECK-NOT: vdnn.choices
// CHECK: vdnn.conv {{.*}}vdnn.algorithm = "{{.*}}vdnn.decisions = [#vdnn<decision {{keep|offload}}>]{{.*}}vdnn.reasons = ["{{.+}}"]{{.*}}vdnn.time_ns = {{.*}}vdnn.workspace =
// NONE-NOT: vdnn.offload
// NONE-NOT: vdnn.prefetch
// ALL: vdnn.offload %[[B:.*]] : tensor<4x16x8x8xf32, #vdnn.layout<channels_last>>
// ALL: vdnn.release
// ALL: vdnn.prefetch
// ALL: vdnn.conv_backward_filter
// LAYER: vdnn.barrier
// POLICY: error: unknown policy 'most', expected one of 'none' 'all' 'conv'
// KERNELS: error: unknown preference of kernels 'big', expected 'memory' or 'performance'
// SYNC: error: unknown synchronisation 'never', expected 'event' or 'layer'
// TWICE: error: has been planned already
// CHOICES: error: {{.*}}has no 'vdnn.choices'; run 'vdnn-select-kernels' first
