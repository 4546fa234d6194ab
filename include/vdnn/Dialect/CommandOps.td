//===- CommandOps.td - the plan: tensors, buffers with addresses, commands on streams -------------------===//

#ifndef VDNN_COMMAND_OPS_TD
#define VDNN_COMMAND_OPS_TD

include "vdnn/Dialect/VDNNBase.td"
include "mlir/IR/SymbolInterfaces.td"

// What the ops of this family must hold stands in runtime/schedule/schedule.fbs, which they mirror one to one.

def VDNN_PlanOp : VDNN_Op<"plan", [IsolatedFromAbove, Symbol, SymbolTable, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a schedule: one step of a network as commands on streams";
  let description = [{
    ```mlir
    vdnn.plan @resnet50 attributes {device_arena = 1048576 : i64, ...} {
      vdnn.tensor @"conv1.weight" ...
      vdnn.buffer @b0 ...
      vdnn.cmd.launch ...
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def VDNN_TensorOp : VDNN_Op<"tensor", [HasParent<"PlanOp">, Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a tensor of the model and what was decided for it";
  let arguments = (ins SymbolNameAttr:$sym_name, VDNN_RoleAttr:$role, TypeAttr:$type, I64Attr:$bytes, VDNN_DecisionAttr:$decision,
                   StrAttr:$reason, OptionalAttr<FlatSymbolRefAttr>:$entry, OptionalAttr<FlatSymbolRefAttr>:$exit,
                   OptionalAttr<FlatSymbolRefAttr>:$gradient_of, OptionalAttr<VDNN_InitialAttr>:$initial);
  let assemblyFormat = [{
    $sym_name `` $role $type $bytes `bytes` `` $decision $reason (`entry` $entry^)? (`exit` $exit^)?
    (`gradient_of` $gradient_of^)? (`initial` `` $initial^)? attr-dict
  }];
  let hasVerifier = 1;
}

def VDNN_BufferOp : VDNN_Op<"buffer", [HasParent<"PlanOp">, Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a range of an arena that holds one value";
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$tensor, VDNN_ArenaAttr:$arena, I64Attr:$offset, I64Attr:$bytes, I64Attr:$alignment);
  let assemblyFormat = "$sym_name (`of` $tensor^)? `` $arena `at` $offset `bytes` $bytes `align` $alignment attr-dict";
  let hasVerifier = 1;
}

def VDNN_LaunchOp : VDNN_Op<"cmd.launch", [HasParent<"PlanOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    `kernel` is the mnemonic of a compute op without dialect, `kernel_attributes` its attributes; the region is that of a pointwise op. `in_place` holds pairs (position in reads, position in writes).
  }];
  let arguments = (ins VDNN_StreamKindAttr:$stream, StrAttr:$kernel, OptionalAttr<StrAttr>:$algorithm, DictionaryAttr:$kernel_attributes,
                   ArrayAttr:$reads, TypeArrayAttr:$read_types, ArrayAttr:$writes, TypeArrayAttr:$write_types,
                   OptionalAttr<FlatSymbolRefAttr>:$workspace, OptionalAttr<DenseI64ArrayAttr>:$in_place, I64Attr:$predicted_ns, StrAttr:$location);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def VDNN_CopyOp : VDNN_Op<"cmd.copy", [HasParent<"PlanOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "copies a buffer to a buffer of the same tensor in the other arena";
  let arguments = (ins VDNN_StreamKindAttr:$stream, FlatSymbolRefAttr:$source, FlatSymbolRefAttr:$destination, I64Attr:$predicted_ns, StrAttr:$location);
  let assemblyFormat = "`on` `` $stream $source `to` $destination `ns` $predicted_ns `from` $location attr-dict";
  let hasVerifier = 1;
}

def VDNN_RecordOp : VDNN_Op<"cmd.record", [HasParent<"PlanOp">]> {
  let summary = "marks the point that a stream has reached";
  let arguments = (ins VDNN_StreamKindAttr:$stream, I64Attr:$event);
  let assemblyFormat = "`on` `` $stream `event` $event attr-dict";
  let hasVerifier = 1;
}

def VDNN_WaitOp : VDNN_Op<"cmd.wait", [HasParent<"PlanOp">]> {
  let summary = "holds a stream until an event has been reached";
  let arguments = (ins VDNN_StreamKindAttr:$stream, I64Attr:$event);
  let assemblyFormat = "`on` `` $stream `event` $event attr-dict";
  let hasVerifier = 1;
}

#endif
