//===- HostTensor.cpp -----------------------------------------------------===//

#include "runtime/exec/files/HostTensor.h"

#include "runtime/support/Half.h"

#include <cstring>

namespace vdnn::rt {

using schedule::ElementType;

std::optional<uint64_t> elementCount(std::span<const int64_t> shape) {
  uint64_t count = 1;
  bool empty = false;
  for (int64_t dimension : shape) {
    if (dimension < 0) {
      return std::nullopt;
    }
    empty |= dimension == 0;
  }
  if (empty) {
    return 0;
  }
  for (int64_t dimension : shape) {
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(dimension),
                               &count) ||
        count > uint64_t{1} << 62) {
      return std::nullopt;
    }
  }
  return count;
}

const char *elementName(ElementType element) {
  switch (element) {
  case ElementType::F32:
    return "f32";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F64:
    return "f64";
  case ElementType::I64:
    return "i64";
  case ElementType::I32:
    return "i32";
  case ElementType::I16:
    return "i16";
  case ElementType::I8:
    return "i8";
  case ElementType::U8:
    return "u8";
  case ElementType::U16:
    return "u16";
  case ElementType::U32:
    return "u32";
  case ElementType::U64:
    return "u64";
  case ElementType::Bool:
    return "bool";
  }
  return "unknown";
}

namespace {

/// What values a type holds: floating point or not, sign, and how many binary
/// digits are exact.
struct Range {
  bool floating;
  bool sign;
  int digits;
};

Range rangeOf(ElementType element) {
  switch (element) {
  case ElementType::F32:
    return {true, true, 24};
  case ElementType::F16:
    return {true, true, 11};
  case ElementType::BF16:
    return {true, true, 8};
  case ElementType::F64:
    return {true, true, 53};
  case ElementType::I64:
    return {false, true, 63};
  case ElementType::I32:
    return {false, true, 31};
  case ElementType::I16:
    return {false, true, 15};
  case ElementType::I8:
    return {false, true, 7};
  case ElementType::U8:
    return {false, false, 8};
  case ElementType::U16:
    return {false, false, 16};
  case ElementType::U32:
    return {false, false, 32};
  case ElementType::U64:
    return {false, false, 64};
  case ElementType::Bool:
    return {false, false, 1};
  }
  return {false, false, 0};
}

template <typename T>
T load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void store(std::byte *at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

double loadFloating(const std::byte *at, ElementType element) {
  switch (element) {
  case ElementType::F32:
    return load<float>(at);
  case ElementType::F16:
    return halfToFloat(load<uint16_t>(at));
  case ElementType::BF16:
    return bfloatToFloat(load<uint16_t>(at));
  default:
    return load<double>(at);
  }
}

/// The largest numbers of u64 wrap.
int64_t loadInteger(const std::byte *at, ElementType element) {
  switch (element) {
  case ElementType::I64:
  case ElementType::U64:
    return load<int64_t>(at);
  case ElementType::I32:
    return load<int32_t>(at);
  case ElementType::I16:
    return load<int16_t>(at);
  case ElementType::I8:
    return load<int8_t>(at);
  case ElementType::U32:
    return load<uint32_t>(at);
  case ElementType::U16:
    return load<uint16_t>(at);
  case ElementType::Bool:
    return load<uint8_t>(at) != 0;
  default:
    return load<uint8_t>(at);
  }
}

void storeFloating(std::byte *at, ElementType element, double value) {
  switch (element) {
  case ElementType::F32:
    return store(at, static_cast<float>(value));
  case ElementType::F16:
    return store(at, floatToHalf(static_cast<float>(value)));
  case ElementType::BF16:
    return store(at, floatToBfloat(static_cast<float>(value)));
  default:
    return store(at, value);
  }
}

void storeInteger(std::byte *at, ElementType element, int64_t value) {
  switch (schedule::elementBytes(element)) {
  case 8:
    return store(at, value);
  case 4:
    return store(at, static_cast<int32_t>(value));
  case 2:
    return store(at, static_cast<int16_t>(value));
  default:
    return store(at, static_cast<uint8_t>(value));
  }
}

} // namespace

bool convertsExactly(ElementType from, ElementType to) {
  if (from == to) {
    return true;
  }
  if (to == ElementType::Bool) {
    return false;
  }
  Range source = rangeOf(from);
  Range target = rangeOf(to);
  if (source.floating) {
    // f16 and bf16 differ in range, not only in digits.
    return target.floating && target.digits > source.digits &&
           to != ElementType::F16;
  }
  if (source.sign && !target.sign) {
    return false;
  }
  return source.digits <= target.digits;
}

void convert(std::span<const std::byte> source, ElementType from,
             std::span<std::byte> destination, ElementType to) {
  if (from == to) {
    if (!source.empty()) {
      std::memcpy(destination.data(), source.data(), source.size());
    }
    return;
  }
  size_t fromBytes = schedule::elementBytes(from);
  size_t toBytes = schedule::elementBytes(to);
  bool fromFloating = rangeOf(from).floating;
  bool toFloating = rangeOf(to).floating;
  for (size_t i = 0, n = source.size() / fromBytes; i < n; ++i) {
    const std::byte *in = source.data() + i * fromBytes;
    std::byte *out = destination.data() + i * toBytes;
    if (fromFloating) {
      storeFloating(out, to, loadFloating(in, from));
    } else if (toFloating) {
      storeFloating(out, to, static_cast<double>(loadInteger(in, from)));
    } else {
      storeInteger(out, to, loadInteger(in, from));
    }
  }
}

std::vector<double> toDoubles(const HostTensor &tensor, uint64_t first,
                              uint64_t count) {
  size_t size = schedule::elementBytes(tensor.element);
  bool floating = rangeOf(tensor.element).floating;
  std::vector<double> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const std::byte *at = tensor.data.data() + (first + i) * size;
    values[i] = floating ? loadFloating(at, tensor.element)
                : tensor.element == ElementType::U64
                    ? static_cast<double>(load<uint64_t>(at))
                    : static_cast<double>(loadInteger(at, tensor.element));
  }
  return values;
}

HostTensor makeHostTensor(std::string name, ElementType element,
                          std::vector<int64_t> shape,
                          std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  HostTensor tensor;
  tensor.name = std::move(name);
  tensor.element = element;
  tensor.shape = std::move(shape);
  tensor.data = *owned;
  tensor.owner = owned;
  return tensor;
}

} // namespace vdnn::rt
