//===- Safetensors.h - weights and checkpoints ----------------------------===//

#ifndef VDNN_RUNTIME_EXEC_FILES_SAFETENSORS_H
#define VDNN_RUNTIME_EXEC_FILES_SAFETENSORS_H

#include "runtime/exec/files/HostTensor.h"

#include <map>

namespace vdnn::rt {

/// A `.safetensors` file: tensors by name, and its `__metadata__`. Copies share
/// the mapping.
class Safetensors {
public:
  static Result<Safetensors> read(const std::string &path);

  /// Reads from memory; `owner` keeps `bytes` alive. `name` is for messages.
  static Result<Safetensors> parse(std::span<const std::byte> bytes,
                                   const std::string &name,
                                   const std::shared_ptr<const void> &owner);

  /// Null where there is no such tensor.
  const HostTensor *find(const std::string &name) const;

  const std::map<std::string, HostTensor> &tensors() const { return tensors_; }
  const std::map<std::string, std::string> &metadata() const {
    return metadata_;
  }

  /// Tensors of element types that this runtime does not have, with the type's
  /// name.
  const std::map<std::string, std::string> &unsupported() const {
    return unsupported_;
  }

  /// What messages call it: the path.
  const std::string &name() const { return name_; }

private:
  std::map<std::string, HostTensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, std::string> unsupported_;
  std::string name_;
};

/// Writes the file atomically. The same tensors and metadata give the same
/// bytes.
Status writeSafetensors(const std::string &path,
                        std::span<const HostTensor> tensors,
                        const std::map<std::string, std::string> &metadata);

} // namespace vdnn::rt

#endif
