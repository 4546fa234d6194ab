//===- Checks.cpp ---------------------------------------------------------===//

#include "runtime/backend/common/Checks.h"

#include <algorithm>
#include <numeric>

namespace vdnn::rt::backend {

std::string toString(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

int64_t countElements(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

schedule::ElementType scalarElement(schedule::ElementType element) {
  switch (element) {
  case schedule::ElementType::U64:
    return schedule::ElementType::I64;
  case schedule::ElementType::U32:
    return schedule::ElementType::I32;
  case schedule::ElementType::U16:
    return schedule::ElementType::I16;
  case schedule::ElementType::U8:
    return schedule::ElementType::I8;
  case schedule::ElementType::BF16:
    return schedule::ElementType::F32;
  default:
    return element;
  }
}

std::vector<size_t> memoryOrder(const schedule::TypeT &type) {
  std::vector<size_t> order(type.shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (type.layout == schedule::Layout::ChannelsLast && order.size() > 2) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  return order;
}

std::vector<int64_t> memoryStrides(const schedule::TypeT &type) {
  std::vector<size_t> order = memoryOrder(type);
  std::vector<int64_t> strides(order.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= type.shape[order[i]];
  }
  return strides;
}

static std::string range(size_t least, size_t most) {
  return least == most ? std::to_string(least)
                       : std::to_string(least) + " to " + std::to_string(most);
}

Status expectArity(const LaunchTypes &types, Arity arity) {
  size_t reads = types.reads.size(), writes = types.writes.size();
  if (reads < arity.minReads || reads > arity.maxReads) {
    return Error{"expected " + range(arity.minReads, arity.maxReads) +
                 " operands, found " + std::to_string(reads)};
  }
  if (writes < arity.minWrites || writes > arity.maxWrites) {
    return Error{"expected " + range(arity.minWrites, arity.maxWrites) +
                 " results, found " + std::to_string(writes)};
  }
  return {};
}

Status expectElement(const schedule::TypeT &type, schedule::ElementType element,
                     const char *what) {
  if (type.element != element) {
    return Error{std::string("expected element type '") +
                 schedule::EnumNameElementType(element) + "' of '" + what +
                 "', found '" + schedule::EnumNameElementType(type.element) +
                 "'"};
  }
  return {};
}

Status expectActivation(const schedule::TypeT &type, const char *what) {
  if (type.element != schedule::ElementType::F32 &&
      type.element != schedule::ElementType::BF16) {
    return Error{std::string("expected element type 'F32' or 'BF16' of '") +
                 what + "', found '" +
                 schedule::EnumNameElementType(type.element) + "'"};
  }
  return {};
}

Status expectLayout(const schedule::TypeT &type, schedule::Layout layout,
                    const char *what) {
  // Below rank 3 there is only one order, whatever the type says.
  if (type.shape.size() > 2 && type.layout != layout) {
    return Error{std::string("expected layout '") +
                 schedule::EnumNameLayout(layout) + "' of '" + what +
                 "', found '" + schedule::EnumNameLayout(type.layout) +
                 "'; reorder it first"};
  }
  return {};
}

Status expectShape(const schedule::TypeT &type,
                   const std::vector<int64_t> &shape, const char *what) {
  if (type.shape != shape) {
    return Error{std::string("expected shape ") + toString(shape) + " of '" +
                 what + "', found " + toString(type.shape)};
  }
  return {};
}

Status expectSameType(const schedule::TypeT &type, const schedule::TypeT &other,
                      const char *what) {
  VDNN_TRY(expectElement(type, other.element, what));
  VDNN_TRY(expectShape(type, other.shape, what));
  return expectLayout(type, other.layout, what);
}

Status expectAllF32(const LaunchTypes &types,
                    std::initializer_list<size_t> except) {
  size_t reads = types.reads.size();
  for (size_t i = 0; i < reads + types.writes.size(); ++i) {
    if (std::find(except.begin(), except.end(), i) != except.end()) {
      continue;
    }
    std::string what = i < reads ? "operand " + std::to_string(i)
                                 : "result " + std::to_string(i - reads);
    const schedule::TypeT &type =
        *(i < reads ? types.reads[i] : types.writes[i - reads]);
    VDNN_TRY(expectElement(type, schedule::ElementType::F32, what.c_str()));
  }
  return {};
}

Status expectInPlace(std::span<const schedule::InPlace> pairs,
                     std::span<const schedule::InPlace> known,
                     const std::string &kind) {
  for (const schedule::InPlace &pair : pairs) {
    auto isPair = [&](const schedule::InPlace &other) {
      return other.read() == pair.read() && other.write() == pair.write();
    };
    if (std::none_of(known.begin(), known.end(), isPair)) {
      return Error{"kernel '" + kind + "': result " +
                   std::to_string(pair.write()) +
                   " cannot be computed in place of operand " +
                   std::to_string(pair.read())};
    }
  }
  return {};
}

Result<std::vector<uint64_t>>
bytesOf(std::span<const schedule::TypeT *const> types) {
  std::vector<uint64_t> bytes;
  for (const schedule::TypeT *type : types) {
    Result<uint64_t> size = schedule::typeBytes(*type);
    if (!size) {
      return size.error();
    }
    bytes.push_back(*size);
  }
  return bytes;
}

} // namespace vdnn::rt::backend
