// RUN: vdnn-opt %s -verify-diagnostics -split-input-file

// The checks that these ops share with their forward ops fail in compute-errors.mlir; here, what names and messages differ.

func.func @conv_data(%dy: tensor<2x16x7x7xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 8 positions in spatial dimension 0 of 'dy', found 7}}
  %0 = vdnn.conv_backward_data %dy, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x16x7x7xf32>, tensor<16x8x3x3xf32>) -> tensor<2x8x10x9xf32>
  return
}

// -----

func.func @conv_filter(%x: tensor<2x8x9x9xf32>, %dy: tensor<2x16x7x7xf32>) {
  // expected-error @+1 {{expected 'dbias' of shape 16, found 8}}
  %0:2 = vdnn.conv_backward_filter %x, %dy {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<2x16x7x7xf32>) -> (tensor<16x8x3x3xf32>, tensor<8xf32>)
  return
}

// -----

func.func @max_pool_sources(%dy: tensor<2x4x3x3xf32>) {
  // expected-error @+1 {{expected either 'index' or both 'x' and 'y'}}
  %0 = vdnn.max_pool_backward %dy {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  return
}

// -----

func.func @max_pool_index(%dy: tensor<2x4x3x3xf32>, %i: tensor<2x4x3x2xi8>) {
  // expected-error @+1 {{expected 'index' of shape 2x4x3x3, found 2x4x3x2}}
  %0 = vdnn.max_pool_backward %dy index(%i) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x3x3xf32>, tensor<2x4x3x2xi8>) -> tensor<2x4x6x6xf32>
  return
}

// -----

func.func @avg_pool(%dy: tensor<2x4x3x3xf32>) {
  // expected-error @+1 {{expected 2 positions in spatial dimension 0 of 'dy', found 3}}
  %0 = vdnn.avg_pool_backward %dy {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x4x3x3xf32>) -> tensor<2x4x4x4xf32>
  return
}

// -----

func.func @batch_norm_relu_without_bias(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected either 'bias' or 'y' with 'relu' and only then}}
  %0:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v {epsilon = 1.0e-5 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_bias_without_relu(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected either 'bias' or 'y' with 'relu' and only then}}
  %0:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v bias(%v) {epsilon = 1.0e-5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_relu_both(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected either 'bias' or 'y' with 'relu' and only then}}
  %0:4 = vdnn.batch_norm_backward %x, %x, %v, %v, %v bias(%v) y(%x) {epsilon = 1.0e-5 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
  return
}

// -----

func.func @batch_norm_output_without_relu(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected either 'bias' or 'y' with 'relu' and only then}}
  %0:4 = vdnn.batch_norm_backward %x, %x, %v, %v, %v y(%x) {epsilon = 1.0e-5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
  return
}

// -----

func.func @batch_norm_without_masked_gradient(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected a fourth result with 'y' and only then, 'addend' with 'y' alone}}
  %0:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v y(%x) {epsilon = 1.0e-5 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_addend_without_output(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected a fourth result with 'y' and only then, 'addend' with 'y' alone}}
  %0:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v addend(%x) {epsilon = 1.0e-5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_addend(%x: tensor<2x4x7x7xf32>, %a: tensor<2x4x7x6xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected 'addend' of shape 2x4x7x7, found 2x4x7x6}}
  %0:4 = vdnn.batch_norm_backward %x, %x, %v, %v, %v y(%x) addend(%a) {epsilon = 1.0e-5 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>, tensor<2x4x7x6xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
  return
}

// -----

func.func @batch_norm_relu_bias(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>, %b: tensor<7xf32>) {
  // expected-error @+1 {{expected 'bias' of shape 4, found 7}}
  %0:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v bias(%b) {epsilon = 1.0e-5 : f64, relu}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<7xf32>) -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected 'dscale' of shape 4, found 5}}
  %0:3 = vdnn.batch_norm_backward %x, %x, %v, %v, %v {epsilon = 1.0e-5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x7x7xf32>, tensor<5xf32>, tensor<4xf32>)
  return
}

// -----

func.func @lrn(%x: tensor<2x4x7x7xf32>, %dy: tensor<2x4x7x6xf32>) {
  // expected-error @+1 {{expected 'dy' of shape 2x4x7x7, found 2x4x7x6}}
  %0 = vdnn.lrn_backward %dy, %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : (tensor<2x4x7x6xf32>, tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  return
}

// -----

func.func @softmax(%y: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'axis' from 0 to 1, found -1}}
  %0 = vdnn.softmax_backward %y, %y {axis = -1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @loss(%d: tensor<8xf32>, %lp: tensor<8x10xf32>, %l: tensor<8xi64>) {
  // expected-error @+1 {{expected 'dloss' as a scalar, found 8}}
  %0 = vdnn.softmax_cross_entropy_backward %d, %lp, %l {reduction = #vdnn<reduction mean>} : (tensor<8xf32>, tensor<8x10xf32>, tensor<8xi64>) -> tensor<8x10xf32>
  return
}
