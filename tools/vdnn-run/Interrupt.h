//===- Interrupt.h - Ctrl-C ends a run between two steps ------------------===//

#ifndef VDNN_TOOLS_VDNNRUN_INTERRUPT_H
#define VDNN_TOOLS_VDNNRUN_INTERRUPT_H

namespace vdnn::tool {

/// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends
/// the process at once.
void catchInterrupts();

bool interrupted();

} // namespace vdnn::tool

#endif
