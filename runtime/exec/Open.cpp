//===- Open.cpp -----------------------------------------------------------===//

#include "runtime/exec/Open.h"

#include "runtime/backend/plugin/Plugin.h"
#include "runtime/sim/SimDevice.h"

#include <filesystem>

namespace vdnn::rt {

std::vector<std::string> deviceKinds() {
  std::vector<std::string> kinds;
#ifdef VDNN_HAS_CPU
  kinds.push_back("cpu");
#endif
  kinds.insert(kinds.end(), {"cuda", "sim"});
  return kinds;
}

Result<std::unique_ptr<Device>> openDevice(const std::string &kind,
                                           const schedule::ScheduleT &schedule,
                                           unsigned threads) {
  std::string wanted = kind.empty() ? schedule.target->kind : kind;
  if (wanted == "model") {
    return Error{
        "the plan is for '" + schedule.target->name +
        "', which exists only as a cost model: simulate it with --device sim"};
  }
  if (wanted == "sim") {
    return std::unique_ptr<Device>(SimDevice::create(schedule));
  }
  if (wanted == "cuda") {
    Result<const Plugin *> plugin = loadPlugin("cuda");
    return plugin ? (*plugin)->createDevice() : plugin.error();
  }
#ifdef VDNN_HAS_CPU
  if (wanted == "cpu") {
    return createCpuDevice(threads);
  }
#else
  static_cast<void>(threads);
#endif
  std::string expected;
  for (const std::string &have : deviceKinds()) {
    expected += (expected.empty() ? "" : " or ") + have;
  }
  return Error{"this build has no device '" + wanted + "', expected " +
               expected};
}

std::string weightsBeside(const std::string &plan) {
  namespace fs = std::filesystem;
  std::error_code code;
  fs::path beside = fs::path(plan).replace_extension(".safetensors");
  return fs::exists(beside, code) ? beside.string() : "";
}

} // namespace vdnn::rt
