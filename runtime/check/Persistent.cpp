//===- Persistent.cpp - P9: what is there when a step begins and when it ends ----------------------------------===//

#include "runtime/check/Rules.h"

namespace vdnn::rt::check_detail {

using namespace schedule;

static bool sameRange(const BufferT &a, const BufferT &b) {
  return a.arena == b.arena && a.offset == b.offset && a.bytes == b.bytes;
}

/// An entry or exit holds the tensor that names it.
static void checkHolds(Context &context, uint32_t id, int32_t buffer, const char *which) {
  if (buffer >= 0 && context.buffer(buffer).tensor != static_cast<int32_t>(id)) {
    context.report("P9", std::string("the ") + which + " of " + context.describeTensor(id) + " is " +
                             context.describeBuffer(buffer) + ", which does not hold it");
  }
}

static void checkKept(Context &context, uint32_t id) {
  const TensorT &t = *context.schedule.tensors[id];
  if (t.entry < 0 || t.exit < 0) {
    context.report("P9", "persistent " + context.describeTensor(id) + " has no " + (t.entry < 0 ? "entry" : "exit"));
    return;
  }
  if (!sameRange(context.buffer(t.entry), context.buffer(t.exit))) {
    context.report("P9", "persistent " + context.describeTensor(id) + " begins a step in " +
                             context.describeBuffer(t.entry) + " and ends it in " + context.describeBuffer(t.exit) +
                             ", expected the same range");
  }
  if (t.exit != t.entry && context.uses[t.exit].writes.empty()) {
    context.report("P9", "no command writes " + context.describeBuffer(t.exit) + ", the exit of persistent " +
                             context.describeTensor(id));
  }
}

/// Inputs and outputs are exchanged with the host in host memory.
static void checkExchanged(Context &context, uint32_t id, int32_t buffer, const char *what, const char *which) {
  if (buffer < 0) {
    context.report("P9", std::string(what) + " " + context.describeTensor(id) + " has no " + which);
  } else if (context.buffer(buffer).arena != Arena::Host) {
    context.report("P9", std::string("the ") + which + " of " + what + " " + context.describeTensor(id) + " is " +
                             context.describeBuffer(buffer) + ", expected a host buffer");
  }
}

static void checkTensor(Context &context, uint32_t id) {
  const TensorT &t = *context.schedule.tensors[id];
  checkHolds(context, id, t.entry, "entry");
  checkHolds(context, id, t.exit, "exit");
  if (context.isPersistent(id)) {
    checkKept(context, id);
    return;
  }
  if (t.role == Role::Input) {
    checkExchanged(context, id, t.entry, "input", "entry");
  } else if (t.entry >= 0) {
    context.report("P9", context.describeTensor(id) + " has an entry, expected one only of inputs, parameters and states");
  }
  if (t.role == Role::Output) {
    checkExchanged(context, id, t.exit, "output", "exit");
  }
  if (t.exit >= 0 && context.uses[t.exit].writes.empty()) {
    context.report("P9", "no command writes " + context.describeBuffer(t.exit) + ", the exit of " +
                             context.describeTensor(id));
  }
  if (t.gradient_of >= 0 && context.schedule.tensors[t.gradient_of]->role != Role::Parameter) {
    context.report("P9", context.describeTensor(id) + " is the gradient of " + context.describeTensor(t.gradient_of) +
                             ", expected a parameter");
  }
}

void checkPersistent(Context &context) {
  for (uint32_t id = 0; id < context.schedule.tensors.size(); ++id) {
    checkTensor(context, id);
  }
}

} // namespace vdnn::rt::check_detail
