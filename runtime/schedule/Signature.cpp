//===- Signature.cpp - a kernel as one line of text -----------------------===//

#include "runtime/schedule/Schedule.h"

#include <cstdio>

namespace vdnn::schedule {

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

template <typename T>
static std::string list(const std::vector<T> &values) {
  std::string text;
  for (const T &value : values) {
    text += (text.empty() ? "" : ",") + std::to_string(value);
  }
  return text;
}

static std::string describe(const TypeT &type) {
  return std::string(EnumNameElementType(type.element)) + "[" +
         list(type.shape) + "]" +
         (type.layout == Layout::ChannelsLast ? " channels last" : "");
}

static std::string describe(std::span<const TypeT *const> types) {
  std::string text;
  for (const TypeT *type : types) {
    text += (text.empty() ? "" : ", ") + describe(*type);
  }
  return text;
}

static std::string describe(const AttributeT &attribute) {
  std::string value = attribute.text;
  if (!attribute.ints.empty()) {
    value += list(attribute.ints);
  } else if (attribute.text.empty()) {
    value += number(attribute.number);
  }
  return attribute.name + "=" + value;
}

static std::string describe(const ScalarOpT &op) {
  std::string text = op.code;
  if (!op.predicate.empty()) {
    text += "." + op.predicate;
  }
  text += std::string(":") + EnumNameElementType(op.element) + "(" +
          (op.code == "constant" ? number(op.constant) : list(op.operands)) +
          ")";
  return text;
}

std::vector<const TypeT *> typesOf(const ScheduleT &schedule,
                                   std::span<const Operand> operands) {
  std::vector<const TypeT *> types;
  for (const Operand &operand : operands) {
    types.push_back(schedule.types[operand.type()].get());
  }
  return types;
}

std::string signature(const KernelT &kernel,
                      std::span<const TypeT *const> reads,
                      std::span<const TypeT *const> writes) {
  std::string text = kernel.kind;
  for (const auto &attribute : kernel.attributes) {
    text += " " + describe(*attribute);
  }
  if (!kernel.program.empty() || !kernel.program_results.empty()) {
    text += " {";
    for (const auto &op : kernel.program) {
      text += " " + describe(*op);
    }
    text += " -> " + list(kernel.program_results) + " }";
  }
  return text + ": " + describe(reads) + " -> " + describe(writes);
}

} // namespace vdnn::schedule
