// RUN: vdnn-opt %s -verify-diagnostics -split-input-file

func.func @offload_no_tensor(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the type of a ranked tensor, found 'f32'}}
  %h, %done = vdnn.offload %x : f32
  return
}

// -----

func.func @offload_other_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a result on the host of the operand's type 'tensor<4xf32>', found 'tensor<5xf32>'}}
  %h, %done = "vdnn.offload"(%x) : (tensor<4xf32>) -> (!vdnn.host<tensor<5xf32>>, !vdnn.token)
  return
}

// -----

func.func @prefetch_other_type(%h: !vdnn.host<tensor<5xf32>>) {
  // expected-error @+1 {{expected a result of the type 'tensor<5xf32>' that lies on the host, found 'tensor<4xf32>'}}
  %x = "vdnn.prefetch"(%h) : (!vdnn.host<tensor<5xf32>>) -> tensor<4xf32>
  return
}
