//===- Persistent.cpp - P9: what is there when a step begins and when it ends,
// P4: who makes a tensor -----------===//

#include "runtime/check/Rules.h"

namespace vdnn::rt::check_detail {

using namespace schedule;

static bool sameRange(const BufferT &a, const BufferT &b) {
  return a.arena == b.arena && a.offset == b.offset && a.bytes == b.bytes;
}

/// An entry or exit holds the tensor that names it.
static void checkHolds(Context &context, uint32_t id, int32_t buffer,
                       const char *which) {
  if (buffer >= 0 &&
      context.buffer(buffer).tensor != static_cast<int32_t>(id)) {
    context.report("P9", std::string("the ") + which + " of " +
                             context.describeTensor(id) + " is " +
                             context.describeBuffer(buffer) +
                             ", which does not hold it");
  }
}

static void checkKept(Context &context, uint32_t id) {
  const TensorT &t = *context.schedule.tensors[id];
  if (t.entry < 0 || t.exit < 0) {
    context.report("P9", "persistent " + context.describeTensor(id) +
                             " has no " + (t.entry < 0 ? "entry" : "exit"));
    return;
  }
  if (!sameRange(context.buffer(t.entry), context.buffer(t.exit))) {
    context.report("P9",
                   "persistent " + context.describeTensor(id) +
                       " begins a step in " + context.describeBuffer(t.entry) +
                       " and ends it in " + context.describeBuffer(t.exit) +
                       ", expected the same range");
  }
  if (t.exit != t.entry && context.uses[t.exit].writes.empty()) {
    context.report("P9", "no command writes " + context.describeBuffer(t.exit) +
                             ", the exit of persistent " +
                             context.describeTensor(id));
  }
}

/// Inputs and outputs are exchanged with the host in host memory.
static void checkExchanged(Context &context, uint32_t id, int32_t buffer,
                           const char *what, const char *which) {
  if (buffer < 0) {
    context.report("P9", std::string(what) + " " + context.describeTensor(id) +
                             " has no " + which);
  } else if (context.buffer(buffer).arena != Arena::Host) {
    context.report("P9", std::string("the ") + which + " of " + what + " " +
                             context.describeTensor(id) + " is " +
                             context.describeBuffer(buffer) +
                             ", expected a host buffer");
  }
}

/// Per buffer, where its value was made: the buffer that copies lead back to,
/// which a launch writes, or no command. kNone: copies that lead in a circle,
/// none of which has a value.
static std::vector<BufferId> findOrigins(const Context &context) {
  std::vector<BufferId> origins(context.uses.size(), kNone);
  std::vector<bool> seen(context.uses.size(), false);
  std::vector<BufferId> path;
  for (BufferId first = 0; first < context.uses.size(); ++first) {
    BufferId origin = first;
    path.clear();
    while (!seen[origin]) {
      seen[origin] = true;
      path.push_back(origin);
      CommandId writer = context.writer(origin);
      if (writer == kNone ||
          context.command(writer).kind != CommandKind::Copy) {
        origins[origin] = origin;
        break;
      }
      origin = context.command(writer).reads[0].buffer();
    }
    origin = origins[origin];
    for (BufferId passed : path) {
      origins[passed] = origin;
    }
  }
  return origins;
}

static bool isMade(const Context &context, BufferId id) {
  return id != kNone && !context.uses[id].writes.empty() &&
         context.writer(id) != kNone;
}

/// What a step leaves is what its kernels have computed: no old value that
/// copies brought there.
static void checkResult(Context &context, uint32_t id,
                        const std::vector<BufferId> &origins) {
  const TensorT &t = *context.schedule.tensors[id];
  if (t.exit < 0 || t.exit == t.entry || t.role == Role::Input ||
      context.uses[t.exit].writes.empty()) {
    return;
  }
  BufferId origin = origins[t.exit];
  if (!isMade(context, origin)) {
    context.report("P9", "the exit of " + context.describeTensor(id) + ", " +
                             context.describeBuffer(t.exit) +
                             ", gets its value by copies" +
                             (origin == kNone
                                  ? std::string(" in a circle")
                                  : " from " + context.describeBuffer(origin)) +
                             ", expected one that a launch has written");
  }
}

/// One launch makes the value of a tensor; with two, copies could bring back or
/// leave the wrong one. Only a tensor that is to be computed again has more,
/// which all make the same value, to the last bit.
static void checkMakers(Context &context,
                        const std::vector<BufferId> &origins) {
  std::vector<BufferId> maker(context.schedule.tensors.size(), kNone);
  for (BufferId id = 0; id < context.uses.size(); ++id) {
    int32_t tensor = context.buffer(id).tensor;
    if (tensor < 0 || origins[id] != id || !isMade(context, id)) {
      continue;
    }
    const TensorT &t = *context.schedule.tensors[tensor];
    std::string makes = context.describeCommand(context.writer(id)) +
                        " writes " + context.describeBuffer(id);
    if (t.role == Role::Input) {
      context.report("P4", makes + ", a value of input " +
                               context.describeTensor(tensor) +
                               ", which only the host gives");
    } else if (context.isPersistent(tensor) && t.exit >= 0 &&
               origins[t.exit] != id) {
      context.report("P9",
                     makes + ", a new value of persistent " +
                         context.describeTensor(tensor) +
                         ", which is lost: " + context.describeBuffer(t.exit) +
                         ", its exit, has another");
    } else if (maker[tensor] != kNone && t.decision != Decision::Recompute) {
      context.report("P4",
                     context.describeCommand(context.writer(maker[tensor])) +
                         " writes " + context.describeBuffer(maker[tensor]) +
                         ", and " + makes + ", both values of " +
                         context.describeTensor(tensor) +
                         ", which is not to be recomputed");
    } else if (t.decision == Decision::Recompute &&
               context.isNondeterministic(context.writer(id))) {
      context.report("P4", makes + ", a value of " +
                               context.describeTensor(tensor) +
                               ", which is to be recomputed: a "
                               "nondeterministic kernel does not make the "
                               "same bits twice");
    }
    maker[tensor] = id;
  }
}

/// The one copy that writes the exit reads the staging buffer, and nothing else
/// reads either of them: both hold the next step's value.
static void checkStagingCopy(Context &context, uint32_t id) {
  const TensorT &t = *context.schedule.tensors[id];
  CommandId copy = context.writer(t.exit);
  if (copy == kNone || context.command(copy).kind != CommandKind::Copy ||
      context.command(copy).reads[0].buffer() !=
          static_cast<BufferId>(t.staging)) {
    context.report("P9", "no copy from " + context.describeBuffer(t.staging) +
                             " writes " + context.describeBuffer(t.exit) +
                             ", the exit of staged " +
                             context.describeTensor(id));
  }
  for (int32_t buffer : {t.staging, t.exit}) {
    for (CommandId reader : context.uses[buffer].reads) {
      if (reader != copy || buffer == t.exit) {
        context.report("P9", context.describeCommand(reader) + " reads " +
                                 context.describeBuffer(buffer) +
                                 ", which holds the next step's value of " +
                                 context.describeTensor(id));
      }
    }
  }
}

/// A staged input begins and ends a step in one range of the device; its next
/// value comes there from host memory.
static void checkStaged(Context &context, uint32_t id) {
  const TensorT &t = *context.schedule.tensors[id];
  checkExchanged(context, id, t.staging, "staged input", "staging buffer");
  const Uses &uses = context.uses[t.staging];
  if (!uses.writes.empty()) {
    context.report("P9", context.describeCommand(uses.writes[0]) + " writes " +
                             context.describeBuffer(t.staging) +
                             ", the staging buffer of " +
                             context.describeTensor(id) +
                             ", which only the host fills");
  }
  if (t.entry < 0 || t.exit < 0) {
    context.report("P9", "staged input " + context.describeTensor(id) +
                             " has no " + (t.entry < 0 ? "entry" : "exit"));
    return;
  }
  const BufferT &entry = context.buffer(t.entry);
  if (entry.arena != Arena::Device ||
      !sameRange(entry, context.buffer(t.exit))) {
    context.report("P9",
                   "staged input " + context.describeTensor(id) +
                       " begins a step in " + context.describeBuffer(t.entry) +
                       " and ends it in " + context.describeBuffer(t.exit) +
                       ", expected the same range on the device");
  }
  checkStagingCopy(context, id);
}

/// Files hold no converted tensor: a run that begins with one must find what
/// the run before left. So it changes when its source does, in the same launch.
static void checkConverted(Context &context, uint32_t id,
                           const std::vector<BufferId> &origins) {
  const TensorT &t = *context.schedule.tensors[id];
  if (!t.initial || t.initial->kind != InitialKind::Converted) {
    return;
  }
  auto maker = [&](const TensorT &tensor) {
    BufferId origin = tensor.exit < 0 ? kNone : origins[tensor.exit];
    return origin == kNone ? kNone : context.writer(origin);
  };
  auto source = static_cast<uint32_t>(t.initial->source);
  CommandId own = maker(t), other = maker(*context.schedule.tensors[source]);
  if (own != other) {
    auto describe = [&](CommandId command) {
      return command == kNone ? std::string("no command")
                              : context.describeCommand(command);
    };
    context.report("P9", context.describeTensor(id) + ", which follows from " +
                             context.describeTensor(source) +
                             ", gets its new value from " + describe(own) +
                             ", the other one from " + describe(other) +
                             ", expected the same launch");
  }
}

static void checkTensor(Context &context, uint32_t id) {
  const TensorT &t = *context.schedule.tensors[id];
  checkHolds(context, id, t.entry, "entry");
  checkHolds(context, id, t.exit, "exit");
  checkHolds(context, id, t.staging, "staging buffer");
  if (t.staging >= 0 && t.role != Role::Input) {
    context.report("P9", context.describeTensor(id) +
                             " has a staging buffer, expected one only of "
                             "inputs");
  }
  if (context.isPersistent(id)) {
    checkKept(context, id);
    return;
  }
  if (t.role == Role::Input && t.staging >= 0) {
    checkStaged(context, id);
  } else if (t.role == Role::Input) {
    checkExchanged(context, id, t.entry, "input", "entry");
  } else if (t.entry >= 0) {
    context.report("P9", context.describeTensor(id) +
                             " has an entry, expected one only of inputs, "
                             "parameters and states");
  }
  if (t.role == Role::Output) {
    checkExchanged(context, id, t.exit, "output", "exit");
  }
  if (t.exit >= 0 && context.uses[t.exit].writes.empty()) {
    context.report("P9", "no command writes " + context.describeBuffer(t.exit) +
                             ", the exit of " + context.describeTensor(id));
  }
  if (t.gradient_of >= 0 &&
      context.schedule.tensors[t.gradient_of]->role != Role::Parameter) {
    context.report("P9", context.describeTensor(id) + " is the gradient of " +
                             context.describeTensor(t.gradient_of) +
                             ", expected a parameter");
  }
}

void checkPersistent(Context &context) {
  std::vector<BufferId> origins = findOrigins(context);
  for (uint32_t id = 0; id < context.schedule.tensors.size(); ++id) {
    checkTensor(context, id);
    checkConverted(context, id, origins);
    checkResult(context, id, origins);
  }
  checkMakers(context, origins);
}

} // namespace vdnn::rt::check_detail
