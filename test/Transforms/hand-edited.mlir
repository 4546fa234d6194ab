// Transfer form is meant to be edited by hand: its positions count, and what cannot be is refused.
// RUN: split-file %s %t
// RUN: vdnn-opt %t/good.mlir --vdnn-lower-to-commands | FileCheck %s --check-prefix=GOOD
// RUN: not vdnn-opt %t/unreleased.mlir --vdnn-lower-to-commands 2>&1 | FileCheck %s --check-prefix=UNRELEASED
// RUN: not vdnn-opt %t/twice.mlir --vdnn-lower-to-commands 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not vdnn-opt %t/lost.mlir --vdnn-lower-to-commands 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not vdnn-opt %t/other.mlir --vdnn-lower-to-commands 2>&1 | FileCheck %s --check-prefix=OTHER

// GOOD: vdnn.cmd.copy on d2h @"device:a
// GOOD: vdnn.cmd.copy on h2d @"host:a
// UNRELEASED: error: {{.*}}copies back a tensor that has not been released
// TWICE: error: {{.*}}copies a tensor back for the second time
// LOST: error: {{.*}}tensor 'a' leaves the device and is not released, copied back and read again
// OTHER: error: {{.*}}releases another tensor than the one its token copies

//--- good.mlir
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "titanx", device_to_host = 1.28e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "f", host_budget = 0 : i64, host_to_device = 1.28e10 : f64, kind = "model", latency_ns = 0 : i64, name = "n", overhead = 0 : i64, precision = "fp32", threads = 0 : i64}} {
  func.func @main(%x: tensor<4x4xf32> {vdnn.name = "x", vdnn.role = "input"}) -> (tensor<4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.softmax %x {axis = 1 : i64, vdnn.names = ["a"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %h, %d = vdnn.offload %a : tensor<4x4xf32>
    %b = vdnn.softmax %x {axis = 1 : i64, vdnn.names = ["b"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    vdnn.release %a after %d : tensor<4x4xf32>
    %a1 = vdnn.prefetch %h : tensor<4x4xf32>
    %y = vdnn.matmul %a1, %b {vdnn.names = ["y"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}
//--- unreleased.mlir
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "titanx", device_to_host = 1.28e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "f", host_budget = 0 : i64, host_to_device = 1.28e10 : f64, kind = "model", latency_ns = 0 : i64, name = "n", overhead = 0 : i64, precision = "fp32", threads = 0 : i64}} {
  func.func @main(%x: tensor<4x4xf32> {vdnn.name = "x", vdnn.role = "input"}) -> (tensor<4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.softmax %x {axis = 1 : i64, vdnn.names = ["a"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %h, %d = vdnn.offload %a : tensor<4x4xf32>
    %a1 = vdnn.prefetch %h : tensor<4x4xf32>
    %y = vdnn.softmax %a1 {axis = 1 : i64, vdnn.names = ["y"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}
//--- twice.mlir
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "titanx", device_to_host = 1.28e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "f", host_budget = 0 : i64, host_to_device = 1.28e10 : f64, kind = "model", latency_ns = 0 : i64, name = "n", overhead = 0 : i64, precision = "fp32", threads = 0 : i64}} {
  func.func @main(%x: tensor<4x4xf32> {vdnn.name = "x", vdnn.role = "input"}) -> (tensor<4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.softmax %x {axis = 1 : i64, vdnn.names = ["a"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %h, %d = vdnn.offload %a : tensor<4x4xf32>
    vdnn.release %a after %d : tensor<4x4xf32>
    %a1 = vdnn.prefetch %h : tensor<4x4xf32>
    %a2 = vdnn.prefetch %h : tensor<4x4xf32>
    %y = vdnn.matmul %a1, %a2 {vdnn.names = ["y"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}
//--- lost.mlir
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "titanx", device_to_host = 1.28e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "f", host_budget = 0 : i64, host_to_device = 1.28e10 : f64, kind = "model", latency_ns = 0 : i64, name = "n", overhead = 0 : i64, precision = "fp32", threads = 0 : i64}} {
  func.func @main(%x: tensor<4x4xf32> {vdnn.name = "x", vdnn.role = "input"}) -> (tensor<4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.softmax %x {axis = 1 : i64, vdnn.names = ["a"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %h, %d = vdnn.offload %a : tensor<4x4xf32>
    %y = vdnn.softmax %a {axis = 1 : i64, vdnn.names = ["y"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}
//--- other.mlir
module attributes {vdnn.target = {alignment = 256 : i64, budget = 0 : i64, device = "titanx", device_to_host = 1.28e10 : f64, duplex_factor = 1.0 : f64, fingerprint = "f", host_budget = 0 : i64, host_to_device = 1.28e10 : f64, kind = "model", latency_ns = 0 : i64, name = "n", overhead = 0 : i64, precision = "fp32", threads = 0 : i64}} {
  func.func @main(%x: tensor<4x4xf32> {vdnn.name = "x", vdnn.role = "input"}) -> (tensor<4x4xf32> {vdnn.name = "y", vdnn.role = "output"}) {
    %a = vdnn.softmax %x {axis = 1 : i64, vdnn.names = ["a"], vdnn.algorithm = "", vdnn.workspace = 0 : i64, vdnn.time_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %h, %d = vdnn.offload %a : tensor<4x4xf32>
    vdnn.release %x after %d : tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
}
