//===- TransferOps.td - what leaves the device and comes back, still on values --------------------------===//

#ifndef VDNN_TRANSFER_OPS_TD
#define VDNN_TRANSFER_OPS_TD

include "vdnn/Dialect/VDNNBase.td"

def VDNN_OffloadOp : VDNN_Op<"offload"> {
  let summary = "starts copying a tensor to the host";
  let description = [{
    The copy may start once every compute op before this one has finished, and runs beside what follows. `done` is its completion.

    ```mlir
    %h, %done = vdnn.offload %x : tensor<8x64x56x56xf32>
    ```
  }];
  let arguments = (ins VDNN_Tensor:$x);
  let results = (outs VDNN_HostType:$host, VDNN_TokenType:$done);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def VDNN_ReleaseOp : VDNN_Op<"release"> {
  let summary = "from here on the bytes of an offloaded tensor may be used for others";
  let description = [{
    The compute stream waits here for the offload. No later op reads `x`.

    ```mlir
    %h, %done = vdnn.offload %x : tensor<8x64x56x56xf32>
    vdnn.release %x after %done : tensor<8x64x56x56xf32>
    ```
  }];
  let arguments = (ins VDNN_Tensor:$x, VDNN_TokenType:$done);
  let assemblyFormat = "$x `after` $done attr-dict `:` type($x)";
}

def VDNN_PrefetchOp : VDNN_Op<"prefetch"> {
  let summary = "starts copying a tensor back to the device";
  let description = [{
    The copy may start once every compute op before this one has finished; its range on the device is taken from here on. The first op that reads the
    result waits for the copy.

    ```mlir
    %h, %done = vdnn.offload %x : tensor<8x64x56x56xf32>
    %x1 = vdnn.prefetch %h : tensor<8x64x56x56xf32>
    ```
  }];
  let arguments = (ins VDNN_HostType:$host);
  let results = (outs VDNN_Tensor:$x);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def VDNN_BarrierOp : VDNN_Op<"barrier"> {
  let summary = "all streams meet: nothing after starts before everything before has finished";
  let description = [{
    The vDNN paper's synchronisation at the end of a layer.

    ```mlir
    vdnn.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif
