//===- Dnnl.h - oneDNN primitives over planned memory ---------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_DNNL_H
#define VDNN_RUNTIME_BACKEND_CPU_DNNL_H

#include "runtime/backend/cpu/Kernel.h"

#include "oneapi/dnnl/dnnl.hpp"

#include <memory>

namespace vdnn::rt::cpu {

/// The one CPU engine.
const dnnl::engine &dnnlEngine();

/// Attributes of every primitive: scratch comes from the workspace.
dnnl::primitive_attr dnnlAttributes();

/// "onednn 2.6.3; isa avx512_core_bf16".
std::string dnnlFingerprint();

/// Turns oneDNN's exceptions into an error.
Status catchDnnl(const std::function<Status()> &body);

/// A dense f32 tensor in the type's layout. Ranks 1 to 5.
dnnl::memory::desc toDnnl(const schedule::TypeT &type);

/// Where a primitive's argument lies.
struct Place {
  enum Where { Read, Write, Workspace } where;
  uint64_t
      index; ///< position among reads or writes, or offset in the workspace
};

/// A sequence of primitives. Descriptors are made at once, primitives (with
/// their generated code) in `build`.
class DnnlProgram {
public:
  struct Argument {
    int name;
    dnnl::memory::desc desc;
    Place place;
  };

  /// Room in the workspace for a tensor of oneDNN's own layout.
  Place reserve(const dnnl::memory::desc &desc) {
    return {Place::Workspace, workspace_.add(desc.get_size())};
  }

  /// Appends a primitive. All primitives share one scratch, since they run one
  /// after the other.
  template <typename PrimitiveDesc>
  void add(const PrimitiveDesc &desc, std::vector<Argument> arguments) {
    append(
        desc.scratchpad_desc(), [desc] { return dnnl::primitive(desc.get()); },
        std::move(arguments));
  }

  /// Appends a copy into another layout, or nothing if both are the same;
  /// returns where the copy (or the original) lies.
  Place convert(const dnnl::memory::desc &from, Place source,
                const dnnl::memory::desc &to);
  void convertInto(const dnnl::memory::desc &from, Place source,
                   const dnnl::memory::desc &to, Place destination);

  /// Closes the program and makes a kernel of it.
  static Kernel finish(std::shared_ptr<DnnlProgram> program);

private:
  struct Step {
    std::function<dnnl::primitive()> make;
    std::vector<Argument> arguments;
    dnnl::primitive primitive;
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> bound;
  };

  void append(dnnl::memory::desc scratch, std::function<dnnl::primitive()> make,
              std::vector<Argument> arguments);
  void build();
  Status run(const Operands &operands);

  WorkspacePlan workspace_;
  uint64_t scratchBytes_ = 0;
  uint64_t scratchOffset_ = 0;
  std::vector<Step> steps_;
  dnnl::stream stream_;
};

} // namespace vdnn::rt::cpu

#endif
