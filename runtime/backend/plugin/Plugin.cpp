//===- Plugin.cpp ---------------------------------------------------------===//

#include "runtime/backend/plugin/Plugin.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>

namespace vdnn::rt {

namespace fs = std::filesystem;

static fs::path findLibrary(const std::string &kind) {
  std::string name = "libvdnn_" + kind + ".so";
  if (const char *folder = std::getenv("VDNN_PLUGIN_PATH")) {
    return fs::path(folder) / name;
  }
  std::error_code code;
  fs::path program = fs::read_symlink("/proc/self/exe", code);
  return program.parent_path().parent_path() / "lib" / name;
}

static Result<const Plugin *> load(const std::string &kind) {
  fs::path path = findLibrary(kind);
  std::error_code code;
  if (!fs::exists(path, code)) {
    return Error{"there is no '" + kind + "' backend: '" + path.string() +
                 "' does not exist; build on a machine with its toolkit, or "
                 "set VDNN_PLUGIN_PATH to the folder that holds it"};
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return Error{"cannot load the '" + kind + "' backend: " + dlerror() +
                 "; install that library, or add its folder to "
                 "LD_LIBRARY_PATH"};
  }
  auto entry = reinterpret_cast<PluginEntry>(dlsym(library, "vdnnPlugin"));
  if (!entry) {
    return Error{"'" + path.string() +
                 "' is no backend of this program: " + dlerror()};
  }
  return entry();
}

Result<const Plugin *> loadPlugin(const std::string &kind) {
  static std::mutex mutex;
  static std::map<std::string, Result<const Plugin *>> loaded;
  std::lock_guard lock(mutex);
  auto found = loaded.find(kind);
  if (found == loaded.end()) {
    found = loaded.emplace(kind, load(kind)).first;
  }
  return found->second;
}

} // namespace vdnn::rt
