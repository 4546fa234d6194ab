//===- Open.h - a plan's device and files ---------------------------------===//

#ifndef VDNN_RUNTIME_EXEC_OPEN_H
#define VDNN_RUNTIME_EXEC_OPEN_H

#include "runtime/exec/Device.h"

#include <vector>

namespace vdnn::rt {

/// The kinds of device that a plan can be opened on: "cpu" where this build has
/// a backend for it, "cuda", whose backend is loaded when it is asked for, and
/// "sim".
std::vector<std::string> deviceKinds();

/// The device of that kind, or of the plan's kind where `kind` is empty.
/// `threads` is for the cpu; 0: all cores.
Result<std::unique_ptr<Device>> openDevice(const std::string &kind,
                                           const schedule::ScheduleT &schedule,
                                           unsigned threads);

/// The `.safetensors` file beside the plan, of the same stem; empty where there
/// is none.
std::string weightsBeside(const std::string &plan);

} // namespace vdnn::rt

#endif
