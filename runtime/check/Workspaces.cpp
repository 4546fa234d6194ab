//===- Workspaces.cpp - P8: workspaces are buffers like any other ---------===//
//
// Their conflicts are P3, since a launch is the one writer of its workspace.
// What is left is that each belongs to one launch and to no tensor, and is
// aligned as kernels expect of scratch memory, whose elements no type names.
//
//===----------------------------------------------------------------------===//

#include "runtime/check/Rules.h"

namespace vdnn::rt::check_detail {

using namespace schedule;

/// docs/kernels.md promises it to backends.
static constexpr uint64_t kWorkspaceAlignment = 64;

void checkWorkspaces(Context &context) {
  for (BufferId id = 0; id < context.uses.size(); ++id) {
    const Uses &uses = context.uses[id];
    const BufferT &b = context.buffer(id);
    if (b.tensor < 0 && !(uses.reads.empty() && uses.writes.empty())) {
      CommandId user = uses.reads.empty() ? uses.writes[0] : uses.reads[0];
      context.report(
          "P8", context.describeCommand(user) + " takes " +
                    context.describeBuffer(id) +
                    " as an operand, expected a buffer that holds a tensor");
    }
    if (uses.workspaceOf.empty()) {
      continue;
    }
    if (b.tensor >= 0) {
      context.report("P8", context.describeCommand(uses.workspaceOf[0]) +
                               " takes " + context.describeBuffer(id) +
                               " as its workspace, which holds " +
                               context.describeTensor(b.tensor));
    }
    if (b.arena != Arena::Device) {
      context.report("P8", context.describeCommand(uses.workspaceOf[0]) +
                               " has its workspace in " +
                               context.describeBuffer(id) +
                               ", expected the device");
    }
    if (b.alignment < kWorkspaceAlignment) {
      context.report("P8", context.describeCommand(uses.workspaceOf[0]) +
                               " has its workspace in " +
                               context.describeBuffer(id) + " of alignment " +
                               std::to_string(b.alignment) +
                               ", expected at least " +
                               std::to_string(kWorkspaceAlignment));
    }
    if (uses.workspaceOf.size() > 1) {
      context.report("P8",
                     context.describeCommand(uses.workspaceOf[0]) + " and " +
                         context.describeCommand(uses.workspaceOf[1]) +
                         " share the workspace " + context.describeBuffer(id) +
                         ", expected one buffer for each");
    }
  }
}

} // namespace vdnn::rt::check_detail
