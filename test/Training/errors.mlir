// RUN: vdnn-opt %s --split-input-file --verify-diagnostics --vdnn-build-step=loss=output -o /dev/null

// expected-error @below {{has no parameter to train}}
func.func @main(%x: tensor<1xf32> {vdnn.name = "x", vdnn.role = "input"}) -> (tensor<1xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  return %x : tensor<1xf32>
}

// -----

// expected-error @below {{'--loss=output' needs an output of one element, but 'z' has type 'tensor<2xf32>'}}
func.func @main(%x: tensor<2xf32> {vdnn.name = "w", vdnn.role = "parameter"}) -> (tensor<2xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  return %x : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<2xf32> {vdnn.name = "w", vdnn.role = "parameter"}) -> (tensor<1xf32> {vdnn.name = "z", vdnn.role = "output"}) {
  // expected-error @below {{no backward rule for a product over axes}}
  %z = vdnn.reduce %x {kind = #vdnn<reduction prod>, axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<1xf32>
  return %z : tensor<1xf32>
}
