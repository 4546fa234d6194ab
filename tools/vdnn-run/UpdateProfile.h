//===- UpdateProfile.h - what a run tells the profile it was planned from -===//

#ifndef VDNN_TOOLS_VDNNRUN_UPDATEPROFILE_H
#define VDNN_TOOLS_VDNNRUN_UPDATEPROFILE_H

#include "Options.h"
#include "Report.h"

#include "runtime/exec/Executor.h"

namespace vdnn::tool {

/// An error where a run up to step `total`, of which `done` are, could not
/// update the profile that the options name: it is told before the steps, not
/// after hours of them.
rt::Status refuseProfileUpdate(const RunOptions &options,
                               rt::Executor &executor, uint64_t done,
                               uint64_t total);

/// Writes into the profile what the run tells, and returns that for people. The
/// file stays as it is where there is an error.
rt::Result<std::string> updateProfile(const std::string &path,
                                      rt::Executor &executor,
                                      const RunReport &report);

} // namespace vdnn::tool

#endif
