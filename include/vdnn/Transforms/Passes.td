//===- Passes.td - the passes between one step and its plan ---------------------------------------------===//
//
// Each description says what goes in, what comes out and what is lost. A pass that needs facts about the device reads
// them from the module's `vdnn.target`, never from an option of its own, so that a `.mlir` file says for which machine
// it was made.
//
//===----------------------------------------------------------------------------------------------------===//

#ifndef VDNN_TRANSFORMS_PASSES_TD
#define VDNN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTarget : Pass<"vdnn-attach-target", "::mlir::ModuleOp"> {
  let summary = "writes the device and the budgets that the module is planned for";
  let description = [{
    In: a module in any form. Out: the same module with the attribute `vdnn.target`: the device's name, kind, fingerprint,
    link, fixed memory overhead, what its kernels are like, and the budgets. Lost: an earlier `vdnn.target`.
  }];
  let options = [
    Option<"device", "device", "std::string", "\"cpu\"", "cpu, cuda, h200, titanx, or the JSON file of a device or profile">,
    Option<"threads", "threads", "unsigned", "0", "threads of the CPU (0: all)">,
    Option<"precision", "precision", "std::string", "\"fp32\"", "fp32, tf32 (products of f32 on cuda) or bf16">,
    Option<"allowNondeterministic", "allow-nondeterministic", "bool", "false", "results may differ in the last bits from run to run (cuda)">,
    Option<"budget", "budget", "int64_t", "0", "device bytes of the whole process (0: no limit)">,
    Option<"hostBudget", "host-budget", "int64_t", "0", "pinned host bytes (0: no limit)">
  ];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def AssignLayouts : Pass<"vdnn-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "gives every tensor a memory layout and inserts the fewest reorders";
  let description = [{
    In: one step in compute form, any encodings. Out: the same step whose tensor types carry `#vdnn.layout<channels_last>`
    where docs/kernels.md asks for it, with `vdnn.reorder` where a tensor changes its layout; every output of the step is
    row major and a value of its own. Lost: nothing; earlier encodings are replaced.

    Convolutions, pools and normalisations need channels last, reshapes, matrix products and softmaxes row major (convolutions and
    pools of some devices differ: docs/cost-model.md); all other ops, parameters, states and constants may have either. Which
    they get is a minimum cut: the assignment that moves the fewest bytes. Parameters, their gradients, velocities and new values so
    follow the kernels that use them. Inputs and outputs stay row major, as the user's data is. A reorder whose tensor has a single
    channel or a single position moves no byte and is a view.
  }];
  let dependentDialects = ["::vdnn::VDNNDialect", "::mlir::arith::ArithDialect"];
}

def SelectKernels : Pass<"vdnn-select-kernels", "::mlir::func::FuncOp"> {
  let summary = "asks the device's cost model how each op can be computed";
  let description = [{
    In: one step with layouts and `vdnn.target`. Out: the same step, each op with `vdnn.choices`: the algorithms that the
    device has for it, each with workspace and time; a choice that is neither smaller nor faster than another one is left out. Lost: nothing.
    The policy takes one of them in `vdnn-plan-transfers`.
  }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def PlanTransfers : Pass<"vdnn-plan-transfers", "::mlir::func::FuncOp"> {
  let summary = "decides what leaves the device and when, and which kernels run";
  let description = [{
    In: one step with `vdnn.choices`. Out: transfer form: offload, release, prefetch and barrier ops between the compute ops; on each
    compute op the kernel that was taken (`vdnn.algorithm`, `vdnn.workspace`, `vdnn.time_ns`, and `vdnn.nondeterministic` where its
    results may differ in the last bits from run to run) and for each value the decision
    and its reason (`vdnn.decisions`, `vdnn.reasons`; on arguments `vdnn.decision`, `vdnn.reason`). An input whose next value comes in
    while the step runs carries `vdnn.staged`. Lost: the choices not taken.

    The result is meant to be read and edited by hand: `vdnn-lower-to-commands` takes the positions of the ops, not this
    pass's memory of them.
  }];
  let options = [
    Option<"policy", "policy", "std::string", "\"none\"", "what leaves the device: a policy that vdnn-opt --help names">,
    Option<"kernels", "kernels", "std::string", "\"performance\"", "memory: smallest workspace; performance: fastest">,
    Option<"sync", "sync", "std::string", "\"event\"", "event: wait only where needed; layer: the paper's barrier">,
    Option<"inputs", "inputs", "std::string", "\"auto\"",
           "direct: copied in before their first use; staged: while the step before runs; auto: staged where a device trains that stages inputs, and it pays">
  ];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def LowerToCommands : Pass<"vdnn-lower-to-commands", "::mlir::ModuleOp"> {
  let summary = "replaces values by buffers with addresses, and order by streams and events";
  let description = [{
    In: transfer form. Out: one `vdnn.plan` with a line per tensor of the model, per buffer and per command. Lost: the values; names,
    bytes, decisions and reasons stay as text. Fails where a budget of `vdnn.target` is exceeded.
  }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def CheckPlan : Pass<"vdnn-check-plan", "::mlir::ModuleOp"> {
  let summary = "proves every plan of the module";
  let description = [{
    In: a module. Out: the same module. Lost: nothing; fails, with all violations reported, unless each `vdnn.plan` has a schedule
    that keeps the invariants of docs/invariants.md. A module without a plan has nothing to prove.
  }];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

def VerifyPhase : Pass<"vdnn-verify-phase", "::mlir::ModuleOp"> {
  let summary = "closes a phase: reports every op and attribute that must not be there any more";
  let description = [{
    In: a module. Out: the same module. Lost: nothing; fails, with all violations reported, unless the module is in the form
    that the phase promises.

    * compute: compute ops on values in one function, arguments with names and roles.
    * step: also layers and phases on each op, layouts as the kernels want them, each persistent tensor updated at most once.
    * transfers: also kernels on each op, and transfer ops.
    * commands: one `vdnn.plan` and no function.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"compute\"", "compute, step, transfers or commands">];
  let dependentDialects = ["::vdnn::VDNNDialect"];
}

#endif
