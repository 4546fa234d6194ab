//===- Kernel.cpp - from a request to a kernel ---------------------------===//

#include "runtime/backend/cpu/Kernel.h"

#include <algorithm>

namespace vdnn::rt::cpu {

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
    Result<Kernel> result = entry.factory(request);
    if (!result) {
      return Error{"kernel '" + kernel.kind + "': " + result.message()};
    }
    return result;
  }
  return Error{"unknown kernel '" + kernel.kind +
               "'; the cpu backend's kernels are listed in docs/kernels.md"};
}

} // namespace vdnn::rt::cpu
