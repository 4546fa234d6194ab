// RUN: vdnn-opt %s --vdnn-attach-target="device=titanx budget=4096 host-budget=8192" | FileCheck %s
// RUN: not vdnn-opt %s --vdnn-attach-target=device=abacus 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not vdnn-opt %s --vdnn-select-kernels 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: vdnn.target = {alignment = 256 : i64, budget = 4096 : i64, device = "titanx"
// CHECK-SAME: host_budget = 8192 : i64
// UNKNOWN: error:
// UNKNOWN-SAME: abacus
// MISSING: error: has no 'vdnn.target'; run 'vdnn-attach-target' first
func.func @main(%x: tensor<4xf32> {vdnn.name = "x", vdnn.role = "input"}) {
  return
}
