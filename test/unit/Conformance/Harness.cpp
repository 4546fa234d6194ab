//===- Harness.cpp - one kernel, run on a backend with guards around every
// operand --------------------------===//

#include "Harness.h"

#include "runtime/support/Half.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace vdnn::rt::conformance {

namespace {

constexpr uint64_t kGuard = 256;
constexpr std::byte kGuardByte{0xA5};
/// As a float this is a NaN: a kernel that reads what it did not write shows
/// it.
constexpr std::byte kPoison{0xFF};

} // namespace

int64_t count(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

schedule::TypeT makeType(Shape shape, Layout layout, ElementType element) {
  schedule::TypeT type;
  type.shape = std::move(shape);
  type.layout = layout;
  type.element = element;
  return type;
}

schedule::TypeT activation(Shape shape, ElementType element) {
  Layout layout = shape.size() > 2 ? Layout::ChannelsLast : Layout::RowMajor;
  return makeType(std::move(shape), layout, element);
}

std::vector<ElementType> activationElements() {
  std::vector<ElementType> elements = {ElementType::F32};
  if (backend().bf16) {
    elements.push_back(ElementType::BF16);
  }
  return elements;
}

std::string nameOf(ElementType element) {
  return schedule::EnumNameElementType(element);
}

Tensor tensor(schedule::TypeT type, std::vector<double> values) {
  EXPECT_EQ(count(type.shape), static_cast<int64_t>(values.size()));
  return {std::move(type), std::move(values)};
}

Tensor randomTensor(schedule::TypeT type, uint64_t seed, double low,
                    double high) {
  std::vector<double> values(count(type.shape));
  uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (double &value : values) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    value = static_cast<float>(low + (high - low) *
                                         static_cast<double>(state >> 11) /
                                         9007199254740992.0);
  }
  // Rounded, so that the reference starts from what the kernel sees.
  if (schedule::elementBytes(type.element) == 2) {
    values = rounded(type.element, std::move(values));
  }
  return {std::move(type), std::move(values)};
}

/// Where each logical element lies in memory.
static std::vector<int64_t> positions(const schedule::TypeT &type) {
  size_t rank = type.shape.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (type.layout == Layout::ChannelsLast && rank > 2) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  std::vector<int64_t> strides(rank), result(count(type.shape));
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    strides[order[i]] = stride;
    stride *= type.shape[order[i]];
  }
  for (int64_t i = 0; i < static_cast<int64_t>(result.size()); ++i) {
    int64_t rest = i, position = 0;
    for (size_t d = rank; d-- > 0;) {
      position += rest % type.shape[d] * strides[d];
      rest /= type.shape[d];
    }
    result[i] = position;
  }
  return result;
}

/// A 16-bit floating-point number.
template <uint16_t (*Pack)(float), float (*Unpack)(uint16_t)>
struct Bits16 {
  uint16_t bits;

  Bits16() = default;
  explicit Bits16(double value) : bits(Pack(static_cast<float>(value))) {}
  explicit operator double() const { return Unpack(bits); }
};

template <typename Visit>
static void visitElement(ElementType element, const Visit &visit) {
  switch (element) {
  case ElementType::F32:
    return visit(float{});
  case ElementType::F64:
    return visit(double{});
  case ElementType::I64:
    return visit(int64_t{});
  case ElementType::I32:
    return visit(int32_t{});
  case ElementType::I16:
    return visit(int16_t{});
  case ElementType::I8:
    return visit(int8_t{});
  case ElementType::F16:
    return visit(Bits16<rt::floatToHalf, rt::halfToFloat>{});
  case ElementType::BF16:
    return visit(Bits16<rt::floatToBfloat, rt::bfloatToFloat>{});
  case ElementType::U64:
    return visit(uint64_t{});
  case ElementType::U32:
    return visit(uint32_t{});
  case ElementType::U16:
    return visit(uint16_t{});
  default:
    return visit(uint8_t{});
  }
}

std::vector<double> rounded(ElementType element, std::vector<double> values) {
  visitElement(element, [&](auto zero) {
    for (double &value : values) {
      value = static_cast<double>(static_cast<decltype(zero)>(value));
    }
  });
  return values;
}

std::vector<std::byte> Tensor::encode() const {
  std::vector<std::byte> bytes;
  visitElement(type.element, [&](auto zero) {
    using T = decltype(zero);
    bytes.resize(values.size() * sizeof(T));
    std::vector<int64_t> where = positions(type);
    for (size_t i = 0; i < values.size(); ++i) {
      T value = static_cast<T>(values[i]);
      std::memcpy(bytes.data() + where[i] * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

Tensor Tensor::decode(const schedule::TypeT &type,
                      const std::vector<std::byte> &bytes) {
  Tensor result{type, std::vector<double>(count(type.shape))};
  visitElement(type.element, [&](auto zero) {
    using T = decltype(zero);
    std::vector<int64_t> where = positions(type);
    for (size_t i = 0; i < result.values.size(); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + where[i] * sizeof(T), sizeof(T));
      result.values[i] = static_cast<double>(value);
    }
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

schedule::AttributeT &Launch::attribute(const std::string &name) {
  kernel_.attributes.push_back(std::make_unique<schedule::AttributeT>());
  kernel_.attributes.back()->name = name;
  return *kernel_.attributes.back();
}

Launch &Launch::ints(const std::string &name, std::vector<int64_t> values) {
  attribute(name).ints = std::move(values);
  return *this;
}

Launch &Launch::number(const std::string &name, double value) {
  attribute(name).number = value;
  return *this;
}

Launch &Launch::text(const std::string &name, const std::string &value) {
  attribute(name).text = value;
  return *this;
}

Launch &Launch::algorithm(const std::string &name) {
  kernel_.algorithm = name;
  return *this;
}

Launch &Launch::program(std::vector<Instruction> instructions,
                        std::vector<uint32_t> results) {
  kernel_.program.clear();
  for (const Instruction &instruction : instructions) {
    auto op = std::make_unique<schedule::ScalarOpT>();
    op->code = instruction.code;
    op->operands = instruction.operands;
    op->element = instruction.element;
    op->predicate = instruction.predicate;
    op->constant = instruction.constant;
    kernel_.program.push_back(std::move(op));
  }
  kernel_.program_results = std::move(results);
  return *this;
}

Launch &Launch::read(Tensor value) {
  reads_.push_back(std::move(value));
  return *this;
}

Launch &Launch::write(schedule::TypeT type) {
  writes_.push_back(std::move(type));
  return *this;
}

Launch &Launch::nondeterministic(bool value) {
  kernel_.nondeterministic = value;
  return *this;
}

Launch &Launch::inPlace(uint32_t read, uint32_t write) {
  inPlace_.push_back({read, write});
  return *this;
}

Launch &Launch::shift(uint64_t places) {
  shift_ = places;
  return *this;
}

std::vector<const schedule::TypeT *> Launch::readTypes() const {
  std::vector<const schedule::TypeT *> types;
  for (const Tensor &read : reads_) {
    types.push_back(&read.type);
  }
  return types;
}

std::vector<const schedule::TypeT *> Launch::writeTypes() const {
  std::vector<const schedule::TypeT *> types;
  for (const schedule::TypeT &write : writes_) {
    types.push_back(&write);
  }
  return types;
}

std::vector<std::string> Launch::algorithms() const {
  std::vector<const schedule::TypeT *> reads = readTypes(),
                                       writes = writeTypes();
  return backend().algorithms(kernel_, {reads, writes});
}

uint64_t Launch::workspaceBytes() const {
  std::vector<const schedule::TypeT *> reads = readTypes(),
                                       writes = writeTypes();
  Result<uint64_t> bytes = backend().workspaceBytes(kernel_, {reads, writes});
  EXPECT_TRUE(bytes.ok()) << bytes.message();
  return bytes.ok() ? *bytes : 0;
}

Status Launch::prepare(uint64_t workspaceBytes) const {
  std::vector<const schedule::TypeT *> reads = readTypes(),
                                       writes = writeTypes();
  std::unique_ptr<Device> device = backend().create();
  schedule::StreamT stream;
  if (Status status = device->allocate(4096, 4096, std::span(&stream, 1), 0);
      !status) {
    return status;
  }
  return device->prepare(0, kernel_, {reads, writes}, inPlace_, workspaceBytes);
}

/// The arena of a launch: its bytes before the launch, and where everything
/// lies.
struct Launch::Placed {
  std::vector<std::byte> arena;
  std::vector<uint64_t> reads, writes;
  uint64_t workspace = 0;
  /// Whether the launch may change a byte.
  std::vector<bool> free;
};

Launch::Placed Launch::place(uint64_t workspaceBytes) const {
  Placed placed;
  uint64_t alignment = backend().alignment;
  uint64_t end = kGuard + shift_ * alignment;
  auto take = [&](uint64_t bytes) {
    uint64_t offset = end;
    end = (end + bytes + kGuard + alignment - 1) / alignment * alignment;
    return offset;
  };
  for (const Tensor &read : reads_) {
    placed.reads.push_back(take(read.encode().size()));
  }
  for (size_t i = 0; i < writes_.size(); ++i) {
    auto shared =
        std::find_if(inPlace_.begin(), inPlace_.end(),
                     [&](const auto &pair) { return pair.write() == i; });
    placed.writes.push_back(shared == inPlace_.end()
                                ? take(*schedule::typeBytes(writes_[i]))
                                : placed.reads[shared->read()]);
  }
  placed.workspace = take(workspaceBytes);
  placed.arena.assign(end, kGuardByte);
  placed.free.assign(end, false);
  auto open = [&](uint64_t offset, uint64_t bytes) {
    std::fill_n(placed.arena.begin() + static_cast<ptrdiff_t>(offset), bytes,
                kPoison);
    std::fill_n(placed.free.begin() + static_cast<ptrdiff_t>(offset), bytes,
                true);
  };
  for (size_t i = 0; i < writes_.size(); ++i) {
    open(placed.writes[i], *schedule::typeBytes(writes_[i]));
  }
  open(placed.workspace, workspaceBytes);
  for (size_t i = 0; i < reads_.size(); ++i) {
    std::vector<std::byte> bytes = reads_[i].encode();
    std::copy(bytes.begin(), bytes.end(),
              placed.arena.begin() + static_cast<ptrdiff_t>(placed.reads[i]));
  }
  return placed;
}

std::vector<std::vector<std::byte>> Launch::runForBytes() const {
  std::vector<const schedule::TypeT *> reads = readTypes(),
                                       writes = writeTypes();
  uint64_t workspace = workspaceBytes();
  Placed placed = place(workspace);
  std::unique_ptr<Device> device = backend().create();
  schedule::StreamT stream;
  stream.name = "compute";
  std::vector<std::byte> after(placed.arena.size());
  auto steps = [&]() -> Status {
    for (auto step : std::initializer_list<std::function<Status()>>{
             [&] {
               return device->allocate(placed.arena.size(), 0,
                                       std::span(&stream, 1), 0);
             },
             [&] {
               return device->prepare(0, kernel_, {reads, writes}, inPlace_,
                                      workspace);
             },
             [&] { return device->upload(0, placed.arena); },
             [&] {
               return device->launch(
                   0, 0,
                   {placed.reads, placed.writes, placed.workspace, workspace});
             },
             [&] { return device->synchronize(); },
             [&] { return device->download(0, after); }}) {
      if (Status status = step(); !status) {
        return status;
      }
    }
    return {};
  };
  std::vector<std::vector<std::byte>> results;
  Status status = steps();
  EXPECT_TRUE(status.ok()) << status.message();
  for (uint64_t i = 0; i < after.size(); ++i) {
    if (!placed.free[i] && after[i] != placed.arena[i]) {
      ADD_FAILURE() << "kernel '" << kernel_.kind << "' changed byte " << i
                    << ", which is neither result nor workspace";
      break;
    }
  }
  for (size_t i = 0; i < writes_.size(); ++i) {
    auto begin = after.begin() + static_cast<ptrdiff_t>(placed.writes[i]);
    results.emplace_back(begin, begin + static_cast<ptrdiff_t>(
                                            *schedule::typeBytes(writes_[i])));
  }
  return results;
}

std::vector<Tensor> Launch::run() const {
  std::vector<std::vector<std::byte>> bytes = runForBytes();
  std::vector<Tensor> results;
  for (size_t i = 0; i < writes_.size(); ++i) {
    results.push_back(Tensor::decode(writes_[i], bytes[i]));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static void expectWithin(const Tensor &actual,
                         const std::vector<double> &expected, double tolerance,
                         double relative) {
  ASSERT_EQ(actual.values.size(), expected.size());
  double scale = 1;
  for (double value : expected) {
    scale = std::isfinite(value) ? std::max(scale, std::fabs(value)) : scale;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (actual.values[i] == expected[i] ||
        (std::isnan(actual.values[i]) && std::isnan(expected[i]))) {
      continue;
    }
    double unit =
        expected[i] == 0
            ? 0
            : std::exp2(std::floor(std::log2(std::fabs(expected[i]))));
    ASSERT_LE(std::fabs(actual.values[i] - expected[i]),
              tolerance * scale + relative * unit)
        << "element " << i << ": " << actual.values[i] << ", expected "
        << expected[i];
  }
}

void expectClose(const Tensor &actual, const std::vector<double> &expected,
                 double tolerance) {
  expectWithin(actual, expected, tolerance, 0);
}

void expectRounded(const Tensor &actual, const std::vector<double> &expected,
                   double tolerance) {
  bool isBf16 = actual.type.element == ElementType::BF16;
  expectWithin(actual, expected, tolerance, isBf16 ? 0x1p-7 : 0);
}

std::vector<double> numericalGradient(
    const std::function<std::vector<double>(const std::vector<double> &)>
        &function,
    const std::vector<double> &x, const std::vector<double> &weights) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient(x.size()), moved = x;
  auto value = [&] {
    std::vector<double> y = function(moved);
    return std::inner_product(y.begin(), y.end(), weights.begin(), 0.0);
  };
  for (size_t i = 0; i < x.size(); ++i) {
    moved[i] = x[i] + kStep;
    double high = value();
    moved[i] = x[i] - kStep;
    gradient[i] = (high - value()) / (2 * kStep);
    moved[i] = x[i];
  }
  return gradient;
}

} // namespace vdnn::rt::conformance
