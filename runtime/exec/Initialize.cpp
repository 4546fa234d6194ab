//===- Initialize.cpp -----------------------------------------------------===//

#include "runtime/exec/Initialize.h"

#include "runtime/support/Format.h"
#include "runtime/support/Half.h"
#include "runtime/support/Philox.h"

#include <cmath>
#include <cstring>
#include <numbers>

namespace vdnn::rt {

using schedule::ElementType;
using schedule::InitialKind;

namespace {

/// The top bits of a 32-bit number as a double in (0, 1): never 0, whose
/// logarithm is infinite.
double unitOpen(uint32_t bits) { return (bits + 0.5) * 0x1p-32; }

bool isFloating(ElementType element) {
  return element == ElementType::F32 || element == ElementType::F64 ||
         element == ElementType::F16 || element == ElementType::BF16;
}

void storeDouble(std::span<std::byte> destination, size_t index,
                 ElementType element, double value) {
  auto put = [&](auto number) {
    std::memcpy(destination.data() + index * sizeof(number), &number,
                sizeof(number));
  };
  switch (element) {
  case ElementType::F32:
    return put(static_cast<float>(value));
  case ElementType::F64:
    return put(value);
  case ElementType::F16:
    return put(floatToHalf(static_cast<float>(value)));
  case ElementType::BF16:
    return put(floatToBfloat(static_cast<float>(value)));
  case ElementType::I64:
    return put(static_cast<int64_t>(value));
  case ElementType::I32:
    return put(static_cast<int32_t>(value));
  case ElementType::I16:
    return put(static_cast<int16_t>(value));
  case ElementType::I8:
    return put(static_cast<int8_t>(value));
  case ElementType::U64:
    return put(static_cast<uint64_t>(value));
  case ElementType::U32:
    return put(static_cast<uint32_t>(value));
  case ElementType::U16:
    return put(static_cast<uint16_t>(value));
  case ElementType::U8:
    return put(static_cast<uint8_t>(value));
  case ElementType::Bool:
    return put(static_cast<uint8_t>(value != 0));
  }
}

/// Whether the constant can be stored in an integer type at all.
bool fits(ElementType element, double value) {
  if (isFloating(element)) {
    return true;
  }
  int bits = static_cast<int>(schedule::elementBytes(element)) * 8;
  bool sign = element == ElementType::I64 || element == ElementType::I32 ||
              element == ElementType::I16 || element == ElementType::I8;
  double low = sign ? -std::ldexp(1.0, bits - 1) : 0;
  double high = std::ldexp(1.0, sign ? bits - 1 : bits);
  return value == std::floor(value) && value >= low && value < high;
}

} // namespace

Status fillRandom(InitialKind kind, double a, double b, uint64_t seed,
                  uint64_t stream, ElementType element,
                  std::span<std::byte> destination) {
  if (!isFloating(element)) {
    return Error{std::string("random values are floating point, expected f32, "
                             "f64, f16 or bf16, got ") +
                 elementName(element)};
  }
  size_t count = destination.size() / schedule::elementBytes(element);
  for (size_t i = 0; i < count; i += 4) {
    std::array<uint32_t, 4> bits = philox(seed, stream, i / 4);
    double values[4];
    for (int pair = 0; pair < 4; pair += 2) {
      double u = unitOpen(bits[pair]);
      double v = unitOpen(bits[pair + 1]);
      if (kind == InitialKind::Normal) { // Box and Muller
        double radius = std::sqrt(-2 * std::log(u));
        values[pair] = a + b * radius * std::cos(2 * std::numbers::pi * v);
        values[pair + 1] = a + b * radius * std::sin(2 * std::numbers::pi * v);
      } else {
        values[pair] = a + (b - a) * u;
        values[pair + 1] = a + (b - a) * v;
      }
    }
    for (size_t k = 0; k < 4 && i + k < count; ++k) {
      storeDouble(destination, i + k, element, values[k]);
    }
  }
  return {};
}

Result<HostTensor> initialValue(const schedule::TensorT &tensor,
                                uint64_t seed) {
  if (!tensor.initial) {
    return Error{"the plan does not say how '" + tensor.name +
                 "' starts, and no file holds its value: give it with "
                 "--weights FILE.safetensors"};
  }
  std::vector<std::byte> bytes(tensor.bytes);
  const schedule::InitialT &initial = *tensor.initial;
  ElementType element = tensor.type->element;
  switch (initial.kind) {
  case InitialKind::Stored:
  case InitialKind::Converted:
    return Error{"the value of '" + tensor.name + "' is not in the plan"};
  case InitialKind::Constant: {
    if (!fits(element, initial.a)) {
      return Error{format("'%s' starts at %g, which is no value of %s",
                          tensor.name.c_str(), initial.a,
                          elementName(element))};
    }
    size_t count = bytes.size() / schedule::elementBytes(element);
    for (size_t i = 0; i < count && initial.a != 0; ++i) {
      storeDouble(bytes, i, element, initial.a);
    }
    break;
  }
  case InitialKind::Normal:
  case InitialKind::Uniform:
    if (Status status = fillRandom(initial.kind, initial.a, initial.b, seed,
                                   hashName(tensor.name), element, bytes);
        !status) {
      return Error{"'" + tensor.name + "': " + status.message()};
    }
    break;
  }
  return makeHostTensor(tensor.name, tensor.type->element, tensor.type->shape,
                        std::move(bytes));
}

namespace {

/// The tensor in the first file that has it; null where none does.
Result<const HostTensor *> findStored(const schedule::TensorT &tensor,
                                      const InitialValues &values) {
  for (const Safetensors *file :
       {isConstant(tensor) ? nullptr : values.weights, values.planWeights}) {
    if (!file) {
      continue;
    }
    if (const HostTensor *found = file->find(tensor.name)) {
      if (found->shape != tensor.type->shape ||
          !convertsExactly(found->element, tensor.type->element)) {
        return Error{
            "'" + tensor.name + "' is " + formatShape(found->shape) + " of " +
            elementName(found->element) + " in '" + file->name() +
            "', the plan expects " + formatShape(tensor.type->shape) + " of " +
            elementName(tensor.type->element) + ": give weights of this model"};
      }
      return found;
    }
    if (auto found = file->unsupported().find(tensor.name);
        found != file->unsupported().end()) {
      return Error{"'" + tensor.name + "' has elements of type " +
                   found->second + " in '" + file->name() +
                   "', the plan expects " + elementName(tensor.type->element)};
    }
  }
  return nullptr;
}

Result<HostTensor> valueOf(const schedule::TensorT &tensor,
                           const InitialValues &values) {
  Result<const HostTensor *> stored = findStored(tensor, values);
  if (!stored) {
    return stored.error();
  }
  if (const HostTensor *found = *stored) {
    if (found->element == tensor.type->element) {
      return *found;
    }
    std::vector<std::byte> bytes(tensor.bytes);
    convert(found->data, found->element, bytes, tensor.type->element);
    return makeHostTensor(tensor.name, tensor.type->element, tensor.type->shape,
                          std::move(bytes));
  }
  return initialValue(tensor, values.seed);
}

/// "'a', 'b', 'c' and 4 more".
std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  return names.size() > kShown
             ? text + format(" and %zu more", names.size() - kShown)
             : text;
}

bool hasKind(const schedule::TensorT &tensor, InitialKind kind) {
  return tensor.initial && tensor.initial->kind == kind;
}

bool isRandom(const schedule::TensorT &tensor) {
  return hasKind(tensor, InitialKind::Normal) ||
         hasKind(tensor, InitialKind::Uniform);
}

/// What the optimizer keeps of a parameter.
bool isVelocity(const schedule::TensorT &tensor) {
  return tensor.role == schedule::Role::State &&
         tensor.name.ends_with(".velocity");
}

/// A file that vdnn-opt wrote holds what the model holds, and no tensor of one
/// value.
bool isFromCompiler(const Safetensors &file) {
  auto producer = file.metadata().find("producer");
  return producer != file.metadata().end() && producer->second == "vdnn-opt";
}

bool holds(const Safetensors *file, const std::string &name) {
  return file && (file->find(name) || file->unsupported().count(name) != 0);
}

/// Finds out what the files lack before anything is written.
class Inventory {
public:
  Inventory(const schedule::ScheduleT &schedule, const InitialValues &values)
      : values_(values),
        main_(values.weights ? values.weights : values.planWeights) {
    for (const auto &tensor : schedule.tensors) {
      if (isPersistent(*tensor) && !isConverted(*tensor) &&
          tensor->entry >= 0) {
        add(*tensor);
      }
    }
  }

  /// An error where a tensor has no value to start with; else notes.
  Result<std::vector<std::string>> judge() const {
    if (!homeless_.empty()) {
      return Error{(homeless_.size() == 1
                        ? "no file holds the value of "
                        : format("no file holds the values of %zu tensors: ",
                                 homeless_.size())) +
                   listNames(homeless_) + looked() +
                   ": give it with --weights FILE.safetensors, or keep the "
                   ".safetensors file that vdnn-opt wrote beside the "
                   "plan"};
    }
    if (main_ && persistent_ > 0 && !shares_) {
      return Error{
          format("'%s' shares no name with the %zu parameters and states of "
                 "the plan: ",
                 main_->name().c_str(), persistent_) +
          (values_.weights
               ? "give weights of this model"
               : "move this file away, or give weights with --weights")};
    }
    if (!missing_.empty()) {
      return Error{
          "'" + main_->name() +
          format("' lacks %zu of the %zu parameters and states of the plan: ",
                 missing_.size(), persistent_) +
          listNames(missing_) + ": give weights of this model"};
    }
    std::vector<std::string> notes;
    if (velocities_ > 0) {
      notes.push_back(
          format("%zu velocities are not in '%s' and start as the plan says",
                 velocities_, main_->name().c_str()));
    }
    if (random_ > 0) {
      notes.push_back(
          format("%zu tensors start at random values (seed %llu): ", random_,
                 static_cast<unsigned long long>(values_.seed)) +
          (main_ ? "they are not in '" + main_->name() + "'"
                 : "no weights were given"));
    }
    return notes;
  }

private:
  void add(const schedule::TensorT &tensor) {
    bool found = (!isConstant(tensor) && holds(values_.weights, tensor.name)) ||
                 holds(values_.planWeights, tensor.name);
    if (!found && (!tensor.initial || hasKind(tensor, InitialKind::Stored))) {
      homeless_.push_back(tensor.name);
    }
    bool inMain = holds(main_, tensor.name);
    shares_ |= inMain;
    if (isConstant(tensor)) {
      return;
    }
    ++persistent_;
    if (inMain) {
      return;
    }
    if (main_ && isVelocity(tensor)) {
      velocities_ += isFromCompiler(*main_) ? 0 : 1; // a model has none
    } else if (main_ && !isFromCompiler(*main_)) {
      missing_.push_back(tensor.name);
    } else if (!found && isRandom(tensor)) {
      ++random_;
    }
  }

  std::string looked() const {
    std::string text;
    for (const Safetensors *file : {values_.weights, values_.planWeights}) {
      text +=
          file ? (text.empty() ? " (looked in '" : ", '") + file->name() + "'"
               : "";
    }
    return text.empty() ? "" : text + ")";
  }

  const InitialValues &values_;
  const Safetensors *main_; // the file whose gaps count
  size_t persistent_ = 0;   // without constants
  bool shares_ = false;     // the main file has some tensor of the plan
  size_t velocities_ = 0;   // absent from it
  size_t random_ = 0;
  std::vector<std::string>
      homeless_; // nowhere, and the plan has no rule for them
  std::vector<std::string> missing_; // absent from a file that should have them
};

/// Writes what is converted from tensor `source`, whose value is given.
Status writeConverted(Executor &executor, uint32_t source,
                      const HostTensor &value) {
  const schedule::ScheduleT &schedule = executor.schedule();
  for (uint32_t i = 0; i < schedule.tensors.size(); ++i) {
    const schedule::TensorT &tensor = *schedule.tensors[i];
    if (!isConverted(tensor) ||
        tensor.initial->source != static_cast<int32_t>(source)) {
      continue;
    }
    std::vector<std::byte> bytes(tensor.bytes);
    convert(value.data, value.element, bytes, tensor.type->element);
    if (Status status = executor.write(
            i, makeHostTensor(tensor.name, tensor.type->element,
                              tensor.type->shape, std::move(bytes)));
        !status) {
      return status;
    }
  }
  return {};
}

} // namespace

Result<std::vector<std::string>> initialize(Executor &executor,
                                            const InitialValues &values) {
  const schedule::ScheduleT &schedule = executor.schedule();
  Result<std::vector<std::string>> notes = Inventory(schedule, values).judge();
  if (!notes) {
    return notes;
  }
  for (uint32_t i = 0; i < schedule.tensors.size(); ++i) {
    const schedule::TensorT &tensor = *schedule.tensors[i];
    if (!isPersistent(tensor) || isConverted(tensor) || tensor.entry < 0) {
      continue;
    }
    Result<HostTensor> value = valueOf(tensor, values);
    if (!value) {
      return value.error();
    }
    if (Status status = executor.write(i, *value); !status) {
      return status.error();
    }
    // At once, while the value is at hand.
    if (Status status = writeConverted(executor, i, *value); !status) {
      return status.error();
    }
  }
  return notes;
}

} // namespace vdnn::rt
