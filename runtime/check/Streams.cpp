//===- Streams.cpp - P6: roles of streams ---------------------------------===//

#include "runtime/check/Rules.h"

namespace vdnn::rt::check_detail {

using namespace schedule;

static const char *kindName(StreamKind kind) {
  switch (kind) {
  case StreamKind::Compute:
    return "compute";
  case StreamKind::DeviceToHost:
    return "device-to-host";
  case StreamKind::HostToDevice:
    return "host-to-device";
  }
  return "";
}

static void checkLaunch(Context &context, CommandId id) {
  const CommandT &c = context.command(id);
  if (context.stream(id).kind != StreamKind::Compute) {
    context.report("P6", context.describeCommand(id) + " is a kernel on a " +
                             kindName(context.stream(id).kind) +
                             " stream, expected a compute stream");
  }
  auto checkOnDevice = [&](BufferId buffer) {
    if (context.buffer(buffer).arena != Arena::Device) {
      context.report("P6", context.describeCommand(id) + " takes " +
                               context.describeBuffer(buffer) +
                               ", expected a buffer on the device");
    }
  };
  for (const Operand &operand : c.reads) {
    checkOnDevice(operand.buffer());
  }
  for (const Operand &operand : c.writes) {
    checkOnDevice(operand.buffer());
  }
}

static void checkCopy(Context &context, CommandId id) {
  const CommandT &c = context.command(id);
  StreamKind kind = context.stream(id).kind;
  BufferId source = c.reads[0].buffer();
  BufferId target = c.writes[0].buffer();
  if (kind == StreamKind::Compute) {
    context.report(
        "P6", context.describeCommand(id) +
                  " is a copy on a compute stream, expected a copy stream");
    return;
  }
  Arena from = kind == StreamKind::DeviceToHost ? Arena::Device : Arena::Host;
  if (context.buffer(source).arena != from ||
      context.buffer(target).arena == from) {
    context.report("P6", context.describeCommand(id) + " copies from " +
                             context.describeBuffer(source) + " to " +
                             context.describeBuffer(target) + " on a " +
                             kindName(kind) + " stream");
  }
}

void checkStreams(Context &context) {
  const ScheduleT &s = context.schedule;
  for (CommandId id = 0; id < s.commands.size(); ++id) {
    if (context.command(id).kind == CommandKind::Launch) {
      checkLaunch(context, id);
    } else if (context.command(id).kind == CommandKind::Copy) {
      checkCopy(context, id);
    }
  }
}

} // namespace vdnn::rt::check_detail
