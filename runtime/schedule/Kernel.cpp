//===- Kernel.cpp - views of kernels and types ----------------------------===//

#include "runtime/schedule/Schedule.h"

#include <algorithm>

namespace vdnn::schedule {

uint64_t elementBytes(ElementType element) {
  switch (element) {
  case ElementType::F64:
  case ElementType::I64:
  case ElementType::U64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
  case ElementType::U32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
  case ElementType::U16:
    return 2;
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::Bool:
    return 1;
  }
  return 0;
}

rt::Result<uint64_t> typeBytes(const TypeT &type) {
  uint64_t bytes = elementBytes(type.element);
  if (bytes == 0) {
    return rt::Error{"element type " +
                     std::to_string(static_cast<int>(type.element)) +
                     " does not exist"};
  }
  bool empty = false;
  for (int64_t dimension : type.shape) {
    if (dimension < 0) {
      return rt::Error{"dimension " + std::to_string(dimension) +
                       " is negative"};
    }
    if (dimension == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dimension),
                                      &bytes)) {
      return rt::Error{"the bytes of a shape exceed 64 bits"};
    }
  }
  return empty ? 0 : bytes;
}

const AttributeT *findAttribute(const KernelT &kernel,
                                const std::string &name) {
  for (const auto &attribute : kernel.attributes) {
    if (attribute->name == name) {
      return attribute.get();
    }
  }
  return nullptr;
}

std::vector<int64_t> getInts(const KernelT &kernel, const std::string &name) {
  const AttributeT *attribute = findAttribute(kernel, name);
  return attribute ? attribute->ints : std::vector<int64_t>();
}

int64_t getInt(const KernelT &kernel, const std::string &name,
               int64_t fallback) {
  const AttributeT *attribute = findAttribute(kernel, name);
  return attribute && !attribute->ints.empty() ? attribute->ints.front()
                                               : fallback;
}

double getNumber(const KernelT &kernel, const std::string &name,
                 double fallback) {
  const AttributeT *attribute = findAttribute(kernel, name);
  return attribute ? attribute->number : fallback;
}

std::string getText(const KernelT &kernel, const std::string &name,
                    const std::string &fallback) {
  const AttributeT *attribute = findAttribute(kernel, name);
  return attribute ? attribute->text : fallback;
}

size_t countNondeterministic(const ScheduleT &schedule) {
  return std::count_if(
      schedule.commands.begin(), schedule.commands.end(),
      [&](const auto &command) {
        return command->kind == CommandKind::Launch &&
               schedule.kernels[command->kernel]->nondeterministic;
      });
}

} // namespace vdnn::schedule
