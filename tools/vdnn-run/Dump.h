//===- Dump.h - which tensors --dump-tensors writes -----------------------===//

#ifndef VDNN_TOOLS_VDNNRUN_DUMP_H
#define VDNN_TOOLS_VDNNRUN_DUMP_H

#include "Options.h"

namespace vdnn::tool {

/// What `dumpTensors` and `dumpFilter` ask for: an empty function where no dump
/// is wanted.
rt::Result<rt::TensorFilter> dumpFilter(const RunOptions &options);

/// Fails where the dump would hold nothing, with names that would not.
rt::Status checkDump(const RunOptions &options,
                     const schedule::ScheduleT &schedule);

} // namespace vdnn::tool

#endif
