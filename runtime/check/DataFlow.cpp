//===- DataFlow.cpp - P4, P7: every read sees the write it names ----------===//
//
// A buffer has one value a step. Here: that it has one writer, and that every
// read comes after it. That nothing else is written over it in between is P3,
// since whatever is written there is another buffer.
//
//===----------------------------------------------------------------------===//

#include "runtime/check/Rules.h"

#include <unordered_set>

namespace vdnn::rt::check_detail {

using namespace schedule;

static bool isPrefetch(const Context &context, CommandId id) {
  return context.command(id).kind == CommandKind::Copy &&
         context.stream(id).kind == StreamKind::HostToDevice;
}

static bool isOffload(const Context &context, CommandId id) {
  return context.command(id).kind == CommandKind::Copy &&
         context.stream(id).kind == StreamKind::DeviceToHost;
}

static void checkWriters(Context &context, BufferId id) {
  const Uses &uses = context.uses[id];
  if (context.places[id].entryOf != kNone) {
    if (!uses.writes.empty()) {
      context.report("P4",
                     context.describeCommand(uses.writes[0]) + " writes " +
                         context.describeBuffer(id) + ", the entry of " +
                         context.describeTensor(context.places[id].entryOf) +
                         ": a new value needs a buffer of its own");
    }
    return;
  }
  // What the host fills has a value too; P9 says who may read it.
  if (context.places[id].stagingOf != kNone) {
    return;
  }
  if (uses.writes.empty() && !uses.reads.empty()) {
    context.report("P4", context.describeCommand(uses.reads[0]) + " reads " +
                             context.describeBuffer(id) +
                             ", which no command writes and which is no entry");
  }
  if (uses.writes.size() > 1) {
    context.report("P4", context.describeCommand(uses.writes[0]) + " and " +
                             context.describeCommand(uses.writes[1]) +
                             " both write " + context.describeBuffer(id) +
                             ", expected one writer a step");
  }
}

/// Reads of an entry see what the step before left in the exit.
static void checkEntryReads(Context &context, const HappensBefore &order,
                            BufferId id) {
  uint32_t tensor = context.places[id].entryOf;
  int32_t exit = context.schedule.tensors[tensor]->exit;
  if (!context.isCarried(tensor) || exit < 0 ||
      static_cast<BufferId>(exit) == id) {
    return;
  }
  CommandId writer = context.writer(exit);
  if (writer == kNone) {
    return;
  }
  for (CommandId reader : context.uses[id].reads) {
    if (!order.before(writer, Step::This, reader, Step::Next)) {
      context.report(
          "P4", context.describeCommand(reader) + " reads " +
                    context.describeBuffer(id) +
                    " in the next step, and nothing orders it after " +
                    context.describeCommand(writer) + ", which writes it as " +
                    context.describeBuffer(exit));
    }
  }
}

/// Writes of one command to one buffer: the last would win, and which is last
/// is the kernel's affair.
static void checkWritesOnce(Context &context, CommandId id) {
  const CommandT &c = context.command(id);
  std::unordered_set<BufferId> written;
  for (const Operand &operand : c.writes) {
    if (!written.insert(operand.buffer()).second) {
      context.report("P4", context.describeCommand(id) + " writes " +
                               context.describeBuffer(operand.buffer()) +
                               " twice, expected a buffer for each result");
    }
  }
}

static void checkReads(Context &context, const HappensBefore &order,
                       BufferId id) {
  CommandId writer = context.writer(id);
  if (writer == kNone) {
    return;
  }
  for (CommandId reader : context.uses[id].reads) {
    if (order.before(writer, Step::This, reader, Step::This)) {
      continue;
    }
    const char *invariant = isPrefetch(context, reader) ? "P7" : "P4";
    context.report(invariant, context.describeCommand(reader) + " reads " +
                                  context.describeBuffer(id) +
                                  ", and nothing orders it after " +
                                  context.describeCommand(writer) +
                                  ", which writes it");
  }
}

static void checkCopy(Context &context, CommandId id) {
  const CommandT &c = context.command(id);
  BufferId source = c.reads[0].buffer();
  BufferId target = c.writes[0].buffer();
  const BufferT &from = context.buffer(source);
  const BufferT &to = context.buffer(target);
  if (from.tensor != to.tensor || from.bytes != to.bytes) {
    context.report("P7", context.describeCommand(id) + " copies " +
                             context.describeBuffer(source) + " to " +
                             context.describeBuffer(target) +
                             ", expected two buffers of one tensor");
  }
  const TypeT &read = *context.schedule.types[c.reads[0].type()];
  const TypeT &written = *context.schedule.types[c.writes[0].type()];
  if (read.element != written.element || read.shape != written.shape ||
      read.layout != written.layout) {
    context.report("P7", context.describeCommand(id) + " reads " +
                             context.describeBuffer(source) + " and writes " +
                             context.describeBuffer(target) +
                             " as different types, a copy keeps the type");
  }
  CommandId writer = context.writer(source);
  if (isPrefetch(context, id) && writer != kNone &&
      !isOffload(context, writer)) {
    context.report("P7", context.describeCommand(id) + " reads " +
                             context.describeBuffer(source) + ", which " +
                             context.describeCommand(writer) +
                             " writes, expected an offload of the same tensor");
  }
}

void checkDataFlow(Context &context, const HappensBefore &order) {
  for (BufferId id = 0; id < context.uses.size(); ++id) {
    checkWriters(context, id);
    if (context.places[id].entryOf != kNone) {
      checkEntryReads(context, order, id);
    } else {
      checkReads(context, order, id);
    }
  }
  for (CommandId id = 0; id < context.schedule.commands.size(); ++id) {
    checkWritesOnce(context, id);
    if (context.command(id).kind == CommandKind::Copy) {
      checkCopy(context, id);
    }
  }
}

} // namespace vdnn::rt::check_detail
