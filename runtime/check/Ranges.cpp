//===- Ranges.cpp - P1, P2, P10: where the bytes lie ----------------------===//

#include "runtime/check/Rules.h"

#include <algorithm>
#include <bit>

namespace vdnn::rt::check_detail {

using namespace schedule;

/// What an arena is aligned to; an offset says nothing about more.
static constexpr uint64_t kPageBytes = 4096;

static void checkBuffer(Context &context, BufferId id) {
  const BufferT &b = context.buffer(id);
  uint64_t arena = b.arena == Arena::Device ? context.schedule.device_arena
                                            : context.schedule.host_arena;
  if (b.offset + b.bytes > arena) {
    context.reportRange(b.arena, "P1",
                        context.describeBuffer(id) + " leaves its arena " +
                            rangeText(0, arena));
  }
  if (b.tensor >= 0) {
    const TensorT &tensor = *context.schedule.tensors[b.tensor];
    if (b.bytes != tensor.bytes) {
      context.reportRange(b.arena, "P1",
                          context.describeBuffer(id) + " has " +
                              std::to_string(b.bytes) + " bytes, its " +
                              context.describeTensor(b.tensor) + " has " +
                              std::to_string(tensor.bytes));
    }
  }
  if (!std::has_single_bit(b.alignment)) {
    context.reportRange(b.arena, "P2",
                        context.describeBuffer(id) + " has alignment " +
                            std::to_string(b.alignment) +
                            ", expected a power of two");
  } else if (b.alignment > kPageBytes) {
    context.reportRange(b.arena, "P2",
                        context.describeBuffer(id) + " has alignment " +
                            std::to_string(b.alignment) +
                            ", expected at most " + std::to_string(kPageBytes) +
                            ": arenas begin at pages");
  } else if (b.offset % b.alignment != 0) {
    context.reportRange(b.arena, "P2",
                        context.describeBuffer(id) + " is not aligned to its " +
                            std::to_string(b.alignment) + " bytes");
  }
}

static void checkOperand(Context &context, CommandId command,
                         const Operand &operand, bool isWrite,
                         const std::vector<uint64_t> &typeSizes) {
  const BufferT &b = context.buffer(operand.buffer());
  uint64_t size = typeSizes[operand.type()];
  if (isWrite ? size != b.bytes : size > b.bytes) {
    context.reportRange(b.arena, "P1",
                        context.describeCommand(command) +
                            (isWrite ? " writes " : " reads ") +
                            std::to_string(size) + " bytes of " +
                            context.describeBuffer(operand.buffer()) +
                            ", which has " + std::to_string(b.bytes));
  }
  uint64_t element =
      elementBytes(context.schedule.types[operand.type()]->element);
  if (b.offset % element != 0) {
    context.reportRange(b.arena, "P2",
                        context.describeCommand(command) + " takes " +
                            context.describeBuffer(operand.buffer()) +
                            " as elements of " + std::to_string(element) +
                            " bytes, to which it is not aligned");
  }
}

/// How far the order of elements in memory is from that of their logical
/// positions: each of the batch's entries is a matrix of channels by places,
/// stored transposed. Where either is 1 (or there is nothing), there is no
/// difference.
struct Transposition {
  uint64_t channels = 1;
  uint64_t places = 1;
  bool operator==(const Transposition &) const = default;
};

static Transposition transposition(const TypeT &type) {
  if (type.layout == Layout::RowMajor ||
      std::find(type.shape.begin(), type.shape.end(), 0) != type.shape.end()) {
    return {};
  }
  Transposition result{static_cast<uint64_t>(type.shape[1]), 1};
  for (size_t i = 2; i < type.shape.size(); ++i) {
    result.places *= static_cast<uint64_t>(type.shape[i]);
  }
  return result.channels == 1 || result.places == 1 ? Transposition() : result;
}

/// A kernel finds in a buffer what the tensor's bytes mean: views are reshapes,
/// and never convert or permute.
static void checkView(Context &context, CommandId command,
                      const Operand &operand, const char *verb) {
  const BufferT &b = context.buffer(operand.buffer());
  if (b.tensor < 0) {
    return; // P8
  }
  const TypeT &tensor = *context.schedule.tensors[b.tensor]->type;
  const TypeT &view = *context.schedule.types[operand.type()];
  if (view.element != tensor.element) {
    context.report(
        "P4", context.describeCommand(command) + " " + verb + " " +
                  context.describeBuffer(operand.buffer()) +
                  " as elements of " + EnumNameElementType(view.element) +
                  ", its " + context.describeTensor(b.tensor) +
                  " has elements of " + EnumNameElementType(tensor.element));
  } else if (transposition(view) != transposition(tensor)) {
    context.report("P4", context.describeCommand(command) + " " + verb + " " +
                             context.describeBuffer(operand.buffer()) + " as " +
                             EnumNameLayout(view.layout) + ", its " +
                             context.describeTensor(b.tensor) + " is " +
                             EnumNameLayout(tensor.layout) +
                             " and has its elements in another order; only a "
                             "reorder may change it");
  }
}

/// What the summary says was moved is what the copies move. Zero: it says
/// nothing.
static void checkSummary(Context &context) {
  const ScheduleT &s = context.schedule;
  if (!s.summary) {
    return;
  }
  uint64_t offloaded = 0;
  uint64_t prefetched = 0;
  std::vector<bool> cameIn(s.tensors.size(), false);
  for (CommandId id = 0; id < s.commands.size(); ++id) {
    const CommandT &c = context.command(id);
    if (c.kind != CommandKind::Copy) {
      continue;
    }
    const BufferT &source = context.buffer(c.reads[0].buffer());
    if (source.tensor < 0) {
      continue; // P8
    }
    Role role = s.tensors[source.tensor]->role;
    // Sums that wrap are of a plan that P1 refuses.
    if (context.stream(id).kind == StreamKind::DeviceToHost) {
      offloaded += role == Role::Output ? 0 : source.bytes;
    } else {
      prefetched +=
          role == Role::Input && !cameIn[source.tensor] ? 0 : source.bytes;
      cameIn[source.tensor] = true;
    }
  }
  auto compare = [&](const char *what, uint64_t declared, uint64_t found) {
    if (declared != 0 && declared != found) {
      context.report("P10", std::string("the summary says that ") +
                                std::to_string(declared) + " bytes are " +
                                what + ", the copies move " +
                                std::to_string(found));
    }
  };
  compare("offloaded", s.summary->offloaded_bytes, offloaded);
  compare("prefetched", s.summary->prefetched_bytes, prefetched);
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
      context.reportRange(
          arena, "P10",
          std::string("the header declares a ") + arenaName(arena) +
              " arena of " + std::to_string(declared) +
              " bytes, the buffers end at " + std::to_string(peak) +
              (last == kNone ? "" : " with " + context.describeBuffer(last)));
    }
  }
  uint64_t total = 0;
  bool overflow =
      __builtin_add_overflow(s.device_arena, s.overhead_bytes, &total);
  if (s.budget != 0 && (overflow || total > s.budget)) {
    context.report("P10",
                   "a device arena of " + std::to_string(s.device_arena) +
                       " bytes and an overhead of " +
                       std::to_string(s.overhead_bytes) +
                       " exceed the budget of " + std::to_string(s.budget));
  }
  if (s.host_budget != 0 && s.host_arena > s.host_budget) {
    context.report("P12", "a host arena of " + std::to_string(s.host_arena) +
                              " bytes exceeds the host budget of " +
                              std::to_string(s.host_budget));
  }
}

static void checkDeterminism(Context &context) {
  if (context.schedule.allow_nondeterministic) {
    return;
  }
  for (CommandId id = 0; id < context.schedule.commands.size(); ++id) {
    if (context.isNondeterministic(id)) {
      context.report("P10", context.describeCommand(id) +
                                " is marked nondeterministic, which the "
                                "header does not allow; plan again with "
                                "--allow-nondeterministic");
    }
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
      checkView(context, id, operand, "reads");
    }
    for (const Operand &operand : context.command(id).writes) {
      checkOperand(context, id, operand, /*isWrite=*/true, typeSizes);
      checkView(context, id, operand, "writes");
    }
  }
  checkHeader(context);
  checkSummary(context);
  checkDeterminism(context);
}

} // namespace vdnn::rt::check_detail
