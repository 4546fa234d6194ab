//===- VDNNBase.td - the vdnn dialect, its enums, types, attributes and op bases ------------------------===//

#ifndef VDNN_BASE_TD
#define VDNN_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "vdnn/Dialect/VDNNInterfaces.td"

def VDNN_Dialect : Dialect {
  let name = "vdnn";
  let cppNamespace = "::vdnn";
  let summary = "a training step, from values to commands with addresses";
  let description = [{
    Three families of ops, one for each phase of compilation.

    Compute ops (`ComputeOps.td`, `GradientOps.td`) work on values: tensors of static, logical shape. Transfer ops
    (`TransferOps.td`) say, still on values, which tensor leaves the device, when, and when it comes back. Command ops
    (`CommandOps.td`) have no values: they name buffers with addresses, streams and events, and mirror the schedule that
    the runtime reads.

    Discardable attributes that passes leave for each other:

    | attribute | on | meaning |
    |---|---|---|
    | `vdnn.name` | function arguments and results | name of the tensor in the model |
    | `vdnn.role` | function arguments | `"input"`, `"parameter"` or `"state"` |
    | `vdnn.initial` | parameters, states | how the tensor starts (`#vdnn.initial`) |
    | `vdnn.role` | function results | `"output"`, or `"update"`: the new value of the argument of the same `vdnn.name` |
    | `vdnn.names` | compute ops | name of each result in the model |
    | `vdnn.layer` | compute ops | number of the forward op that this op belongs to; its backward ops carry the same |
    | `vdnn.phase` | compute ops | `"forward"`, `"backward"` or `"update"` |
    | `vdnn.gradient_of` | compute ops that are no views | result 0 is the whole gradient of the parameter of that name |
    | `vdnn.gradients` | compute ops | array of strings, one per result: the result is the whole gradient of the parameter of that name (`""`: of none); stands instead of `vdnn.gradient_of` where an op has several such results |
    | `vdnn.algorithm`, `vdnn.workspace`, `vdnn.time_ns` | compute ops | the chosen kernel |
    | `vdnn.nondeterministic` | compute ops | the chosen kernel may give other last bits in every run |
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = [];
}

//===----------------------------------------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------------------------------------===//

class VDNN_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::vdnn";
  let genSpecializedAttr = 0;
}

def VDNN_Layout : VDNN_Enum<"Layout", "order of the elements in memory", [
  I32EnumAttrCase<"RowMajor", 0, "row_major">, I32EnumAttrCase<"ChannelsLast", 1, "channels_last">]>;
def VDNN_Reduction : VDNN_Enum<"Reduction", "how a reduction combines elements", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Prod", 4, "prod">, I32EnumAttrCase<"SumSquare", 5, "sum_square">,
  I32EnumAttrCase<"None", 6, "none">]>;
def VDNN_ReductionAttr : EnumAttr<VDNN_Dialect, VDNN_Reduction, "reduction">;
def VDNN_StreamKind : VDNN_Enum<"StreamKind", "a stream of the device", [
  I32EnumAttrCase<"Compute", 0, "compute">, I32EnumAttrCase<"DeviceToHost", 1, "d2h">,
  I32EnumAttrCase<"HostToDevice", 2, "h2d">]>;
def VDNN_StreamKindAttr : EnumAttr<VDNN_Dialect, VDNN_StreamKind, "stream">;
def VDNN_Arena : VDNN_Enum<"Arena", "a memory that the plan lays out", [
  I32EnumAttrCase<"Device", 0, "device">, I32EnumAttrCase<"Host", 1, "host">]>;
def VDNN_ArenaAttr : EnumAttr<VDNN_Dialect, VDNN_Arena, "arena">;
def VDNN_Role : VDNN_Enum<"Role", "what a tensor is to the step", [
  I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Output", 1, "output">,
  I32EnumAttrCase<"Parameter", 2, "parameter">, I32EnumAttrCase<"State", 3, "state">,
  I32EnumAttrCase<"Gradient", 4, "gradient">, I32EnumAttrCase<"Activation", 5, "activation">,
  I32EnumAttrCase<"Workspace", 6, "workspace">]>;
def VDNN_RoleAttr : EnumAttr<VDNN_Dialect, VDNN_Role, "role">;
def VDNN_Decision : VDNN_Enum<"Decision", "what is done with a tensor between its uses", [
  I32EnumAttrCase<"Keep", 0, "keep">, I32EnumAttrCase<"Offload", 1, "offload">,
  I32EnumAttrCase<"Recompute", 2, "recompute">]>;
def VDNN_DecisionAttr : EnumAttr<VDNN_Dialect, VDNN_Decision, "decision">;
def VDNN_InitialKind : VDNN_Enum<"InitialKind", "how a persistent tensor starts", [
  I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Normal", 1, "normal">,
  I32EnumAttrCase<"Uniform", 2, "uniform">, I32EnumAttrCase<"Stored", 3, "stored">, I32EnumAttrCase<"Converted", 4, "converted">]>;

//===----------------------------------------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------------------------------------===//

def VDNN_LayoutAttr : AttrDef<VDNN_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "tensor encoding: order of the elements in memory; no encoding means row major";
  let description = [{
    Example: `tensor<8x64x56x56xf32, #vdnn.layout<channels_last>>`; the shape stays logical (N, C, H, W). Channels last needs a rank of at least 3.
  }];
  let parameters = (ins EnumParameter<VDNN_Layout>:$value);
  let assemblyFormat = "`<` $value `>`";
}

def VDNN_Real : AttrParameter<"::vdnn::Real", "a number", "double">;

def VDNN_InitialAttr : AttrDef<VDNN_Dialect, "Initial"> {
  let mnemonic = "initial";
  let summary = "how a persistent tensor starts where no file gives it";
  let description = [{
    `constant`: `a`. `normal`: mean `a`, standard deviation `b`. `uniform`: `[a, b)`. `stored`: the file of weights must hold it. `converted`: the value of
    the persistent tensor `source`, of the same shape, in this tensor's element type; no file holds it.
    Examples: `#vdnn.initial<normal, 0.0, 0.04>`, `#vdnn.initial<converted, "conv1.weight">`.
  }];
  let parameters = (ins EnumParameter<VDNN_InitialKind>:$kind, VDNN_Real:$a, VDNN_Real:$b, DefaultValuedParameter<"::mlir::StringAttr", "{}">:$source);
  let builders = [
    AttrBuilder<(ins "::vdnn::InitialKind":$kind, "double":$a, "double":$b), [{ return $_get($_ctxt, kind, Real(a), Real(b), ::mlir::StringAttr()); }]>,
    AttrBuilderWithInferredContext<(ins "::mlir::StringAttr":$source), [{ return $_get(source.getContext(), InitialKind::Converted, Real(0), Real(0), source); }]>];
  let hasCustomAssemblyFormat = 1;
}

class VDNN_Type<string name, string mnem> : TypeDef<VDNN_Dialect, name> { let mnemonic = mnem; }

def VDNN_TokenType : VDNN_Type<"Token", "token"> {
  let summary = "completion of an asynchronous copy";
}
def VDNN_HostType : VDNN_Type<"Host", "host"> {
  let summary = "a tensor that lies in host memory";
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
}

def VDNN_Tensor : StaticShapeTensorOf<[F64, F32, F16, BF16, I64, I32, I16, I8, UI64, UI32, UI16, UI8, I1]>;
def VDNN_FloatTensor : StaticShapeTensorOf<[F64, F32, F16, BF16]>;

//===----------------------------------------------------------------------------------------------------===//
// Op bases
//===----------------------------------------------------------------------------------------------------===//

class VDNN_Op<string mnemonic, list<Trait> traits = []> : Op<VDNN_Dialect, mnemonic, traits>;

// A kernel on values: pure, and described to planners by the ComputeOp interface.
class VDNN_ComputeOp<string mnemonic, list<Trait> traits = [], list<string> methods = []>
    : VDNN_Op<mnemonic, !listconcat(traits, [Pure, DeclareOpInterfaceMethods<VDNN_ComputeOpInterface, methods>])>;

#endif
