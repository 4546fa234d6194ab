//===- Kernel.cpp - from a request to a kernel ---------------------------===//

#include "runtime/backend/cpu/Kernel.h"

#include <algorithm>

namespace vdnn::rt::cpu {

/// The shared checks know bf16; here pointwise programs compute on it, and
/// kernels that only move elements take every type.
static Status refuseBF16(const Request &request, const TableEntry &entry) {
  if (entry.anyElement) {
    return {};
  }
  for (auto types : {request.types.reads, request.types.writes}) {
    for (const schedule::TypeT *type : types) {
      if (type->element == schedule::ElementType::BF16) {
        return Error{"the cpu backend computes it in f32 alone, found a tensor "
                     "of 'BF16'; compile the model in f32, or for cuda"};
      }
    }
  }
  return {};
}

Result<Kernel> createKernel(const Request &request) {
  const schedule::KernelT &kernel = request.kernel;
  for (const TableEntry &entry : kernelTable()) {
    if (kernel.kind != entry.kind) {
      continue;
    }
    auto isNamed = [&](const char *name) { return kernel.algorithm == name; };
    if (!kernel.algorithm.empty() &&
        std::none_of(entry.algorithms.begin(), entry.algorithms.end(),
                     isNamed)) {
      std::string known = "''";
      for (const char *name : entry.algorithms) {
        known += std::string(", '") + name + "'";
      }
      return Error{"kernel '" + kernel.kind + "': unknown algorithm '" +
                   kernel.algorithm + "', expected one of " + known};
    }
    Status elements = refuseBF16(request, entry);
    Result<Kernel> result =
        elements ? entry.factory(request) : Result<Kernel>(elements.error());
    if (!result) {
      return Error{"kernel '" + kernel.kind + "': " + result.message()};
    }
    return result;
  }
  return Error{"unknown kernel '" + kernel.kind +
               "'; the cpu backend's kernels are listed in docs/kernels.md"};
}

} // namespace vdnn::rt::cpu
