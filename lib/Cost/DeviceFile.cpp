//===- DeviceFile.cpp - reading device files ------------------------------===//

#include "DeviceFile.h"

#include "runtime/support/MappedFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/xxhash.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

using namespace vdnn;
using nlohmann::json;
using rt::Error;
using rt::Result;
using rt::Status;

namespace {

/// One object of the file. Every accessor notes its key as known, so that
/// `finish` can report the others; the first error stays.
class Reader {
public:
  Reader(const json &object, std::string path, Status &status)
      : object(object), path(std::move(path)), status(status) {
    if (!object.is_object()) {
      fail(llvm::Twine("'") + this->path + "' must be an object");
    }
  }

  /// A number in [low, high].
  double number(const char *key, double low, double high,
                std::optional<double> fallback = std::nullopt) {
    const json *value = find(key, fallback.has_value());
    if (!value) {
      return fallback.value_or(low);
    }
    return check(*value, name(key), low, high);
  }

  std::string text(const char *key) {
    const json *value = find(key, false);
    if (value && !value->is_string()) {
      fail(llvm::Twine("'") + name(key) + "' must be a text");
    }
    return value && value->is_string() ? value->get<std::string>() : "";
  }

  /// Absent: false.
  bool flag(const char *key) {
    const json *value = find(key, /*optional=*/true);
    if (value && !value->is_boolean()) {
      fail(llvm::Twine("'") + name(key) + "' must be true or false");
    }
    return value && value->is_boolean() && value->get<bool>();
  }

  /// An object of numbers in [low, high] under keys from `allowed`; at least
  /// one.
  std::map<std::string, double> numbers(const char *key, double low,
                                        double high,
                                        const std::set<std::string> &allowed) {
    std::map<std::string, double> result;
    const json *value = find(key, false);
    if (!value) {
      return result;
    }
    if (!value->is_object() || value->empty()) {
      fail(llvm::Twine("'") + name(key) +
           "' must be an object with at least one entry");
      return result;
    }
    for (const auto &[entry, number] : value->items()) {
      if (!allowed.contains(entry)) {
        fail(llvm::Twine("'") + name(key) + "' has no entry '" + entry +
             "', expected one of " + quoteAll(allowed));
        return result;
      }
      result[entry] = check(number, name(key) + "." + entry, low, high);
    }
    return result;
  }

  const json &objectAt(const char *key) {
    static const json empty = json::object();
    const json *value = find(key, false);
    return value ? *value : empty;
  }

  /// A list of objects, empty where the key is absent.
  const json &listAt(const char *key) {
    static const json empty = json::array();
    const json *value = find(key, true);
    if (value && !value->is_array()) {
      fail(llvm::Twine("'") + name(key) + "' must be a list");
    }
    return value && value->is_array() ? *value : empty;
  }

  /// Whether the optional key is there.
  bool has(const char *key) { return find(key, true) != nullptr; }

  std::string name(const char *key) const {
    return path.empty() ? key : path + "." + key;
  }

  /// Reports keys that nobody asked for.
  void finish() {
    if (!object.is_object()) {
      return;
    }
    for (const auto &[key, value] : object.items()) {
      if (!known.contains(key)) {
        fail(llvm::Twine("unknown key '") + name(key.c_str()) +
             "', expected one of " + quoteAll(known));
      }
    }
  }

private:
  static std::string quoteAll(const std::set<std::string> &names) {
    return (llvm::Twine("'") + llvm::join(names, "', '") + "'").str();
  }

  void fail(const llvm::Twine &message) {
    if (status.ok()) {
      status = Error{message.str()};
    }
  }

  const json *find(const char *key, bool optional) {
    known.insert(key);
    if (!object.is_object()) {
      return nullptr;
    }
    auto found = object.find(key);
    if (found == object.end()) {
      if (!optional) {
        fail(llvm::Twine("missing key '") + name(key) + "'");
      }
      return nullptr;
    }
    return &*found;
  }

  double check(const json &value, const std::string &what, double low,
               double high) {
    double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!(number >= low && number <= high)) {
      std::ostringstream message;
      message << "'" << what << "' must be a number from " << low << " to "
              << high << ", found "
              << (value.is_number()
                      ? value.dump()
                      : std::string("a value of type ") + value.type_name());
      fail(message.str());
      return low;
    }
    return number;
  }

  const json &object;
  std::string path;
  Status &status;
  std::set<std::string> known;
};

} // namespace

// Bounds that keep every time and every size within 63 bits, whatever the file
// says.
static constexpr double kMinRate = 1e6;
static constexpr double kMaxRate = 1e18;
static constexpr double kMaxBytes = 1e15;
static constexpr double kMaxNs = 1e9;
static constexpr double kMaxTimeNs = 1e15;
static constexpr double kMinShare = 1e-3;
/// More than 1: an algorithm may do fewer operations than the definition of the
/// op counts.
static constexpr double kMaxConvShare = 4;

static const std::set<std::string> kGpuAlgorithms = {
    "implicit_gemm", "implicit_precomp_gemm", "fft_tiling", "winograd",
    "winograd_nonfused"};
static const std::set<std::string> kCpuAlgorithms = {"direct", "gemm"};
static const std::set<std::string> kCudaAlgorithms = {"cudnn"};
static const std::set<std::string> kKinds = {"cpu", "cuda", "model"};

static const std::set<std::string> &getAlgorithmNames(const std::string &kind) {
  return kind == "cpu"    ? kCpuAlgorithms
         : kind == "cuda" ? kCudaAlgorithms
                          : kGpuAlgorithms;
}

/// Tells vdnn-profile alone what to measure again.
static void readBuild(Reader &reader) {
  if (reader.has("build")) {
    reader.text("build");
  }
}

/// What tells vdnn-profile alone where the times come from.
static void readOrigin(Reader &reader) {
  readBuild(reader);
  reader.number("ns_alone", 0, kMaxTimeNs, 0);
}

/// The kernels of a profile: signature to a list of ways to run it.
static Status readKernels(const json &object, DeviceFile &file) {
  if (!object.is_object()) {
    return Error{"'kernels' must be an object"};
  }
  for (const auto &[signature, ways] : object.items()) {
    if (!ways.is_array() || ways.empty()) {
      return Error{(llvm::Twine("'kernels' has '") + signature +
                    "' without a list of measurements")
                       .str()};
    }
    std::vector<MeasuredKernel> &measured = file.kernels[signature];
    for (const json &way : ways) {
      Status status;
      Reader reader(way, "kernels", status);
      MeasuredKernel kernel;
      kernel.algorithm = reader.text("algorithm");
      kernel.workspaceBytes =
          static_cast<uint64_t>(reader.number("workspace_bytes", 0, kMaxBytes));
      kernel.reducedPrecision =
          reader.number("reduced_precision", 0, 1, 0) != 0;
      kernel.nondeterministic = reader.flag("nondeterministic");
      kernel.timeNs = static_cast<int64_t>(reader.number("ns", 0, kMaxTimeNs));
      readOrigin(reader);
      reader.finish();
      if (!status.ok()) {
        return status;
      }
      measured.push_back(std::move(kernel));
    }
  }
  return {};
}

Result<DeviceFile> vdnn::parseDeviceFile(const std::string &text) {
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    return Error{"not valid JSON"};
  }
  Status status;
  Reader top(root, "", status);
  DeviceFile file;
  file.device.kind = top.text("kind");
  if (status.ok() && !kKinds.contains(file.device.kind)) {
    return Error{
        (llvm::Twine("'kind' must be 'cpu', 'cuda' or 'model', found '") +
         file.device.kind + "'")
            .str()};
  }
  file.device.name = top.text("name");
  file.device.overheadBytes =
      static_cast<uint64_t>(top.number("overhead_bytes", 0, kMaxBytes, 0));
  file.device.memoryBytes =
      static_cast<uint64_t>(top.number("memory_bytes", 0, kMaxBytes, 0));
  file.flopsPerSecond = top.numbers("flops_per_second", kMinRate, kMaxRate,
                                    {"f64", "f32", "tf32", "f16", "bf16"});
  if (status.ok() && !file.flopsPerSecond.contains("f32")) {
    return Error{"missing key 'flops_per_second.f32'"};
  }
  file.bytesPerSecond = top.number("bytes_per_second", kMinRate, kMaxRate);
  file.launchNs = static_cast<int64_t>(top.number("launch_ns", 0, kMaxNs));

  Reader efficiency(top.objectAt("efficiency"), "efficiency", status);
  file.memoryEfficiency = efficiency.number("memory", kMinShare, 1);
  file.matmulEfficiency = efficiency.number("matmul", kMinShare, 1);
  file.otherEfficiency = efficiency.number("other", kMinShare, 1);
  const std::set<std::string> &algorithms = getAlgorithmNames(file.device.kind);
  file.convForward =
      efficiency.numbers("conv", kMinShare, kMaxConvShare, algorithms);
  file.convBackwardData = efficiency.numbers("conv_backward_data", kMinShare,
                                             kMaxConvShare, algorithms);
  file.convBackwardFilter = efficiency.numbers(
      "conv_backward_filter", kMinShare, kMaxConvShare, algorithms);
  efficiency.finish();

  Reader link(top.objectAt("link"), "link", status);
  // Copies of a plan run beside its kernels: what they reach then counts, where
  // it was measured.
  auto rate = [&](const char *alone, const char *underCompute) {
    return link.number(underCompute, kMinRate, kMaxRate,
                       link.number(alone, kMinRate, kMaxRate));
  };
  file.link.deviceToHostBytesPerSecond =
      rate("device_to_host_bytes_per_second",
           "device_to_host_under_compute_bytes_per_second");
  file.link.hostToDeviceBytesPerSecond =
      rate("host_to_device_bytes_per_second",
           "host_to_device_under_compute_bytes_per_second");
  file.link.duplexFactor = link.number("duplex_factor", kMinShare, 1, 1);
  file.link.latencyNs =
      static_cast<int64_t>(link.number("latency_ns", 0, kMaxNs));
  // For people: planning takes latency and rates.
  for (const json &copy : link.listAt("copies")) {
    Reader entry(copy, "link.copies", status);
    entry.number("bytes", 0, kMaxBytes);
    entry.number("to_host_ns", 0, kMaxTimeNs);
    entry.number("to_device_ns", 0, kMaxTimeNs);
    entry.finish();
  }
  link.finish();

  if (file.device.kind == "cuda") {
    file.properties = top.objectAt("properties").dump();
  }
  if (top.has("kernels")) {
    if (Status read = readKernels(top.objectAt("kernels"), file); !read) {
      return read.error();
    }
    file.device.fingerprint = top.text("fingerprint");
    readBuild(top);
  }
  top.finish();
  if (!status.ok()) {
    return status.error();
  }
  return file;
}

Result<DeviceFile> vdnn::loadDeviceFile(const std::string &path) {
  static constexpr size_t kMaxFileBytes = 64 << 20;
  Result<rt::MappedFile> mapped = rt::MappedFile::open(path);
  if (!mapped) {
    return Error{(llvm::Twine("cannot read device file '") + path +
                  "': " + mapped.message())
                     .str()};
  }
  if (mapped->bytes().size() > kMaxFileBytes) {
    return Error{
        (llvm::Twine("device file '") + path + "' is longer than 64 MiB")
            .str()};
  }
  std::string text = mapped->text();
  Result<DeviceFile> file = parseDeviceFile(text);
  if (!file) {
    return Error{
        (llvm::Twine("device file '") + path + "': " + file.message()).str()};
  }
  if (!file->device.fingerprint.empty()) {
    return file;
  }
  // Another file is another device: plans made for the one are refused by the
  // other.
  file->device.fingerprint =
      (llvm::Twine("model ") + file->device.name + "; " +
       llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true))
          .str();
  return file;
}

namespace {
struct Builtin {
  const char *name;
  const char *text;
};
} // namespace

static const Builtin kBuiltins[] = {
#include "lib/Cost/BuiltinDevices.inc"
};

const char *vdnn::findBuiltinDevice(const std::string &name) {
  for (const Builtin &builtin : kBuiltins) {
    if (name == builtin.name) {
      return builtin.text;
    }
  }
  return nullptr;
}

std::string vdnn::listBuiltinDevices() {
  auto quote = [](const Builtin &builtin) {
    return (llvm::Twine("'") + builtin.name + "'").str();
  };
  return llvm::join(llvm::map_range(kBuiltins, quote), ", ");
}
