//===- CommandOps.td - the plan: tensors, buffers with addresses, commands on streams -------------------===//

#ifndef VDNN_COMMAND_OPS_TD
#define VDNN_COMMAND_OPS_TD

include "vdnn/Dialect/VDNNBase.td"
include "mlir/IR/SymbolInterfaces.td"

// What the ops of this family must hold stands in runtime/schedule/schedule.fbs, which they mirror one to one.

def VDNN_PlanOp : VDNN_Op<"plan", [IsolatedFromAbove, Symbol, SymbolTable, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a schedule: one step of a network as commands on streams";
  let description = [{
    Tensors first, then buffers, then the commands in the order of their submission; a line each. With the attribute
    `allow_nondeterministic` launches may be marked `nondeterministic`.

    ```mlir
    vdnn.plan @resnet50 attributes {device_arena = 8192 : i64, host_arena = 0 : i64} {
      vdnn.tensor @x activation tensor<8x64xf32> 2048 bytes keep "used at once"
      vdnn.tensor @y activation tensor<8x64xf32> 2048 bytes keep "used at once"
      vdnn.buffer @b0 of @x device at 0 bytes 2048 align 256
      vdnn.buffer @b1 of @y device at 2048 bytes 2048 align 256
      vdnn.cmd.launch "softmax" on compute (@b0 : tensor<8x64xf32>) -> (@b1 : tensor<8x64xf32>) ns 4000 from "prob" {axis = 1 : i64}
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def VDNN_TensorOp : VDNN_Op<"tensor", [HasParent<"PlanOp">, Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a tensor of the model and what was decided for it";
  let description = [{
    `entry` and `exit` are the buffers that hold a persistent tensor or a staged input when a step begins and ends, `staging` the
    one from which a staged input's next value comes; `gradient_of` names the parameter.

    ```mlir
    vdnn.tensor @conv1.weight parameter tensor<64x3x7x7xf32> 37632 bytes keep "read in every step" entry @b0 exit @b1 initial<normal, 0.0, 0.04>
    vdnn.tensor @relu1 activation tensor<8x64x112x112xf32> 25690112 bytes offload "idle 41 ms, 24.5 MiB, copy hidden"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, VDNN_RoleAttr:$role, TypeAttr:$type, I64Attr:$bytes, VDNN_DecisionAttr:$decision,
                   StrAttr:$reason, OptionalAttr<FlatSymbolRefAttr>:$entry, OptionalAttr<FlatSymbolRefAttr>:$exit,
                   OptionalAttr<FlatSymbolRefAttr>:$staging, OptionalAttr<FlatSymbolRefAttr>:$gradient_of,
                   OptionalAttr<VDNN_InitialAttr>:$initial);
  let assemblyFormat = [{
    $sym_name `` $role $type $bytes `bytes` `` $decision $reason (`entry` $entry^)? (`exit` $exit^)? (`staging` $staging^)?
    (`gradient_of` $gradient_of^)? (`initial` `` $initial^)? attr-dict
  }];
  let hasVerifier = 1;
}

def VDNN_BufferOp : VDNN_Op<"buffer", [HasParent<"PlanOp">, Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a range of an arena that holds one value";
  let description = [{
    Offset, bytes and alignment in bytes. Without `of` the buffer is a workspace.

    ```mlir
    vdnn.tensor @relu1 activation tensor<8x64xf32> 2048 bytes keep "used at once"
    vdnn.buffer @b1 of @relu1 device at 512 bytes 2048 align 256
    vdnn.buffer @b2 device at 4096 bytes 1024 align 256
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$tensor, VDNN_ArenaAttr:$arena, I64Attr:$offset, I64Attr:$bytes, I64Attr:$alignment);
  let assemblyFormat = "$sym_name (`of` $tensor^)? `` $arena `at` $offset `bytes` $bytes `align` $alignment attr-dict";
  let hasVerifier = 1;
}

def VDNN_LaunchOp : VDNN_Op<"cmd.launch", [HasParent<"PlanOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    `kernel` is the mnemonic of a compute op without dialect, `kernel_attributes` its attributes; the region is that of a pointwise op.
    `nondeterministic` stands behind an algorithm whose results may differ in the last bits from run to run; the plan must then
    have the attribute `allow_nondeterministic`. Reads and writes name a buffer and say how the kernel views its bytes. `in_place`
    holds pairs (position in reads, position in writes).

    ```mlir
    vdnn.cmd.launch "conv" algorithm "direct" on compute (@b1 : tensor<8x3x32x32xf32>, @b2 : tensor<16x3x3x3xf32>) -> (@b3 : tensor<8x16x32x32xf32>) workspace @b4 ns 120000 from "conv1" {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    vdnn.cmd.launch "pointwise" on compute (@b3 : tensor<8x16x32x32xf32>) -> (@b3 : tensor<8x16x32x32xf32>) in_place [0 -> 0] ns 4000 from "relu1" program {
    ^bb0(%x: f32):
      %zero = arith.constant 0.0 : f32
      %y = arith.maximumf %x, %zero : f32
      vdnn.yield %y : f32
    }
    ```
  }];
  let arguments = (ins VDNN_StreamKindAttr:$stream, StrAttr:$kernel, OptionalAttr<StrAttr>:$algorithm, UnitAttr:$nondeterministic, DictionaryAttr:$kernel_attributes,
                   ArrayAttr:$reads, TypeArrayAttr:$read_types, ArrayAttr:$writes, TypeArrayAttr:$write_types,
                   OptionalAttr<FlatSymbolRefAttr>:$workspace, OptionalAttr<DenseI64ArrayAttr>:$in_place, I64Attr:$predicted_ns, StrAttr:$location);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def VDNN_CopyOp : VDNN_Op<"cmd.copy", [HasParent<"PlanOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "copies a buffer to a buffer of the same tensor in the other arena";
  let description = [{
    ```mlir
    vdnn.cmd.copy on d2h @b1 to @h1 ns 465000 from "relu1"
    ```
  }];
  let arguments = (ins VDNN_StreamKindAttr:$stream, FlatSymbolRefAttr:$source, FlatSymbolRefAttr:$destination, I64Attr:$predicted_ns, StrAttr:$location);
  let assemblyFormat = "`on` `` $stream $source `to` $destination `ns` $predicted_ns `from` $location attr-dict";
  let hasVerifier = 1;
}

def VDNN_RecordOp : VDNN_Op<"cmd.record", [HasParent<"PlanOp">]> {
  let summary = "marks the point that a stream has reached";
  let description = [{
    Each event is recorded once in a step.

    ```mlir
    vdnn.cmd.record on compute event 0
    vdnn.cmd.wait on d2h event 0
    ```
  }];
  let arguments = (ins VDNN_StreamKindAttr:$stream, I64Attr:$event);
  let assemblyFormat = "`on` `` $stream `event` $event attr-dict";
  let hasVerifier = 1;
}

def VDNN_WaitOp : VDNN_Op<"cmd.wait", [HasParent<"PlanOp">]> {
  let summary = "holds a stream until an event has been reached";
  let description = [{
    ```mlir
    vdnn.cmd.record on d2h event 1
    vdnn.cmd.wait on compute event 1
    ```
  }];
  let arguments = (ins VDNN_StreamKindAttr:$stream, I64Attr:$event);
  let assemblyFormat = "`on` `` $stream `event` $event attr-dict";
  let hasVerifier = 1;
}

#endif
