//===- OpenSession.h - from a plan's file to a session --------------------===//

#ifndef VDNN_TOOLS_VDNNRUN_OPENSESSION_H
#define VDNN_TOOLS_VDNNRUN_OPENSESSION_H

#include "Options.h"

namespace vdnn::tool {

/// A session that is ready to run, with its notes printed to standard error.
rt::Result<std::unique_ptr<rt::Session>>
openSession(const std::string &plan, const RunOptions &options,
            const rt::SessionOptions &session);

} // namespace vdnn::tool

#endif
