//===- CostModel.h - what planning asks of a device -----------------------===//
//
// All that planning knows about a device. docs/cost-model.md explains the model
// and the files that describe devices.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_COST_COSTMODEL_H
#define VDNN_COST_COSTMODEL_H

#include "vdnn/Planning/Problem.h"

#include "mlir/IR/Operation.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vdnn {

/// The machine, as plans name it.
struct DeviceDescription {
  /// "cpu", "cuda", or "model" for a device that exists only as a cost model.
  std::string kind;
  std::string name;
  /// What the choice of kernels and the sizes of workspaces depend on; equal to
  /// that of the runtime's device of this kind.
  std::string fingerprint;
  /// Bytes that the process takes on the device outside of the plan's arena:
  /// context, libraries.
  uint64_t overheadBytes = 0;
  /// Bytes of the host arena that one byte of the device's page tables maps; 0:
  /// they are none of the process's.
  uint64_t hostBytesPerTableByte = 0;
  /// Bytes of the whole device; 0: not known.
  uint64_t memoryBytes = 0;

  // What its backend's kernels are like, in the precision asked for.

  /// Pools have fast kernels for row-major order too, beside those for channels
  /// last.
  bool poolsPlanes = false;
  /// Convolutions do better in row-major order, where the layouts of other
  /// kernels allow it.
  bool prefersPlanes = false;
  /// A training step would wait for large inputs, and its link brings them in
  /// beside the step before.
  bool stagesInputs = false;
};

/// Costs on one device. Not thread-safe.
class CostModel {
public:
  virtual ~CostModel() = default;

  /// All ways to compute an op (`vdnn::ComputeOp`) with workspace bytes and
  /// time in nanoseconds, never empty; the same op always gives the same. A
  /// view costs nothing. An error says why the device cannot compute the op.
  virtual rt::Result<std::vector<planning::KernelChoice>>
  choices(mlir::Operation *computeOp) = 0;

  /// Whether the device's kernels were measured, but none that may compute this
  /// op: its `choices` are estimates beside measured times.
  virtual bool lacksMeasurement(mlir::Operation *) { return false; }

  const planning::Link &link() const { return link_; }
  const DeviceDescription &device() const { return device_; }

protected:
  CostModel(DeviceDescription device, const planning::Link &link)
      : device_(std::move(device)), link_(link) {}

private:
  DeviceDescription device_;
  planning::Link link_;
};

/// Which device, and how it may compute.
struct DeviceChoice {
  /// `cpu` (this machine), `cuda` (an H200 through cuDNN), `h200`, `titanx`, or
  /// the path of a device file or profile ("something.json").
  std::string device = "cpu";
  /// Compute threads of the cpu; 0: all.
  unsigned threads = 0;
  /// "fp32" is IEEE; "tf32" lets the tensor cores of cuda round the factors of
  /// f32 products to 10 bits; "bf16" is for a step whose activations are bf16.
  std::string precision = "fp32";
  /// Whether results may differ in the last bits from run to run. Only cuda has
  /// kernels that do.
  bool allowNondeterministic = false;
};

/// Makes the cost model of a device. Null, and `error` set, if there is no such
/// device, its file is not valid, or the library that knows its kernels cannot
/// be loaded.
std::unique_ptr<CostModel> createCostModel(const DeviceChoice &choice,
                                           rt::Error &error);

} // namespace vdnn

#endif
