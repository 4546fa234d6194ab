//===- VDNNOps.td - the whole dialect -------------------------------------------------------------------===//

#ifndef VDNN_OPS_TD
#define VDNN_OPS_TD

include "vdnn/Dialect/ComputeOps.td"
include "vdnn/Dialect/GradientOps.td"
include "vdnn/Dialect/TransferOps.td"
include "vdnn/Dialect/CommandOps.td"

#endif
