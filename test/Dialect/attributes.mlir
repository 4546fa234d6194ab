// RUN: vdnn-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: module attributes {vdnn.a = #vdnn.initial<constant, 1.000000e+00>, vdnn.b = #vdnn.initial<normal, -1.000000e+00, 4.000000e-02>, vdnn.c = #vdnn.initial<uniform, 0.000000e+00, 1.000000e+00>, vdnn.d = #vdnn.initial<stored>, vdnn.dd = #vdnn.initial<converted, "a w">, vdnn.e = #vdnn.layout<row_major>
module attributes {vdnn.a = #vdnn.initial<constant, 1.0>, vdnn.b = #vdnn.initial<normal, -1.0, 0.04>, vdnn.c = #vdnn.initial<uniform, 0.0, 1.0>, vdnn.d = #vdnn.initial<stored>, vdnn.dd = #vdnn.initial<converted, "a w">, vdnn.e = #vdnn.layout<row_major>} {}

// -----

// expected-error @+1 {{unknown kind 'gauss' of initial value, expected 'constant', 'normal', 'uniform', 'stored' or 'converted'}}
module attributes {vdnn.a = #vdnn.initial<gauss, 1.0>} {}

// -----

// expected-error @+1 {{expected a rank of at least 3 with channels last, found 2}}
func.func private @layout(tensor<8x16xf32, #vdnn.layout<channels_last>>)
