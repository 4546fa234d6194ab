//===- OpenSession.cpp ----------------------------------------------------===//

#include "OpenSession.h"

#include "tools/common/Plan.h"

#include "runtime/exec/Open.h"

namespace vdnn::tool {

rt::Result<std::unique_ptr<rt::Session>>
openSession(const std::string &plan, const RunOptions &options,
            const rt::SessionOptions &session) {
  rt::Result<schedule::ScheduleT> schedule = loadPlan(plan);
  if (!schedule) {
    return schedule.error();
  }
  rt::Result<std::unique_ptr<rt::Device>> device =
      rt::openDevice(options.device, *schedule, options.threads);
  if (!device) {
    return device.error();
  }
  rt::SessionOptions complete = session;
  complete.planWeights = rt::weightsBeside(plan);
  rt::Result<std::unique_ptr<rt::Session>> opened =
      rt::Session::create(std::move(*schedule), std::move(*device), complete);
  if (!opened) {
    return rt::Error{"'" + plan + "': " + opened.message()};
  }
  for (const std::string &note : (*opened)->notes()) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  return opened;
}

} // namespace vdnn::tool
