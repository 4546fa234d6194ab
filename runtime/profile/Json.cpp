//===- Json.cpp - a profile as a device file ------------------------------===//

#include "runtime/profile/Profile.h"
#include "runtime/profile/Step.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

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

static const char *const kToHostUnderCompute =
    "device_to_host_under_compute_bytes_per_second";
static const char *const kToDeviceUnderCompute =
    "host_to_device_under_compute_bytes_per_second";

// As in device files (lib/Cost/DeviceFile.cpp), which refuse others.
static constexpr double kMinRate = 1e6, kMaxRate = 1e18;

/// Rates beside kernels. One of 0 is not known, and leaves what is there.
static void setRates(ordered_json &root, double toHost, double toDevice) {
  for (auto [key, rate] : {std::pair(kToHostUnderCompute, toHost),
                           std::pair(kToDeviceUnderCompute, toDevice)}) {
    if (rate > 0) {
      root["link"][key] = std::clamp(rate, kMinRate, kMaxRate);
    }
  }
}

static ordered_json toJson(const std::vector<MeasuredKernel> &ways,
                           const std::string &build) {
  ordered_json list;
  for (const MeasuredKernel &way : ways) {
    list.push_back(
        {{"algorithm", way.candidate.algorithm},
         {"workspace_bytes", way.candidate.workspaceBytes},
         {"reduced_precision", way.candidate.reducedPrecision ? 1 : 0},
         {"ns", way.timeNs}});
    if (way.aloneNs != way.timeNs) {
      list.back()["ns_alone"] = way.aloneNs;
    }
    if (way.candidate.nondeterministic) {
      list.back()["nondeterministic"] = true;
    }
    if (way.build != build) {
      list.back()["build"] = way.build;
    }
  }
  return list;
}

std::string toJson(const Profile &profile, const std::string &name) {
  ordered_json root;
  root["kind"] = profile.kind;
  root["name"] = name;
  root["fingerprint"] = profile.fingerprint;
  root["build"] = profile.build;
  root["memory_bytes"] = profile.memoryBytes;
  root["overhead_bytes"] = profile.overheadBytes;
  root.update(ordered_json::parse(kEstimates));
  root["link"] = {{"device_to_host_bytes_per_second", profile.link.toHost},
                  {"host_to_device_bytes_per_second", profile.link.toDevice},
                  {"duplex_factor", profile.link.duplexFactor},
                  {"latency_ns", profile.link.latencyNs}};
  setRates(root, profile.link.toHostUnderCompute,
           profile.link.toDeviceUnderCompute);
  for (const MeasuredCopy &copy : profile.link.copies) {
    root["link"]["copies"].push_back({{"bytes", copy.bytes},
                                      {"to_host_ns", copy.toHostNs},
                                      {"to_device_ns", copy.toDeviceNs}});
  }
  root["properties"] = ordered_json::parse(profile.properties);
  ordered_json &kernels = root["kernels"];
  kernels = ordered_json::object();
  for (const auto &[signature, ways] : profile.kernels) {
    kernels[signature] = toJson(ways, profile.build);
  }
  return root.dump(1) + "\n";
}

/// Throws std::out_of_range, or json's exceptions.
static uint64_t readCount(const ordered_json &object, const char *key) {
  const ordered_json &value = object.at(key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kMaxCount) {
    throw std::out_of_range(std::string("'") + key +
                            "' must be a whole number from 0 to 1e15, found " +
                            value.dump());
  }
  return value.get<uint64_t>();
}

/// 0 where it is not there. Throws as `readCount` does.
static double readRate(const ordered_json &object, const char *key) {
  double rate = object.value(key, 0.0);
  if (object.contains(key) && !(rate >= kMinRate && rate <= kMaxRate)) {
    throw std::out_of_range(std::string("'") + key +
                            "' must be a number from 1e6 to 1e18, found " +
                            object.at(key).dump());
  }
  return rate;
}

/// Throws as `readCount` does.
static const ordered_json &readObject(const ordered_json &root,
                                      const char *key) {
  if (!root.at(key).is_object()) {
    throw std::out_of_range(std::string("'") + key + "' must be an object");
  }
  return root.at(key);
}

/// Throws as `readCount` does.
static Profile read(const ordered_json &root) {
  Profile profile;
  root.at("kind").get_to(profile.kind);
  root.at("fingerprint").get_to(profile.fingerprint);
  profile.build = root.value("build", "");
  profile.overheadBytes = readCount(root, "overhead_bytes");
  const ordered_json &link = readObject(root, "link");
  profile.link.toHostUnderCompute = readRate(link, kToHostUnderCompute);
  profile.link.toDeviceUnderCompute = readRate(link, kToDeviceUnderCompute);
  for (const auto &[signature, ways] :
       readObject(root, "kernels").get_ref<const ordered_json::object_t &>()) {
    if (!ways.is_array() || ways.empty()) {
      throw std::out_of_range("'kernels' has '" + signature +
                              "' without a list of measurements");
    }
    std::vector<MeasuredKernel> &measured = profile.kernels[signature];
    for (const ordered_json &entry : ways) {
      MeasuredKernel &way = measured.emplace_back();
      entry.at("algorithm").get_to(way.candidate.algorithm);
      way.candidate.workspaceBytes = readCount(entry, "workspace_bytes");
      way.candidate.reducedPrecision =
          entry.value("reduced_precision", 0.0) != 0;
      way.candidate.nondeterministic = entry.value("nondeterministic", false);
      way.timeNs = static_cast<int64_t>(readCount(entry, "ns"));
      way.aloneNs = entry.contains("ns_alone")
                        ? static_cast<int64_t>(readCount(entry, "ns_alone"))
                        : way.timeNs;
      way.build = entry.value("build", profile.build);
    }
    sortFastestFirst(measured);
  }
  return profile;
}

static Error notAProfile(const std::exception &error) {
  return Error{std::string("not a profile as vdnn-profile writes them: ") +
               error.what()};
}

/// All ways to run the kernels of a step.
static void slowDown(ordered_json &root, Profile &profile,
                     const MeasuredStep &step, double slowdown) {
  for (const StepLaunch &launch : step.launches) {
    std::vector<MeasuredKernel> &ways = profile.kernels[launch.signature];
    for (MeasuredKernel &way : ways) {
      if (way.aloneNs > 0) {
        way.slowDown(slowdown);
      }
    }
    root["kernels"][launch.signature] = toJson(ways, profile.build);
  }
}

Result<RefinedProfile> withStep(const std::string &text,
                                const std::string &fingerprint,
                                const MeasuredStep &step) {
  try {
    ordered_json root = ordered_json::parse(text);
    Profile profile = read(root);
    if (profile.fingerprint != fingerprint) {
      return Error{"made with '" + profile.fingerprint +
                   "', but this run is on '" + fingerprint +
                   "'; name a profile of this machine"};
    }
    RefinedProfile refined;
    setRates(root, step.toHostRate, step.toDeviceRate);
    if (Result<double> slowdown = slowdownOf(step, profile); slowdown) {
      refined.slowdown = *slowdown;
      slowDown(root, profile, step, *slowdown);
    } else {
      refined.unknown = slowdown.message();
    }
    refined.text = root.dump(1) + "\n";
    return refined;
  } catch (const std::exception &error) {
    return notAProfile(error);
  }
}

Result<Profile> parseProfile(const std::string &text) {
  try {
    return read(ordered_json::parse(text));
  } catch (const std::exception &error) {
    return notAProfile(error);
  }
}

} // namespace vdnn::rt
