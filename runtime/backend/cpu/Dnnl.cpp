//===- Dnnl.cpp - oneDNN primitives over planned memory -------------------===//

#include "runtime/backend/cpu/Dnnl.h"

#include <algorithm>

namespace vdnn::rt::cpu {

const dnnl::engine &dnnlEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::primitive_attr dnnlAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

static const char *isaName(dnnl::cpu_isa isa) {
  switch (isa) {
  case dnnl::cpu_isa::sse41:
    return "sse41";
  case dnnl::cpu_isa::avx:
    return "avx";
  case dnnl::cpu_isa::avx2:
    return "avx2";
  case dnnl::cpu_isa::avx2_vnni:
    return "avx2_vnni";
  case dnnl::cpu_isa::avx512_mic:
    return "avx512_mic";
  case dnnl::cpu_isa::avx512_mic_4ops:
    return "avx512_mic_4ops";
  case dnnl::cpu_isa::avx512_core:
    return "avx512_core";
  case dnnl::cpu_isa::avx512_core_vnni:
    return "avx512_core_vnni";
  case dnnl::cpu_isa::avx512_core_bf16:
    return "avx512_core_bf16";
  case dnnl::cpu_isa::avx512_core_amx:
    return "avx512_core_amx";
  default:
    return "generic";
  }
}

std::string dnnlFingerprint() {
  const dnnl_version_t *version = dnnl_version();
  return "onednn " + std::to_string(version->major) + "." +
         std::to_string(version->minor) + "." + std::to_string(version->patch) +
         "; isa " + isaName(dnnl::get_effective_cpu_isa());
}

Status catchDnnl(const std::function<Status()> &body) {
  try {
    return body();
  } catch (const dnnl::error &error) {
    return Error{std::string("oneDNN: ") + error.what()};
  }
}

dnnl::memory::desc toDnnl(const schedule::TypeT &type) {
  return dnnl::memory::desc(type.shape, dnnl::memory::data_type::f32,
                            memoryStrides(type));
}

Place DnnlProgram::convert(const dnnl::memory::desc &from, Place source,
                           const dnnl::memory::desc &to) {
  if (from == to) {
    return source;
  }
  Place destination = reserve(to);
  convertInto(from, source, to, destination);
  return destination;
}

void DnnlProgram::convertInto(const dnnl::memory::desc &from, Place source,
                              const dnnl::memory::desc &to, Place destination) {
  dnnl::reorder::primitive_desc desc(dnnlEngine(), from, dnnlEngine(), to,
                                     dnnlAttributes());
  add(desc, {{DNNL_ARG_FROM, from, source}, {DNNL_ARG_TO, to, destination}});
}

void DnnlProgram::append(dnnl::memory::desc scratch,
                         std::function<dnnl::primitive()> make,
                         std::vector<Argument> arguments) {
  if (scratch.get_size() > 0) {
    scratchBytes_ = std::max<uint64_t>(scratchBytes_, scratch.get_size());
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratch, {Place::Workspace, 0}});
  }
  steps_.push_back({std::move(make), std::move(arguments), {}, {}, {}});
}

Kernel DnnlProgram::finish(std::shared_ptr<DnnlProgram> program) {
  if (program->scratchBytes_ > 0) {
    program->scratchOffset_ = program->workspace_.add(program->scratchBytes_);
  }
  Kernel kernel;
  kernel.workspaceBytes = program->workspace_.bytes();
  kernel.build = [program] { program->build(); };
  kernel.run = [program = std::move(program)](const Operands &operands) {
    return program->run(operands);
  };
  return kernel;
}

void DnnlProgram::build() {
  stream_ = dnnl::stream(dnnlEngine());
  for (Step &step : steps_) {
    step.primitive = step.make();
    for (const Argument &argument : step.arguments) {
      step.memories.push_back(
          dnnl::memory(argument.desc, dnnlEngine(), DNNL_MEMORY_NONE));
      step.bound.push_back({argument.name, step.memories.back().get()});
    }
  }
}

Status DnnlProgram::run(const Operands &operands) {
  for (Step &step : steps_) {
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const Place &place = step.arguments[i].place;
      std::byte *address =
          place.where == Place::Read    ? operands.reads[place.index]
          : place.where == Place::Write ? operands.writes[place.index]
                                        : operands.workspace + place.index;
      if (step.arguments[i].name == DNNL_ARG_SCRATCHPAD) {
        address = operands.workspace + scratchOffset_;
      }
      step.memories[i].set_data_handle(address);
    }
    // The C call: the C++ one would build a map for every execution.
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(step.primitive.get(), stream_.get(),
                               static_cast<int>(step.bound.size()),
                               step.bound.data()),
        "could not execute a primitive");
  }
  stream_.wait();
  return {};
}

} // namespace vdnn::rt::cpu
