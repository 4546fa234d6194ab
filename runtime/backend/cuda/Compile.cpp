//===- Compile.cpp --------------------------------------------------------===//

#include "runtime/backend/cuda/Compile.h"

#include "runtime/backend/common/Checks.h"
#include "runtime/support/AtomicFile.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <nvrtc.h>
#include <optional>
#include <vector>

namespace vdnn::rt::cuda {

namespace fs = std::filesystem;

static std::atomic<uint64_t> compilationCount = 0;

uint64_t compilations() { return compilationCount; }

//===----------------------------------------------------------------------===//
// NVRTC
//===----------------------------------------------------------------------===//

static Status toStatus(nvrtcResult code, const char *what) {
  if (code == NVRTC_SUCCESS) {
    return {};
  }
  return Error{std::string(what) + " failed: " + nvrtcGetErrorString(code)};
}

static std::vector<std::string> compileOptions(int computeCapability) {
  return {"--gpu-architecture=sm_" + std::to_string(computeCapability),
          "--std=c++17", "--fmad=false"};
}

static std::string programLog(nvrtcProgram program) {
  size_t bytes = 0;
  nvrtcGetProgramLogSize(program, &bytes);
  std::string log(bytes, '\0');
  nvrtcGetProgramLog(program, log.data());
  return log.c_str(); // It ends in a zero.
}

static Result<std::string> runNvrtc(const std::string &source,
                                    int computeCapability) {
  ++compilationCount;
  nvrtcProgram program = nullptr;
  VDNN_TRY(toStatus(nvrtcCreateProgram(&program, source.c_str(), "generated.cu",
                                       0, nullptr, nullptr),
                    "nvrtcCreateProgram"));
  std::unique_ptr<nvrtcProgram, void (*)(nvrtcProgram *)> owner(
      &program, [](nvrtcProgram *owned) { nvrtcDestroyProgram(owned); });
  std::vector<std::string> options = compileOptions(computeCapability);
  std::vector<const char *> texts;
  for (const std::string &option : options) {
    texts.push_back(option.c_str());
  }
  Status status =
      toStatus(nvrtcCompileProgram(program, static_cast<int>(texts.size()),
                                   texts.data()),
               "compiling generated code with NVRTC");
  if (!status) {
    return Error{status.message() + "\n" + programLog(program)};
  }
  size_t bytes = 0;
  VDNN_TRY(toStatus(nvrtcGetCUBINSize(program, &bytes), "nvrtcGetCUBINSize"));
  std::string cubin(bytes, '\0');
  VDNN_TRY(toStatus(nvrtcGetCUBIN(program, cubin.data()), "nvrtcGetCUBIN"));
  return cubin;
}

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

std::string cacheFolder() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = variable("VDNN_CACHE_DIR"); !folder.empty()) {
    return folder;
  }
  if (std::string folder = variable("XDG_CACHE_HOME"); !folder.empty()) {
    return folder + "/vdnn";
  }
  std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/vdnn";
}

/// FNV-1a: names files and finds damage; it need not resist an attacker.
static uint64_t hash(const std::string &text) {
  uint64_t value = 14695981039346656037ull;
  for (char c : text) {
    value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  return value;
}

/// Everything that the machine code depends on.
static std::string cacheKey(const std::string &source, int computeCapability) {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  std::string key =
      "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
  for (const std::string &option : compileOptions(computeCapability)) {
    key += " " + option;
  }
  return key + "\n" + source;
}

/// An entry: this line, the sizes of key and code and the code's hash, the key,
/// the code.
static constexpr char kMagic[] = "vdnn machine code 1\n";

static std::string makeEntry(const std::string &key, const std::string &cubin) {
  const uint64_t numbers[] = {key.size(), cubin.size(), hash(cubin)};
  std::string entry = kMagic;
  entry.append(reinterpret_cast<const char *>(numbers), sizeof(numbers));
  return entry + key + cubin;
}

/// The code of an entry, if it is whole and was made from this key.
static std::optional<std::string> readEntry(const std::string &entry,
                                            const std::string &key) {
  constexpr size_t kMagicBytes = sizeof(kMagic) - 1;
  uint64_t numbers[3];
  size_t header = kMagicBytes + sizeof(numbers);
  if (entry.size() < header || !entry.starts_with(kMagic)) {
    return std::nullopt;
  }
  std::memcpy(numbers, entry.data() + kMagicBytes, sizeof(numbers));
  if (numbers[0] != key.size() || entry.size() < header + key.size() ||
      numbers[1] != entry.size() - header - key.size() ||
      entry.compare(header, key.size(), key) != 0) {
    return std::nullopt;
  }
  std::string cubin = entry.substr(header + key.size());
  return hash(cubin) == numbers[2] ? std::optional(cubin) : std::nullopt;
}

static std::string entryPath(const std::string &key) {
  std::string folder = cacheFolder();
  if (folder.empty()) {
    return "";
  }
  char name[32];
  std::snprintf(name, sizeof(name), "%016" PRIx64 ".cubin", hash(key));
  return folder + "/" + name;
}

static std::optional<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::string> compile(const std::string &source, int computeCapability) {
  std::string key = cacheKey(source, computeCapability);
  std::string path = entryPath(key);
  if (!path.empty()) {
    if (std::optional<std::string> entry = readFile(path)) {
      if (std::optional<std::string> cubin = readEntry(*entry, key)) {
        return std::move(*cubin);
      }
    }
  }
  Result<std::string> cubin = runNvrtc(source, computeCapability);
  if (cubin && !path.empty()) {
    std::error_code ignored;
    fs::create_directories(fs::path(path).parent_path(), ignored);
    // Without the file the next process compiles again; that is all.
    static_cast<void>(writeFile(path, makeEntry(key, *cubin)).ok());
  }
  return cubin;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<LoadedCode>> LoadedCode::load(const std::string &source,
                                                     const std::string &kernel,
                                                     int computeCapability) {
  struct Entry {
    std::string cubin;
    std::weak_ptr<LoadedCode> code;
  };
  static std::mutex mutex;
  static std::map<std::string, Entry> entries;
  std::lock_guard lock(mutex);
  Entry &entry =
      entries[std::to_string(computeCapability) + kernel + "\n" + source];
  if (std::shared_ptr<LoadedCode> code = entry.code.lock()) {
    return code;
  }
  if (entry.cubin.empty()) {
    Result<std::string> cubin = compile(source, computeCapability);
    VDNN_TRY(cubin.status());
    entry.cubin = std::move(*cubin);
  }
  std::shared_ptr<LoadedCode> code(new LoadedCode());
  VDNN_CUDA(cudaLibraryLoadData(&code->library_, entry.cubin.data(), nullptr,
                                nullptr, 0, nullptr, nullptr, 0));
  VDNN_CUDA(
      cudaLibraryGetKernel(&code->kernel_, code->library_, kernel.c_str()));
  entry.code = code;
  return code;
}

LoadedCode::~LoadedCode() {
  if (library_) {
    cudaLibraryUnload(library_);
  }
}

cudaError_t LoadedCode::launch(dim3 blocks, dim3 threads, void **arguments,
                               cudaStream_t stream) const {
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel_), blocks,
                          threads, arguments, 0, stream);
}

} // namespace vdnn::rt::cuda
