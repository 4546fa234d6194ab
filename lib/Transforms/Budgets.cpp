//===- Budgets.cpp - what a plan that exceeds a budget is told -===//

#include "vdnn/Transforms/LowerToCommands.h"

#include "runtime/support/Format.h"

using namespace mlir;
using namespace vdnn;

static std::string describe(uint64_t bytes) {
  return std::to_string(bytes) + " bytes (" + rt::formatBytes(bytes) + ")";
}

LogicalResult vdnn::checkBudgets(const LoweredStep &lowered) {
  const Target &target = lowered.target;
  // Not on the op: a whole step as a note would hide the message.
  Location location = lowered.step->getLoc();
  if (!lowered.fitsDevice()) {
    InFlightDiagnostic error = emitError(location)
                               << "the plan does not fit a device budget of "
                               << describe(target.budget) << ": it takes "
                               << describe(lowered.getDeviceBytes())
                               << ", set by op '" << lowered.getPeakOp() << "'";
    if (uint64_t overhead = lowered.getOverheadBytes()) {
      error << "; of these " << describe(overhead) << " are the device's own";
    }
  }
  if (!lowered.fitsHost()) {
    emitError(location) << "the plan does not fit a host budget of "
                        << describe(target.hostBudget) << ": it takes "
                        << describe(lowered.program.hostPeak);
  }
  return success(lowered.fitsDevice() && lowered.fitsHost());
}
