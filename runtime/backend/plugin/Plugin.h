//===- Plugin.h - backends that are loaded at run time --------------------===//
//
// A backend whose libraries are not on every machine is a shared library of its
// own, beside the programs (`../lib/libvdnn_<kind>.so`). The same programs run
// without it. Both sides come from one build: C++ types cross.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_PLUGIN_PLUGIN_H
#define VDNN_RUNTIME_BACKEND_PLUGIN_PLUGIN_H

#include "runtime/exec/Device.h"

#include <memory>
#include <string>
#include <vector>

namespace vdnn::rt {

/// One way to run a kernel.
struct KernelCandidate {
  std::string algorithm;
  /// At least what `Device::prepare` will ask for: more where only the device
  /// itself can tell.
  uint64_t workspaceBytes = 0;
  /// It multiplies f32 numbers with fewer bits than they have (tf32).
  bool reducedPrecision = false;
  /// It sums in an order that differs from run to run, by atomic operations:
  /// so do the last bits of its results.
  bool nondeterministic = false;
  /// Code of the backend itself is part of it: how fast it is changes with the
  /// backend's build, not with the versions of libraries alone.
  bool ownCode = false;
};

/// What a compiler asks of a backend, on machines without its device too.
/// Not thread-safe.
class KernelQuery {
public:
  virtual ~KernelQuery() = default;

  /// All ways to run a kernel, as the library ranks them, the one it thinks
  /// fastest first; its `algorithm` is ignored. Nondeterministic ones only of a
  /// kernel that is marked so. At least one, or an error that says why the
  /// kernel cannot run.
  virtual Result<std::vector<KernelCandidate>>
  candidates(const schedule::KernelT &kernel, const LaunchTypes &types) = 0;

  /// That of the device with these properties.
  virtual std::string fingerprint() const = 0;
};

class Plugin {
public:
  virtual ~Plugin() = default;

  /// The first device of this machine.
  virtual Result<std::unique_ptr<Device>> createDevice() const = 0;

  /// Questions about a device that need not be here. `properties`: what
  /// `deviceProperties` gave on the machine that has it.
  virtual Result<std::unique_ptr<KernelQuery>>
  createQuery(const std::string &properties) const = 0;

  /// The properties of the first device of this machine that the choice of
  /// kernels depends on, as text.
  virtual Result<std::string> deviceProperties() const = 0;

  /// Names the backend's own code: other code, another name.
  virtual std::string build() const = 0;
};

/// The backend of that kind ("cuda"); it stays loaded. An error says what is
/// missing: the library itself or one that it needs. VDNN_PLUGIN_PATH names
/// another folder to look in.
Result<const Plugin *> loadPlugin(const std::string &kind);

/// What a plugin's library exports under the name `vdnnPlugin`.
using PluginEntry = const Plugin *(*)();

} // namespace vdnn::rt

#endif
