//===- Passes.td - passes that print what planners know -------------------------------------------------===//
//
// All of them work on the planning problem of a step (`vdnn/Analysis/PlanningProblem.h`), in step form or in transfer form,
// print to standard error and change nothing. Positions are those of the compute ops, counted from 0; a value that is there before the
// step begins at 0, one that stays ends after the last op.
//
//===----------------------------------------------------------------------------------------------------===//

#ifndef VDNN_ANALYSIS_PASSES_TD
#define VDNN_ANALYSIS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintOrder : Pass<"vdnn-print-order", "::mlir::func::FuncOp"> {
  let summary = "prints the ops in execution order, with layer, phase, and what they read and write";
  let description = [{ In: step or transfer form. Out: the same. Lost: nothing. }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def PrintLifetimes : Pass<"vdnn-print-lifetimes", "::mlir::func::FuncOp"> {
  let summary = "prints for each tensor its bytes, its life and its uses";
  let description = [{ In: step or transfer form. Out: the same. Lost: nothing. }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def PrintGaps : Pass<"vdnn-print-gaps", "::mlir::func::FuncOp"> {
  let summary = "prints the idle gaps between two uses of a tensor, longest first";
  let description = [{
    In: step or transfer form. Out: the same. Lost: nothing. A gap's time is the sum of the times of the ops between the two uses; its copy
    time is that of both directions over the target's link. A gap longer than its copies can be hidden by an offload.
  }];
  let options = [Option<"minBytes", "min-bytes", "uint64_t", "0", "leave out smaller tensors">];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def PrintWorkingSet : Pass<"vdnn-print-working-set", "::mlir::func::FuncOp"> {
  let summary = "prints the live bytes at each op, and which tensors make the peak";
  let description = [{
    In: step or transfer form. Out: the same. Lost: nothing. Counted are the tensors that must be there at each op if nothing is
    offloaded and nothing is computed in place, without workspaces.
  }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def PrintCost : Pass<"vdnn-print-cost", "::mlir::func::FuncOp"> {
  let summary = "prints the kernels of each op with workspace and time";
  let description = [{ In: a step with `vdnn.choices`, or transfer form. Out: the same. Lost: nothing. }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

#endif
