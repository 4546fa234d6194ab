// RUN: vdnn-opt %S/../Transforms/Inputs/step.mlir --vdnn-print-order -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: vdnn-opt %S/../Transforms/Inputs/step.mlir --vdnn-print-lifetimes -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIFE
// RUN: vdnn-opt %S/../Transforms/Inputs/step.mlir --vdnn-print-working-set -o /dev/null 2>&1 | FileCheck %s --check-prefix=SET
// RUN: vdnn-opt %S/../Transforms/Inputs/step.mlir --vdnn-print-gaps=min-bytes=16384 -o /dev/null 2>&1 | FileCheck %s --check-prefix=GAPS
// RUN: vdnn-opt %S/../Transforms/Inputs/step.mlir --pass-pipeline='builtin.module(vdnn-attach-target{device=titanx},func.func(vdnn-assign-layouts,vdnn-select-kernels,vdnn-print-cost,vdnn-print-gaps))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=COST
// RUN: not vdnn-opt %S/../Transforms/Inputs/step.mlir --vdnn-print-cost -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Views and constants are no ops; the reshape's result is the tensor c.
// ORDER: order of 'main': 15 ops
// ORDER: 0: conv layer 0 forward reads (x, w1) writes (a)
// ORDER: 3: matmul layer 3 forward reads (c, w3) writes (logits)
// ORDER: 8: sgd layer 3 update reads (w3, w3.grad, vdnn.rate)

// LIFE: w3: parameter, 40960 bytes, lives [0, 9), read by 3, 7, 8
// LIFE: constant.0: state, 4 bytes, lives [0, 15), read by 5
// LIFE: b: activation, 16384 bytes, lives [1, 13), written by 1, read by 2, 9, 12
// LIFE: loss: output, 4 bytes, lives [4, 15), written by 4
// LIFE: 40960 bytes, lives [8, 15), written by 8, replaces w3

// At the gradient of w3: w1, w2, w3, the gradient, b, c, the gradient of the logits, the constant, the loss, and x, which came for its first reader and stays for
// its last.
// SET: 6: [[PEAK:[0-9]+]] bytes at w3.grad (matmul) <- peak
// SET: the peak of [[PEAK]] bytes is made of
// SET-NEXT: 40960 bytes parameter w3
// SET-NEXT: 40960 bytes gradient w3.grad
// SET-NEXT: 16384 bytes activation b

// GAPS: b: 16384 bytes idle for 0 ns from op 2 to op 9
// GAPS-NOT: w1:

// COST: cost of 'main': at least {{[1-9][0-9]*}} ns
// COST: c (conv) | implicit_gemm {{[0-9]+}} ns, 0 bytes
// COST: idle gaps of 'main'
// COST: b: 16384 bytes idle for {{[1-9][0-9]*}} ns from op 3 to op 12, round trip {{[0-9]+}} ns, can

// UNKNOWN: error: {{.*}}has no 'vdnn.choices'; run 'vdnn-select-kernels' first
