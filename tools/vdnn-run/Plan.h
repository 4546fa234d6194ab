//===- Plan.h - from a file to a schedule, and the device it runs on ----------------------------------------===//

#ifndef VDNN_TOOLS_VDNNRUN_PLAN_H
#define VDNN_TOOLS_VDNNRUN_PLAN_H

#include "Options.h"

namespace vdnn::tool {

/// Reads a `.vdnn` file or its JSON form (`.json`); a `.mlir` file goes through the `vdnn-opt` beside this program first.
rt::Result<schedule::ScheduleT> loadPlan(const std::string &path);

/// The `.safetensors` file beside the plan, of the same stem; empty where there is none.
std::string weightsBeside(const std::string &plan);

/// The device of that kind, or of the plan's kind where `kind` is empty.
rt::Result<std::unique_ptr<rt::Device>> openDevice(const std::string &kind, const schedule::ScheduleT &schedule,
                                                   unsigned threads);

/// All of the above: a session that is ready to run.
rt::Result<std::unique_ptr<rt::Session>> openSession(const std::string &plan, const RunOptions &options,
                                                     const rt::SessionOptions &session);

} // namespace vdnn::tool

#endif
