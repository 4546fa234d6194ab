// RUN: vdnn-opt %S/Inputs/step.mlir --pass-pipeline='builtin.module(vdnn-plan{device=titanx policy=all})' | FileCheck %s
// RUN: vdnn-opt %S/Inputs/step.mlir --pass-pipeline='builtin.module(vdnn-plan{device=titanx policy=all})' | vdnn-opt --vdnn-verify-phase=phase=commands -o /dev/null
// RUN: not vdnn-opt %S/Inputs/step.mlir --pass-pipeline='builtin.module(vdnn-plan{device=titanx budget=100000})' 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not vdnn-opt %S/Inputs/step.mlir --pass-pipeline='builtin.module(vdnn-plan{device=titanx host-budget=10})' 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not vdnn-opt %S/Inputs/step.mlir --pass-pipeline='builtin.module(vdnn-attach-target,vdnn-lower-to-commands)' 2>&1 | FileCheck %s --check-prefix=FORM

// One line per tensor of the model; the new value of a parameter is the parameter.
// CHECK-NOT: func.func
// CHECK: vdnn.plan @model attributes
// CHECK: vdnn.tensor @x input tensor<4x3x8x8xf32> 3072 bytes
// CHECK: vdnn.tensor @w1 parameter tensor<16x3x3x3xf32, #vdnn.layout<channels_last>> 1728 bytes keep "{{.*}}" entry @"device:w1" exit @"device:{{.*}}" initial<normal
// CHECK: vdnn.tensor @constant.0 state tensor<f32> 4 bytes keep "{{.+}}" {{.*}} initial<constant, 1
// CHECK: vdnn.tensor @b activation {{.*}} 16384 bytes offload "{{.+}}"
// CHECK: vdnn.tensor @loss output tensor<f32> 4 bytes
// CHECK: vdnn.tensor @w3.grad gradient {{.*}} gradient_of @w3
// CHECK: vdnn.buffer @"host:b
// CHECK: vdnn.cmd.launch "conv"
// CHECK: vdnn.cmd.copy on d2h @"device:b
// CHECK: vdnn.cmd.copy on h2d @"host:b
// BUDGET: error: the plan does not fit a device budget of 100000 bytes ({{.*}}): it takes {{[0-9]+}} bytes ({{.*}}), set by op '
// HOST: error: the plan does not fit a host budget of 10 bytes ({{.*}}): it takes {{[0-9]+}} bytes
// FORM: error: {{.*}}has no 'vdnn.choices'
