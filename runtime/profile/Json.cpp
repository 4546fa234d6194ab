//===- Json.cpp - a profile as a device file ------------------------------===//

#include "runtime/profile/Profile.h"

#include <nlohmann/json.hpp>

namespace vdnn::rt {

using nlohmann::ordered_json;

// Rates and shares of what the profile does not hold: kernels of other models
// are estimated with them (docs/cost-model.md).
static const char *const kEstimates = R"json({
  "flops_per_second": {"f64": 67e12, "f32": 67e12, "tf32": 495e12, "f16": 989e12, "bf16": 989e12},
  "bytes_per_second": 4.8e12,
  "launch_ns": 2500,
  "efficiency": {
    "memory": 0.85, "matmul": 0.7, "other": 0.25,
    "conv": {"cudnn": 0.6}, "conv_backward_data": {"cudnn": 0.55}, "conv_backward_filter": {"cudnn": 0.5}
  }
})json";

std::string toJson(const Profile &profile, const std::string &name) {
  ordered_json root;
  root["kind"] = profile.kind;
  root["name"] = name;
  root["fingerprint"] = profile.fingerprint;
  root["memory_bytes"] = profile.memoryBytes;
  root["overhead_bytes"] = profile.overheadBytes;
  root.update(ordered_json::parse(kEstimates));
  root["link"] = {{"device_to_host_bytes_per_second", profile.link.toHost},
                  {"host_to_device_bytes_per_second", profile.link.toDevice},
                  {"duplex_factor", profile.link.duplexFactor},
                  {"latency_ns", profile.link.latencyNs}};
  root["properties"] = ordered_json::parse(profile.properties);
  ordered_json &kernels = root["kernels"];
  kernels = ordered_json::object();
  for (const auto &[signature, ways] : profile.kernels) {
    ordered_json &list = kernels[signature];
    for (const MeasuredKernel &way : ways) {
      list.push_back(
          {{"algorithm", way.candidate.algorithm},
           {"workspace_bytes", way.candidate.workspaceBytes},
           {"reduced_precision", way.candidate.reducedPrecision ? 1 : 0},
           {"ns", way.timeNs}});
    }
  }
  return root.dump(1) + "\n";
}

} // namespace vdnn::rt
