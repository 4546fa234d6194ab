//===- Validate.cpp - structural soundness of schedules -------------------===//
//
// After this, every index can be followed and every pointer is set. What the
// plan means is not looked at.
//
//===----------------------------------------------------------------------===//

#include "runtime/schedule/Schedule.h"

#include <cmath>
#include <unordered_set>

namespace vdnn::schedule {

namespace {

class Validator {
public:
  explicit Validator(const ScheduleT &schedule) : schedule_(schedule) {}

  rt::Status run() {
    if (header() && each(schedule_.types, "type", &Validator::type) &&
        each(schedule_.tensors, "tensor", &Validator::tensor) &&
        each(schedule_.buffers, "buffer", &Validator::buffer) &&
        each(schedule_.streams, "stream", &Validator::stream) &&
        each(schedule_.kernels, "kernel", &Validator::kernel)) {
      each(schedule_.commands, "command", &Validator::command);
    }
    return failed_ ? rt::Status(rt::Error{std::move(message_)}) : rt::Status();
  }

private:
  bool fail(std::string message) {
    failed_ = true;
    message_ = context_ + std::move(message);
    return false;
  }

  template <typename T>
  bool each(const std::vector<std::unique_ptr<T>> &table, const char *name,
            bool (Validator::*one)(const T &)) {
    for (size_t i = 0; i < table.size(); ++i) {
      context_ = std::string(name) + " " + std::to_string(i) + ": ";
      if (!table[i]) {
        return fail("is missing");
      }
      if (!(this->*one)(*table[i])) {
        return false;
      }
    }
    context_.clear();
    return true;
  }

  template <typename Enum>
  bool known(Enum value, Enum last, const char *name) {
    return value <= last ||
           fail(std::string(name) + " " +
                std::to_string(static_cast<int>(value)) + " does not exist");
  }

  bool index(uint64_t value, size_t size, const char *name) {
    return value < size ||
           fail(std::string(name) + " " + std::to_string(value) +
                " does not exist, there are " + std::to_string(size));
  }

  /// An index, or -1 for none.
  bool optional(int32_t value, size_t size, const char *name) {
    if (value == -1) {
      return true;
    }
    return value < -1 ? fail(std::string(name) + " " + std::to_string(value) +
                             " is neither an index nor -1")
                      : index(static_cast<uint64_t>(value), size, name);
  }

  bool header() {
    const ScheduleT &s = schedule_;
    if (s.version != kVersion) {
      return fail("version is " + std::to_string(s.version) + ", expected " +
                  std::to_string(kVersion));
    }
    if (!s.target) {
      return fail("the target device is missing");
    }
    // Every event is recorded once, so more events than commands are a damaged
    // count, and never a size to allocate.
    if (s.event_count > s.commands.size()) {
      return fail("event_count is " + std::to_string(s.event_count) +
                  ", more than the " + std::to_string(s.commands.size()) +
                  " commands");
    }
    if (s.link) {
      const LinkT &l = *s.link;
      for (double rate : {l.device_to_host_bytes_per_second,
                          l.host_to_device_bytes_per_second, l.duplex_factor}) {
        if (!std::isfinite(rate) || rate < 0) {
          return fail("a rate of the link is negative or not finite");
        }
      }
      if (l.latency_ns < 0) {
        return fail("latency_ns of the link is negative");
      }
    }
    return true;
  }

  bool type(const TypeT &t) {
    if (!known(t.element, ElementType::MAX, "element type") ||
        !known(t.layout, Layout::MAX, "layout")) {
      return false;
    }
    if (rt::Result<uint64_t> bytes = typeBytes(t); !bytes) {
      return fail(bytes.message());
    }
    if (t.layout == Layout::ChannelsLast && t.shape.size() < 3) {
      return fail("rank " + std::to_string(t.shape.size()) +
                  " cannot be channels last, expected 3 or more");
    }
    return true;
  }

  bool tensor(const TensorT &t) {
    context_ += "'" + t.name + "' ";
    if (t.name.empty()) {
      return fail("has no name");
    }
    if (!names_.insert(t.name).second) {
      return fail("has the name of an earlier tensor");
    }
    if (!t.type) {
      return fail("has no type");
    }
    if (!known(t.role, Role::MAX, "role") ||
        !known(t.decision, Decision::MAX, "decision") || !type(*t.type)) {
      return false;
    }
    uint64_t bytes = *typeBytes(*t.type);
    if (bytes != t.bytes) {
      return fail("declares " + std::to_string(t.bytes) +
                  " bytes, its shape has " + std::to_string(bytes));
    }
    if (t.initial && !initial(t)) {
      return false;
    }
    return optional(t.entry, schedule_.buffers.size(), "entry buffer") &&
           optional(t.exit, schedule_.buffers.size(), "exit buffer") &&
           optional(t.gradient_of, schedule_.tensors.size(),
                    "gradient_of tensor") &&
           optional(t.staging, schedule_.buffers.size(), "staging buffer");
  }

  bool initial(const TensorT &t) {
    const InitialT &i = *t.initial;
    if (!known(i.kind, InitialKind::MAX, "initial value") ||
        !optional(i.source, schedule_.tensors.size(), "source tensor")) {
      return false;
    }
    if (i.kind != InitialKind::Converted) {
      return i.source == -1 || fail("its initial value is not converted, but "
                                    "names a source");
    }
    if (i.source < 0) {
      return fail("is converted from no source");
    }
    // A later tensor is not yet validated.
    const auto &source = schedule_.tensors[i.source];
    if (!source || !source->type || !t.type ||
        source->type->shape != t.type->shape) {
      return fail("is converted from a tensor of another shape");
    }
    if (t.role != Role::State || t.entry < 0) {
      return fail("is converted, expected a state with an entry");
    }
    if ((source->role != Role::Parameter && source->role != Role::State) ||
        source->entry < 0) {
      return fail("is converted from '" + source->name +
                  "', expected a parameter or state with an entry");
    }
    auto isFloating = [](ElementType element) {
      return element <= ElementType::F64;
    };
    if (!isFloating(source->type->element) || !isFloating(t.type->element)) {
      return fail("is converted, expected floating-point elements");
    }
    return !source->initial ||
           source->initial->kind != InitialKind::Converted ||
           fail("is converted from '" + source->name +
                "', which is converted itself");
  }

  bool buffer(const BufferT &b) {
    uint64_t end = 0;
    if (__builtin_add_overflow(b.offset, b.bytes, &end)) {
      return fail("its range exceeds 64 bits");
    }
    return known(b.arena, Arena::MAX, "arena") &&
           optional(b.tensor, schedule_.tensors.size(), "tensor");
  }

  bool stream(const StreamT &s) {
    return known(s.kind, StreamKind::MAX, "stream kind");
  }

  bool kernel(const KernelT &k) {
    if (k.kind.empty()) {
      return fail("has no kind");
    }
    for (const auto &attribute : k.attributes) {
      if (!attribute) {
        return fail("an attribute is missing");
      }
    }
    // How many inputs the program needs for its value numbers to exist: checked
    // at each launch, where they are counted.
    uint64_t inputs = 0;
    for (size_t i = 0; i < k.program.size(); ++i) {
      if (!k.program[i]) {
        return fail("scalar op " + std::to_string(i) + " is missing");
      }
      if (!known(k.program[i]->element, ElementType::MAX, "element type")) {
        return false;
      }
      for (uint64_t value : k.program[i]->operands) {
        inputs = std::max(inputs, value + 1 > i ? value + 1 - i : 0);
      }
    }
    for (uint64_t value : k.program_results) {
      inputs = std::max(inputs, value + 1 > k.program.size()
                                    ? value + 1 - k.program.size()
                                    : 0);
    }
    programInputs_.push_back(inputs);
    return true;
  }

  bool operands(const std::vector<Operand> &list, const char *name) {
    for (const Operand &operand : list) {
      if (!index(operand.buffer(), schedule_.buffers.size(), name) ||
          !index(operand.type(), schedule_.types.size(),
                 "type of an operand")) {
        return false;
      }
    }
    return true;
  }

  bool launch(const CommandT &c) {
    if (c.kernel < 0) {
      return fail("a launch without a kernel");
    }
    if (!index(static_cast<uint64_t>(c.kernel), schedule_.kernels.size(),
               "kernel") ||
        !optional(c.workspace, schedule_.buffers.size(), "workspace")) {
      return false;
    }
    const KernelT &k = *schedule_.kernels[c.kernel];
    if (programInputs_[c.kernel] > c.reads.size()) {
      return fail("the program of kernel '" + k.kind +
                  "' uses values that do not exist with " +
                  std::to_string(c.reads.size()) + " inputs");
    }
    if (!k.program.empty() && k.program_results.size() != c.writes.size()) {
      return fail("the program of kernel '" + k.kind + "' has " +
                  std::to_string(k.program_results.size()) +
                  " results, the launch writes " +
                  std::to_string(c.writes.size()));
    }
    std::unordered_set<uint32_t> written;
    for (const InPlace &pair : c.in_place) {
      if (!index(pair.read(), c.reads.size(), "in-place read") ||
          !index(pair.write(), c.writes.size(), "in-place write")) {
        return false;
      }
      if (!written.insert(pair.write()).second) {
        return fail("two in-place pairs name write " +
                    std::to_string(pair.write()));
      }
    }
    return c.event == -1 || fail("a launch with an event");
  }

  bool command(const CommandT &c) {
    if (!known(c.kind, CommandKind::MAX, "command kind") ||
        !index(c.stream, schedule_.streams.size(), "stream") ||
        !operands(c.reads, "buffer of a read") ||
        !operands(c.writes, "buffer of a write")) {
      return false;
    }
    if (c.predicted_ns < 0) {
      return fail("predicted_ns is negative");
    }
    if (c.kind == CommandKind::Launch) {
      return launch(c);
    }
    if (c.kernel != -1 || c.workspace != -1 || !c.in_place.empty()) {
      return fail("only a launch has a kernel, a workspace or in-place pairs");
    }
    if (c.kind == CommandKind::Copy) {
      if (c.reads.size() != 1 || c.writes.size() != 1) {
        return fail("a copy has one read and one write, found " +
                    std::to_string(c.reads.size()) + " and " +
                    std::to_string(c.writes.size()));
      }
      return c.event == -1 || fail("a copy with an event");
    }
    if (!c.reads.empty() || !c.writes.empty()) {
      return fail("a record or wait with operands");
    }
    return (c.event >= 0 || fail("a record or wait without an event")) &&
           index(static_cast<uint64_t>(c.event), schedule_.event_count,
                 "event");
  }

  const ScheduleT &schedule_;
  std::unordered_set<std::string> names_;
  std::vector<uint64_t> programInputs_;
  std::string context_;
  std::string message_;
  bool failed_ = false;
};

} // namespace

rt::Status validate(const ScheduleT &schedule) {
  return Validator(schedule).run();
}

} // namespace vdnn::schedule
