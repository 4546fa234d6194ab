//===- Ranges.cpp - P1, P2, P10: where the bytes lie -----------------------------------------------------------===//

#include "runtime/check/Rules.h"

#include <algorithm>
#include <bit>

namespace vdnn::rt::check_detail {

using namespace schedule;

static void checkBuffer(Context &context, BufferId id) {
  const BufferT &b = context.buffer(id);
  uint64_t arena = b.arena == Arena::Device ? context.schedule.device_arena : context.schedule.host_arena;
  if (b.offset + b.bytes > arena) {
    context.reportRange(b.arena, "P1", context.describeBuffer(id) + " leaves its arena " + rangeText(0, arena));
  }
  if (b.tensor >= 0) {
    const TensorT &tensor = *context.schedule.tensors[b.tensor];
    if (b.bytes != tensor.bytes) {
      context.reportRange(b.arena, "P1",
                          context.describeBuffer(id) + " has " + std::to_string(b.bytes) + " bytes, its " +
                              context.describeTensor(b.tensor) + " has " + std::to_string(tensor.bytes));
    }
  }
  if (!std::has_single_bit(b.alignment)) {
    context.reportRange(b.arena, "P2",
                        context.describeBuffer(id) + " has alignment " + std::to_string(b.alignment) +
                            ", expected a power of two");
  } else if (b.offset % b.alignment != 0) {
    context.reportRange(b.arena, "P2",
                        context.describeBuffer(id) + " is not aligned to its " + std::to_string(b.alignment) +
                            " bytes");
  }
}

static void checkOperand(Context &context, CommandId command, const Operand &operand, bool isWrite,
                         const std::vector<uint64_t> &typeSizes) {
  const BufferT &b = context.buffer(operand.buffer());
  uint64_t size = typeSizes[operand.type()];
  if (isWrite ? size != b.bytes : size > b.bytes) {
    context.reportRange(b.arena, "P1",
                        context.describeCommand(command) + (isWrite ? " writes " : " reads ") + std::to_string(size) +
                            " bytes of " + context.describeBuffer(operand.buffer()) + ", which has " +
                            std::to_string(b.bytes));
  }
  uint64_t element = elementBytes(context.schedule.types[operand.type()]->element);
  if (b.offset % element != 0) {
    context.reportRange(b.arena, "P2",
                        context.describeCommand(command) + " takes " + context.describeBuffer(operand.buffer()) +
                            " as elements of " + std::to_string(element) + " bytes, to which it is not aligned");
  }
}

static void checkHeader(Context &context) {
  const ScheduleT &s = context.schedule;
  for (Arena arena : {Arena::Device, Arena::Host}) {
    uint64_t peak = 0;
    BufferId last = kNone;
    for (BufferId id = 0; id < s.buffers.size(); ++id) {
      const BufferT &b = context.buffer(id);
      if (b.arena == arena && b.offset + b.bytes > peak) {
        peak = b.offset + b.bytes;
        last = id;
      }
    }
    uint64_t declared = arena == Arena::Device ? s.device_arena : s.host_arena;
    if (declared != peak) {
      context.reportRange(arena, "P10",
                          std::string("the header declares a ") + arenaName(arena) + " arena of " +
                              std::to_string(declared) + " bytes, the buffers end at " + std::to_string(peak) +
                              (last == kNone ? "" : " with " + context.describeBuffer(last)));
    }
  }
  uint64_t total = 0;
  bool overflow = __builtin_add_overflow(s.device_arena, s.overhead_bytes, &total);
  if (s.budget != 0 && (overflow || total > s.budget)) {
    context.report("P10", "a device arena of " + std::to_string(s.device_arena) + " bytes and an overhead of " +
                              std::to_string(s.overhead_bytes) + " exceed the budget of " + std::to_string(s.budget));
  }
}

void checkRanges(Context &context) {
  const ScheduleT &s = context.schedule;
  for (BufferId id = 0; id < s.buffers.size(); ++id) {
    checkBuffer(context, id);
  }
  std::vector<uint64_t> typeSizes;
  typeSizes.reserve(s.types.size());
  for (const auto &type : s.types) {
    typeSizes.push_back(*typeBytes(*type));
  }
  for (CommandId id = 0; id < s.commands.size(); ++id) {
    for (const Operand &operand : context.command(id).reads) {
      checkOperand(context, id, operand, /*isWrite=*/false, typeSizes);
    }
    for (const Operand &operand : context.command(id).writes) {
      checkOperand(context, id, operand, /*isWrite=*/true, typeSizes);
    }
  }
  checkHeader(context);
}

} // namespace vdnn::rt::check_detail
