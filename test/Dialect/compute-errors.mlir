// RUN: vdnn-opt %s -verify-diagnostics -split-input-file

// Windows, ranks and shapes: checks that all convolutions and pools share.

func.func @rank(%x: tensor<2x8xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 'x' of rank 3 to 5, found rank 2}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<2x8xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @filter_rank(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3xf32>) {
  // expected-error @+1 {{expected 'w' of rank 4, found rank 3}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @element(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xbf16>) {
  // expected-error @+1 {{expected 'w' with the element type 'f32' of 'x', found 'bf16'}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xbf16>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @group(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 'group' from 1 to 2147483647, found 0}}
  %0 = vdnn.conv %x, %w {group = 0 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @group_divides(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected channels and filters that 'group' (3) divides, found 8 and 16}}
  %0 = vdnn.conv %x, %w {group = 3 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @filter_shape(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 'w' of shape 16x4x3x3, found 16x8x3x3}}
  %0 = vdnn.conv %x, %w {group = 2 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @filters(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 'y' of shape 2x16x7x7, found 2x8x7x7}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x8x7x7xf32>
  return
}

// -----

func.func @positions(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 4 positions in spatial dimension 1 of 'y', found 5}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x5xf32>
  return
}

// -----

func.func @window(%x: tensor<2x8x9x2xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected windows of at most 3 positions in spatial dimension 1 of 'x' with its padding, found 5}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 0, 0, 0, 1>} : (tensor<2x8x9x2xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x1xf32>
  return
}

// -----

func.func @strides(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 2 numbers in 'strides', found 1}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @dilations(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 2 numbers in 'dilations', found 0}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @stride_range(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 'strides' from 1 to 1048576, found 0}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @pad_range(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error @+1 {{expected 'pads' from 0 to 1048576, found 9223372036854775807}}
  %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 9223372036854775807>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @bias(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected 'bias' of shape 16, found 8}}
  %0 = vdnn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>, tensor<8xf32>) -> tensor<2x16x7x7xf32>
  return
}

// -----

func.func @matmul_depth(%a: tensor<4x5xf32>, %b: tensor<6x5xf32>) {
  // expected-error @+1 {{expected 'b' of shape 5x5, found 6x5}}
  %0 = vdnn.matmul %a, %b : (tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @matmul_result(%a: tensor<3x4x5xf32>, %b: tensor<3x6x5xf32>) {
  // expected-error @+1 {{expected 'y' of shape 3x4x6, found 3x4x5}}
  %0 = vdnn.matmul %a, %b {transpose_b} : (tensor<3x4x5xf32>, tensor<3x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @matmul_bias(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %bias: tensor<4xf32>) {
  // expected-error @+1 {{expected 'bias' of shape 6, found 4}}
  %0 = vdnn.matmul %a, %b, %bias : (tensor<4x5xf32>, tensor<5x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @pool_positions(%x: tensor<2x4x7x7xf32>) {
  // expected-error @+1 {{expected 3 or 4 positions in spatial dimension 0 of 'y', found 5}}
  %0 = vdnn.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x4x7x7xf32>) -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @pool_padding(%x: tensor<2x4x7x7xf32>) {
  // expected-error @+1 {{expected 'pads' less than the window's 2 positions, found 2}}
  %0 = vdnn.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>} : (tensor<2x4x7x7xf32>) -> tensor<2x4x4x3xf32>
  return
}

// -----

func.func @pool_index(%x: tensor<2x4x12x12xf32>) {
  // expected-error @+1 {{expected windows of at most 127 positions with an index, found more}}
  %0:2 = vdnn.max_pool %x {kernel = array<i64: 12, 12>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x12x12xf32>) -> (tensor<2x4x1x1xf32>, tensor<2x4x1x1xi8>)
  return
}

// -----

func.func @norm_vector(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>, %m: tensor<2xf32>) {
  // expected-error @+1 {{expected 'mean' of shape 4, found 2}}
  %0 = vdnn.batch_norm_inference %x, %v, %v, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<2x4x7x7xf32>
  return
}

// -----

func.func @norm_momentum(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected 'momentum' at least 0.000000e+00 and less than}}
  %0:5 = vdnn.batch_norm %x, %v, %v, %v, %v {epsilon = 1.0e-5 : f64, momentum = 1.5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @norm_residual(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>, %r: tensor<2x4x1x1xf32>) {
  // expected-error @+1 {{expected 'residual' of shape 2x4x7x7, found 2x4x1x1}}
  %0:5 = vdnn.batch_norm %x, %v, %v, %v, %v residual(%r) {epsilon = 1.0e-5 : f64, momentum = 0.5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x1x1xf32>)
      -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @norm_statistics(%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected 'new_running_var' with the element type 'f32' of 'running_var', found 'f64'}}
  %0:5 = vdnn.batch_norm %x, %v, %v, %v, %v {epsilon = 1.0e-5 : f64, momentum = 0.5 : f64}
    : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>)
  return
}

// -----

func.func @lrn_size(%x: tensor<2x4x7x7xf32>) {
  // expected-error @+1 {{expected 'size' from 1 to 1048576, found 0}}
  %0 = vdnn.lrn %x {size = 0 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : (tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  return
}

// -----

func.func @softmax_axis(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'axis' from 0 to 1, found 2}}
  %0 = vdnn.softmax %x {axis = 2 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @softmax_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{expected 'x' with at least one dimension, found a scalar}}
  %0 = vdnn.softmax %x {axis = 0 : i64} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @dropout_seed(%x: tensor<2x4xf32>, %s: tensor<2xi64>) {
  // expected-error @+1 {{expected 'seed' as a scalar, found 2}}
  %0 = vdnn.dropout %x, %s, %s {ratio = 0.5 : f64, id = 0 : i64} : (tensor<2x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dropout_ratio(%x: tensor<2x4xf32>, %s: tensor<i64>) {
  // expected-error @+1 {{expected 'ratio' at least 0.000000e+00 and less than 1.000000e+00, found 1.000000e+00}}
  %0 = vdnn.dropout %x, %s, %s {ratio = 1.0 : f64, id = 0 : i64} : (tensor<2x4xf32>, tensor<i64>, tensor<i64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @pointwise_no_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected at least one result, found none}}
  "vdnn.pointwise"(%x) ({
  ^bb0(%a: f32):
    "vdnn.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @pointwise_shape(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected operands whose dimensions are those of the result, 4x6, or 1, found 4x3}}
  %0 = vdnn.pointwise ins(%x : tensor<4x3xf32>) -> tensor<4x6xf32> {
  ^bb0(%a: f32):
    vdnn.yield %a : f32
  }
  return
}

// -----

func.func @pointwise_argument_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 block arguments, one for each operand, found 0}}
  %0 = vdnn.pointwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
    %a = arith.constant 1.0 : f32
    vdnn.yield %a : f32
  }
  return
}

// -----

func.func @pointwise_yield_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the type 'i1' of result 0 in the yielded values, found 'f32'}}
  %0 = vdnn.pointwise ins(%x : tensor<4xf32>) -> tensor<4xi1> {
  ^bb0(%a: f32):
    vdnn.yield %a : f32
  }
  return
}

// -----

func.func @pointwise_foreign_op(%x: tensor<4xf32>) {
  %0 = vdnn.pointwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{expected only arith and math ops with one result in a pointwise program}}
    %b = builtin.unrealized_conversion_cast %a : f32 to f32
    vdnn.yield %b : f32
  }
  return
}

// -----

func.func @pointwise_vector(%x: tensor<4xf32>) {
  %0 = vdnn.pointwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{expected scalars of the dialect's element types, found 'vector<2xf32>'}}
    %b = arith.constant dense<1.0> : vector<2xf32>
    vdnn.yield %a : f32
  }
  return
}

// -----

func.func @reduce_none(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected a reduction that combines elements, found 'none'}}
  %0 = vdnn.reduce %x {kind = #vdnn<reduction none>, axes = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @reduce_order(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected 'axes' in ascending order without repetition}}
  %0 = vdnn.reduce %x {kind = #vdnn<reduction sum>, axes = array<i64: 0, 0>} : (tensor<4x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @reduce_shape(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected 'y' of shape 1x3, found 3}}
  %0 = vdnn.reduce %x {kind = #vdnn<reduction sum>, axes = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @reshape_count(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected a result of as many elements as 'x' of shape 4x3, found 13}}
  %0 = vdnn.reshape %x : (tensor<4x3xf32>) -> tensor<13xf32>
  return
}

// -----

func.func @reshape_layout(%x: tensor<4x3x2xf32, #vdnn.layout<channels_last>>) {
  // expected-error @+1 {{expected row major operand and result, found channels last; reorder first}}
  %0 = vdnn.reshape %x : (tensor<4x3x2xf32, #vdnn.layout<channels_last>>) -> tensor<24xf32>
  return
}

// -----

func.func @reorder_shape(%x: tensor<4x3x2xf32>) {
  // expected-error @+1 {{expected 'y' of shape 4x3x2, found 4x2x3}}
  %0 = vdnn.reorder %x : (tensor<4x3x2xf32>) -> tensor<4x2x3xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected each dimension once in 'permutation', found 0 twice}}
  %0 = vdnn.transpose %x {permutation = array<i64: 0, 0>} : (tensor<4x3xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @+1 {{expected at least one operand, found none}}
  %0 = "vdnn.concat"() {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_size(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected a result of size 6 along axis 1, found 7}}
  %0 = vdnn.concat %x, %x {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @concat_overflow(%x: tensor<9223372036854775807xi8>) {
  // expected-error @+1 {{expected operands whose sizes add up within 63 bits}}
  %0 = vdnn.concat %x, %x {axis = 0 : i64} : (tensor<9223372036854775807xi8>, tensor<9223372036854775807xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @slice_offset(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected 'offset' from 0 to 1, found 2}}
  %0 = vdnn.slice %x {axis = 1 : i64, offset = 2 : i64} : (tensor<4x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @slice_size(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected 'y' of shape 4x3, found 4x5}}
  %0 = vdnn.slice %x {axis = 1 : i64, offset = 0 : i64} : (tensor<4x3xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @loss_labels(%x: tensor<8x10xf32>, %l: tensor<10xi64>) {
  // expected-error @+1 {{expected 'labels' of shape 8, found 10}}
  %0:2 = vdnn.softmax_cross_entropy %x, %l {reduction = #vdnn<reduction mean>} : (tensor<8x10xf32>, tensor<10xi64>) -> (tensor<f32>, tensor<8x10xf32>)
  return
}

// -----

func.func @loss_reduction(%x: tensor<8x10xf32>, %l: tensor<8xi64>) {
  // expected-error @+1 {{expected the reduction 'mean', 'sum' or 'none', found 'max'}}
  %0:2 = vdnn.softmax_cross_entropy %x, %l {reduction = #vdnn<reduction max>} : (tensor<8x10xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8x10xf32>)
  return
}

// -----

func.func @loss_shape(%x: tensor<8x10xf32>, %l: tensor<8xi64>) {
  // expected-error @+1 {{expected 'loss' as a scalar, found 8}}
  %0:2 = vdnn.softmax_cross_entropy %x, %l {reduction = #vdnn<reduction sum>} : (tensor<8x10xf32>, tensor<8xi64>) -> (tensor<8xf32>, tensor<8x10xf32>)
  return
}

// -----

func.func @sgd_velocity(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected a velocity and its new value if and only if 'momentum' is not zero, found no velocity and no new value}}
  %0 = vdnn.sgd %p, %p, %r {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @sgd_copy(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected 'new_copy' with the element type 'bf16', found 'f32'}}
  %0:2 = vdnn.sgd %p, %p, %r {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @sgd_copies(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected at most a new velocity, with a momentum, and a bf16 copy beside the new parameter, found 2 results}}
  %0:3 = vdnn.sgd %p, %p, %r {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @matmul_bias_of_the_result(%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4xbf16>) {
  // expected-error @+1 {{expected 'bias' with the element type 'f32' of 'y', found 'bf16'}}
  %0 = vdnn.matmul %a, %b, %c : (tensor<8x16xbf16>, tensor<16x4xbf16>, tensor<4xbf16>) -> tensor<8x4xf32>
  return
}

// -----

func.func @reduce_to_less(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{expected 'y' with the element type 'f32' of 'x', found 'bf16'}}
  %0 = vdnn.reduce %x {kind = #vdnn<reduction sum>, axes = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8x1xbf16>
  return
}

// -----

func.func @pointwise_bf16_scalar(%x: tensor<4xbf16>) {
  // expected-error @+1 {{expected the type 'f32' of operand 0 in the block arguments, found 'bf16'}}
  %0 = vdnn.pointwise ins(%x : tensor<4xbf16>) -> tensor<4xbf16> {
  ^bb0(%a: bf16):
    vdnn.yield %a : bf16
  }
  return
}

// -----

func.func @sgd_nesterov(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected a momentum with 'nesterov', found zero}}
  %0 = vdnn.sgd %p, %p, %r {momentum = 0.0 : f64, weight_decay = 0.0 : f64, nesterov} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @sgd_group_empty(%r: tensor<f32>) {
  // expected-error @+1 {{expected 1 to 64 parameters, found 0}}
  vdnn.sgd_group %r parameters() gradients() {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<f32>) -> ()
  return
}

// -----

func.func @sgd_group_gradients(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected a gradient and, if and only if 'momentum' is not zero, a velocity for each of 2 parameters, found 1 gradients and 0 velocities}}
  %0:2 = vdnn.sgd_group %r parameters(%p, %p) gradients(%p) {momentum = 0.0 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @sgd_group_velocities(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{a velocity for each of 1 parameters, found 1 gradients and 0 velocities}}
  %0:2 = vdnn.sgd_group %r parameters(%p) gradients(%p) {momentum = 0.9 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @sgd_group_results(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected 2 new values, or 4 with bf16 copies, found 3}}
  %0:3 = vdnn.sgd_group %r parameters(%p, %p) gradients(%p, %p) {momentum = 0.0 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>)
  return
}

// -----

func.func @sgd_group_copies(%p: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected 'new_copy' with the element type 'bf16', found 'f32'}}
  %0:2 = vdnn.sgd_group %r parameters(%p) gradients(%p) {momentum = 0.0 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @sgd_group_kinds(%p: tensor<4xf32>, %g: tensor<4xbf16>, %r: tensor<f32>) {
  // expected-error @+1 {{expected 'gradient' with the element type 'f32' of 'gradient', found 'bf16'}}
  %0:2 = vdnn.sgd_group %r parameters(%p, %p) gradients(%p, %g) {momentum = 0.0 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @sgd_group_shapes(%p: tensor<4xf32>, %q: tensor<5xf32>, %r: tensor<f32>) {
  // expected-error @+1 {{expected 'gradient' of shape 5, found 4}}
  %0:2 = vdnn.sgd_group %r parameters(%p, %q) gradients(%p, %p) {momentum = 0.0 : f64, weight_decay = 0.0 : f64}
    : (tensor<f32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}
