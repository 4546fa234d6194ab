//===- VDNNInterfaces.td - what a planner asks of a compute op ------------------------------------------===//

#ifndef VDNN_INTERFACES_TD
#define VDNN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def VDNN_ComputeOpInterface : OpInterface<"ComputeOp"> {
  let cppNamespace = "::vdnn";
  let description = [{
    A kernel. Planning sees compute ops only through this interface, so that adding an op changes no planner.
    The defaults describe an op that costs one operation per result element and never computes in place.
  }];
  let methods = [
    InterfaceMethod<"what the policies of the vDNN paper take this op for", "::vdnn::OpClass", "getOpClass", (ins), "",
      [{ return ::vdnn::OpClass::Other; }]>,
    InterfaceMethod<"floating-point operations of one execution", "double", "getFlops", (ins), "",
      [{ return ::vdnn::defaultFlops($_op); }]>,
    InterfaceMethod<"pairs (operand number, result number) that the kernel may compute in place: it has read what it needs of the "
                    "operand before it writes over it, on every backend", "::llvm::SmallVector<std::pair<unsigned, unsigned>>",
      "getInPlacePairs", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"whether the result is the operand's bytes under another shape (no kernel runs)", "bool", "isView", (ins), "",
      [{ return false; }]>
  ];
}

#endif
