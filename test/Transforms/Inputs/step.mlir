// One training step of conv, conv, matmul: made by hand so that these tests need neither importer nor backward pass.
func.func @main(
    %x: tensor<4x3x8x8xf32> {vdnn.name = "x", vdnn.role = "input"},
    %labels: tensor<4xi64> {vdnn.name = "labels", vdnn.role = "input"},
    %rate: tensor<f32> {vdnn.name = "vdnn.rate", vdnn.role = "input"},
    %w1: tensor<16x3x3x3xf32> {vdnn.name = "w1", vdnn.role = "parameter", vdnn.initial = #vdnn.initial<normal, 0.0, 0.1>},
    %w2: tensor<16x16x3x3xf32> {vdnn.name = "w2", vdnn.role = "parameter", vdnn.initial = #vdnn.initial<normal, 0.0, 0.1>},
    %w3: tensor<10x1024xf32> {vdnn.name = "w3", vdnn.role = "parameter", vdnn.initial = #vdnn.initial<normal, 0.0, 0.1>})
    -> (tensor<f32> {vdnn.name = "loss", vdnn.role = "output"},
        tensor<16x3x3x3xf32> {vdnn.name = "w1", vdnn.role = "update"},
        tensor<16x16x3x3xf32> {vdnn.name = "w2", vdnn.role = "update"},
        tensor<10x1024xf32> {vdnn.name = "w3", vdnn.role = "update"}) {
  %one = vdnn.constant dense<1.0> : tensor<f32>
  %a = vdnn.conv %x, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64, vdnn.names = ["a"], vdnn.layer = 0 : i64, vdnn.phase = "forward"}
    : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<4x16x8x8xf32>
  %b = vdnn.pointwise ins(%a : tensor<4x16x8x8xf32>) {vdnn.names = ["b"], vdnn.layer = 1 : i64, vdnn.phase = "forward"} -> tensor<4x16x8x8xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %zero : f32
    vdnn.yield %m : f32
  }
  %c = vdnn.conv %b, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64, vdnn.names = ["c"], vdnn.layer = 2 : i64, vdnn.phase = "forward"}
    : (tensor<4x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<4x16x8x8xf32>
  %flat = vdnn.reshape %c : (tensor<4x16x8x8xf32>) -> tensor<4x1024xf32>
  %logits = vdnn.matmul %flat, %w3 {transpose_b, vdnn.names = ["logits"], vdnn.layer = 3 : i64, vdnn.phase = "forward"}
    : (tensor<4x1024xf32>, tensor<10x1024xf32>) -> tensor<4x10xf32>
  %loss, %lp = vdnn.softmax_cross_entropy %logits, %labels {reduction = #vdnn<reduction mean>, vdnn.names = ["loss.value", "log_prob"], vdnn.layer = 4 : i64, vdnn.phase = "forward"}
    : (tensor<4x10xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x10xf32>)
  %dlogits = vdnn.softmax_cross_entropy_backward %one, %lp, %labels {reduction = #vdnn<reduction mean>, vdnn.names = ["logits.gradient"], vdnn.layer = 4 : i64, vdnn.phase = "backward"}
    : (tensor<f32>, tensor<4x10xf32>, tensor<4xi64>) -> tensor<4x10xf32>
  %dw3 = vdnn.matmul %dlogits, %flat {transpose_a, vdnn.gradient_of = "w3", vdnn.names = ["w3.grad"], vdnn.layer = 3 : i64, vdnn.phase = "backward"}
    : (tensor<4x10xf32>, tensor<4x1024xf32>) -> tensor<10x1024xf32>
  %dflat = vdnn.matmul %dlogits, %w3 {vdnn.names = ["flat.gradient"], vdnn.layer = 3 : i64, vdnn.phase = "backward"}
    : (tensor<4x10xf32>, tensor<10x1024xf32>) -> tensor<4x1024xf32>
  %w3n = vdnn.sgd %w3, %dw3, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64, vdnn.layer = 3 : i64, vdnn.phase = "update"}
    : (tensor<10x1024xf32>, tensor<10x1024xf32>, tensor<f32>) -> tensor<10x1024xf32>
  %dc = vdnn.reshape %dflat : (tensor<4x1024xf32>) -> tensor<4x16x8x8xf32>
  %dw2 = vdnn.conv_backward_filter %b, %dc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64, vdnn.gradient_of = "w2", vdnn.names = ["w2.grad"], vdnn.layer = 2 : i64, vdnn.phase = "backward"}
    : (tensor<4x16x8x8xf32>, tensor<4x16x8x8xf32>) -> tensor<16x16x3x3xf32>
  %db = vdnn.conv_backward_data %dc, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64, vdnn.names = ["b.gradient"], vdnn.layer = 2 : i64, vdnn.phase = "backward"}
    : (tensor<4x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<4x16x8x8xf32>
  %w2n = vdnn.sgd %w2, %dw2, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64, vdnn.layer = 2 : i64, vdnn.phase = "update"}
    : (tensor<16x16x3x3xf32>, tensor<16x16x3x3xf32>, tensor<f32>) -> tensor<16x16x3x3xf32>
  %da = vdnn.pointwise ins(%db, %b : tensor<4x16x8x8xf32>, tensor<4x16x8x8xf32>) {vdnn.names = ["a.gradient"], vdnn.layer = 1 : i64, vdnn.phase = "backward"} -> tensor<4x16x8x8xf32> {
  ^bb0(%g: f32, %e: f32):
    %zero = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %e, %zero : f32
    %r = arith.select %p, %g, %zero : f32
    vdnn.yield %r : f32
  }
  %dw1 = vdnn.conv_backward_filter %x, %da {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, group = 1 : i64, vdnn.gradient_of = "w1", vdnn.names = ["w1.grad"], vdnn.layer = 0 : i64, vdnn.phase = "backward"}
    : (tensor<4x3x8x8xf32>, tensor<4x16x8x8xf32>) -> tensor<16x3x3x3xf32>
  %w1n = vdnn.sgd %w1, %dw1, %rate {momentum = 0.0 : f64, weight_decay = 0.0 : f64, vdnn.layer = 0 : i64, vdnn.phase = "update"}
    : (tensor<16x3x3x3xf32>, tensor<16x3x3x3xf32>, tensor<f32>) -> tensor<16x3x3x3xf32>
  return %loss, %w1n, %w2n, %w3n : tensor<f32>, tensor<16x3x3x3xf32>, tensor<16x16x3x3xf32>, tensor<10x1024xf32>
}
