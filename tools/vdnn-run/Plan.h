//===- Plan.h - from a file to a schedule to a session
//----------------------------------------===//

#ifndef VDNN_TOOLS_VDNNRUN_PLAN_H
#define VDNN_TOOLS_VDNNRUN_PLAN_H

#include "Options.h"

namespace vdnn::tool {

/// Reads a `.vdnn` file or its JSON form (`.json`); a `.mlir` file goes through
/// the `vdnn-opt` beside this program first.
rt::Result<schedule::ScheduleT> loadPlan(const std::string &path);

/// A session that is ready to run, with its notes printed to standard error.
rt::Result<std::unique_ptr<rt::Session>>
openSession(const std::string &plan, const RunOptions &options,
            const rt::SessionOptions &session);

} // namespace vdnn::tool

#endif
