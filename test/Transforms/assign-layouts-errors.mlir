// RUN: vdnn-opt %s --split-input-file --verify-diagnostics --vdnn-assign-layouts

func.func @foreign(%x: tensor<4xf32> {vdnn.name = "x", vdnn.role = "input"}) {
  // expected-error @below {{'arith.constant' op has no layout: expected compute ops only}}
  %c = arith.constant 1.0 : f32
  return
}
