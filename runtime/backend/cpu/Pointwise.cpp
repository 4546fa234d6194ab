//===- Pointwise.cpp - a scalar program over every element ----------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"
#include "runtime/backend/cpu/PointwisePlan.h"

#include <cstring>

namespace vdnn::rt::cpu::pointwise {

template <typename T>
static void gatherRun(std::byte *target, const std::byte *source,
                      int64_t stride, int64_t count) {
  T *to = reinterpret_cast<T *>(target);
  const T *from = reinterpret_cast<const T *>(source);
  if (stride == 0) {
    std::fill_n(to, count, *from);
  } else if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      to[i] = from[i * stride];
    }
  }
}

void Gather::run(std::byte *target, const std::byte *source, int64_t begin,
                 int64_t count) const {
  while (count > 0) {
    int64_t rest = begin, offset = 0;
    for (size_t d = dims.size(); d-- > 0;) {
      offset += rest % dims[d].size * dims[d].stride;
      rest /= dims[d].size;
    }
    int64_t length =
                std::min(count, dims.back().size - begin % dims.back().size),
            stride = dims.back().stride;
    const std::byte *from = source + offset * to.elementBytes;
    switch (to.elementBytes) {
    case 1:
      gatherRun<uint8_t>(target, from, stride, length);
      break;
    case 2:
      gatherRun<uint16_t>(target, from, stride, length);
      break;
    case 4:
      gatherRun<uint32_t>(target, from, stride, length);
      break;
    default:
      gatherRun<uint64_t>(target, from, stride, length);
      break;
    }
    target += length * to.elementBytes;
    begin += length;
    count -= length;
  }
}

void Plan::run(const Operands &operands, unsigned threads) const {
  parallelRanges(
      threads, (elements + block - 1) / block,
      [&](unsigned, int64_t firstBlock, int64_t lastBlock) {
        alignas(64) std::byte scratch[kScratchBytes];
        auto resolve = [&](const Location &location, int64_t begin) {
          switch (location.kind) {
          case Location::Read:
            return operands.reads[location.index] +
                   begin * location.elementBytes;
          case Location::Write:
            return operands.writes[location.index] +
                   begin * location.elementBytes;
          default:
            return scratch + location.index * block;
          }
        };
        for (const Constant &constant : constants) {
          // The type was accepted when the plan was made.
          (void)fillConstant(resolve(constant.to, 0), constant.element,
                             constant.value, block);
        }
        for (int64_t begin = firstBlock * block;
             begin < std::min(lastBlock * block, elements); begin += block) {
          int64_t count = std::min(block, elements - begin);
          for (const Gather &gather : gathers) {
            gather.run(resolve(gather.to, begin), operands.reads[gather.read],
                       begin, count);
          }
          for (const Instruction &instruction : instructions) {
            const std::byte *in[3];
            for (size_t i = 0; i < instruction.operandCount; ++i) {
              in[i] = resolve(instruction.operands[i], begin);
            }
            instruction.function(resolve(instruction.result, begin), in, count);
          }
          for (const Copy &copy : copies) {
            std::memcpy(resolve(copy.to, begin), resolve(copy.from, begin),
                        static_cast<size_t>(count * copy.to.elementBytes));
          }
        }
      });
}

} // namespace vdnn::rt::cpu::pointwise

namespace vdnn::rt::cpu {

Result<Kernel> createPointwise(const Request &request) {
  Kernel kernel;
  Result<pointwise::Plan> plan = pointwise::makePlan(request, kernel.inPlace);
  VDNN_TRY(plan.status());
  kernel.run = [plan = std::move(*plan),
                threads = request.threads](const Operands &operands) {
    plan.run(operands, threads);
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
