//===- Plan.h - from a file to a schedule ---------------------------------===//

#ifndef VDNN_TOOLS_COMMON_PLAN_H
#define VDNN_TOOLS_COMMON_PLAN_H

#include "runtime/schedule/Schedule.h"

#include <string>
#include <vector>

namespace vdnn::tool {

/// Reads a `.vdnn` file or its JSON form (`.json`); a `.mlir` file goes through
/// the `vdnn-opt` beside this program first.
rt::Result<schedule::ScheduleT> loadPlan(const std::string &path);

/// Runs the compiler beside this program on a model or module. `options` are
/// vdnn-opt's. Its warnings go to standard error.
rt::Result<schedule::ScheduleT>
compilePlan(const std::string &path, const std::vector<std::string> &options);

} // namespace vdnn::tool

#endif
