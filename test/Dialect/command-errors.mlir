// RUN: vdnn-opt %s -verify-diagnostics -split-input-file

vdnn.plan @p {
  // expected-error @+1 {{expected a tensor of static shape with elements of the dialect, found 'tensor<?xf32>'}}
  vdnn.tensor @x input tensor<?xf32> 1536 bytes keep ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected 'bytes' from 0 to 9223372036854775807, found -1}}
  vdnn.tensor @x input tensor<4xf32> -1 bytes keep ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{entry '@b' is no vdnn.buffer of this plan}}
  vdnn.tensor @x input tensor<4xf32> 16 bytes keep "" entry @b
}

// -----

vdnn.plan @p {
  vdnn.buffer @b device at 0 bytes 16 align 16
  // expected-error @+1 {{gradient_of '@b' is no vdnn.tensor of this plan}}
  vdnn.tensor @x gradient tensor<4xf32> 16 bytes keep "" gradient_of @b
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected 'offset' from 0 to 9223372036854775807, found -256}}
  vdnn.buffer @b device at -256 bytes 16 align 16
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected an alignment that is a power of two, found 48}}
  vdnn.buffer @b device at 0 bytes 16 align 48
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{tensor '@x' is no vdnn.tensor of this plan}}
  vdnn.buffer @b of @x device at 0 bytes 16 align 16
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{read '@b' is no vdnn.buffer of this plan}}
  vdnn.cmd.launch "reorder" on compute (@b : tensor<4xf32>) -> () ns 0 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{write '@b' is no vdnn.buffer of this plan}}
  vdnn.cmd.launch "reorder" on compute () -> (@b : tensor<4xf32>) ns 0 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{workspace '@b' is no vdnn.buffer of this plan}}
  vdnn.cmd.launch "reorder" on compute () -> () workspace @b ns 0 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected as many types as buffers read, found 1 for 0}}
  "vdnn.cmd.launch"() <{stream = #vdnn<stream compute>, kernel = "reorder", kernel_attributes = {}, reads = [], read_types = [f32], writes = [], write_types = [], predicted_ns = 0 : i64, location = ""}> ({}) : () -> ()
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected the name of a vdnn.buffer as read, found '1 : i64'}}
  "vdnn.cmd.launch"() <{stream = #vdnn<stream compute>, kernel = "reorder", kernel_attributes = {}, reads = [1], read_types = [tensor<4xf32>], writes = [], write_types = [], predicted_ns = 0 : i64, location = ""}> ({}) : () -> ()
}

// -----

vdnn.plan @p {
  vdnn.buffer @b device at 0 bytes 16 align 16
  // expected-error @+1 {{expected buffers read as tensors of static shape with elements of the dialect, found 'f32'}}
  vdnn.cmd.launch "reorder" on compute (@b : f32) -> () ns 0 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{unknown stream 'main', expected 'compute', 'd2h' or 'h2d'}}
  vdnn.cmd.launch "reorder" on main () -> () ns 0 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected 'in_place' to pair one of 0 reads with one of 0 writes, found 0 -> 0}}
  vdnn.cmd.launch "reorder" on compute () -> () in_place [0 -> 0] ns 0 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected pairs of positions in 'in_place', found 1 numbers}}
  "vdnn.cmd.launch"() <{stream = #vdnn<stream compute>, kernel = "reorder", kernel_attributes = {}, reads = [], read_types = [], writes = [], write_types = [], in_place = array<i64: 0>, predicted_ns = 0 : i64, location = ""}> ({}) : () -> ()
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected a duration of at least 0 ns, found -5}}
  vdnn.cmd.launch "reorder" on compute () -> () ns -5 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected kernel attribute 'axis' to be an integer, an array of integers, a number, a text, a reduction or a unit, found [1]}}
  vdnn.cmd.launch "softmax" on compute () -> () ns 0 from "" {axis = [1]}
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected a program if and only if the kernel is 'pointwise', found kernel 'pointwise' with none}}
  vdnn.cmd.launch "pointwise" on compute () -> () ns 0 from ""
}

// -----

vdnn.plan @p {
  vdnn.buffer @b device at 0 bytes 16 align 16
  // expected-error @+1 {{expected 1 yielded values, one for each result, found 0}}
  vdnn.cmd.launch "pointwise" on compute () -> (@b : tensor<4xf32>) ns 0 from "" program {
    "vdnn.yield"() : () -> ()
  }
}

// -----

vdnn.plan @p {
  vdnn.buffer @b device at 0 bytes 16 align 16
  // expected-error @+1 {{expected a program of one block that ends with 'vdnn.yield'}}
  vdnn.cmd.launch "pointwise" on compute () -> (@b : tensor<4xf32>) ns 0 from "" program {
  ^bb0:
  }
}

// -----

vdnn.plan @p {
  vdnn.buffer @b device at 0 bytes 16 align 16
  // expected-error @+1 {{expected a copy on the stream 'd2h' or 'h2d', found 'compute'}}
  vdnn.cmd.copy on compute @b to @b ns 0 from ""
}

// -----

vdnn.plan @p {
  vdnn.buffer @b device at 0 bytes 16 align 16
  // expected-error @+1 {{destination '@c' is no vdnn.buffer of this plan}}
  vdnn.cmd.copy on d2h @b to @c ns 0 from ""
}

// -----

vdnn.plan @p {
  // expected-error @+1 {{expected 'event' from 0 to 9223372036854775807, found -1}}
  vdnn.cmd.record on compute event -1
}
