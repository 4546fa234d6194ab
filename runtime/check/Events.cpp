//===- Events.cpp - P5: events --------------------------------------------===//
//
// Streams run in submission order. Where every wait comes after its record in
// that order, all edges point forward and no cycle can exist: that is the whole
// proof that a step cannot deadlock.
//
//===----------------------------------------------------------------------===//

#include "runtime/check/Rules.h"

namespace vdnn::rt::check_detail {

using namespace schedule;

void checkEvents(Context &context) {
  const ScheduleT &s = context.schedule;
  std::vector<CommandId> record(s.event_count, kNone);
  for (CommandId id = 0; id < s.commands.size(); ++id) {
    const CommandT &c = context.command(id);
    if (c.kind != CommandKind::Record) {
      continue;
    }
    if (record[c.event] != kNone) {
      context.report(
          "P5",
          context.describeCommand(id) + " records an event that " +
              context.describeCommand(record[c.event]) +
              " has recorded in the same step, expected one record a step");
    } else {
      record[c.event] = id;
    }
  }
  for (CommandId id = 0; id < s.commands.size(); ++id) {
    const CommandT &c = context.command(id);
    if (c.kind != CommandKind::Wait) {
      continue;
    }
    if (record[c.event] == kNone) {
      context.report("P5", context.describeCommand(id) +
                               " waits for an event that no command records");
    } else if (record[c.event] > id) {
      context.report("P5", context.describeCommand(id) + " comes before " +
                               context.describeCommand(record[c.event]) +
                               ", expected the record first: the wait would "
                               "see the record of the step before, or none");
    }
  }
}

} // namespace vdnn::rt::check_detail
