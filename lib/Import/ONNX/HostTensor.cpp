//===- HostTensor.cpp - a tensor whose values are known at import ---------===//

#include "HostTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace vdnn::onnx;

static_assert(std::endian::native == std::endian::little,
              "tensors are read as they lie in the file");

std::optional<int64_t> vdnn::onnx::countElements(ArrayRef<int64_t> shape) {
  if (shape.size() > 64) {
    return std::nullopt;
  }
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 1 || size > (int64_t(1) << 40) / count) {
      return std::nullopt;
    }
    count *= size;
  }
  return count;
}

double vdnn::onnx::roundTo(Type type, double value) {
  llvm::APFloat number(value);
  bool lost = false;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

//===----------------------------------------------------------------------===//
// HostTensor
//===----------------------------------------------------------------------===//

HostTensor HostTensor::ofIntegers(Type element, Shape shape,
                                  std::vector<int64_t> values) {
  HostTensor tensor;
  tensor.element = element;
  tensor.shape = std::move(shape);
  tensor.integers = std::move(values);
  tensor.splat = tensor.integers.size() == 1;
  return tensor;
}

HostTensor HostTensor::ofNumbers(Type element, Shape shape,
                                 std::vector<double> values) {
  HostTensor tensor;
  tensor.element = element;
  tensor.shape = std::move(shape);
  tensor.numbers = std::move(values);
  tensor.splat = tensor.numbers.size() == 1;
  return tensor;
}

int64_t HostTensor::size() const {
  int64_t count = 1;
  for (int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

bool HostTensor::isAll(double value) const {
  return isFloat() ? llvm::all_of(numbers, [&](double n) { return n == value; })
                   : llvm::all_of(integers, [&](int64_t n) {
                       return double(n) == value;
                     });
}

bool HostTensor::isUniform() const {
  return isFloat() ? llvm::all_equal(numbers) : llvm::all_equal(integers);
}

HostTensor HostTensor::reshaped(Shape to) const {
  HostTensor result = *this;
  result.shape = std::move(to);
  return result;
}

HostTensor HostTensor::gathered(Shape to, ArrayRef<int64_t> source) const {
  HostTensor result;
  result.element = element;
  result.shape = std::move(to);
  for (int64_t i : source) {
    if (isFloat()) {
      result.numbers.push_back(numbers[splat ? 0 : i]);
    } else {
      result.integers.push_back(integer(i));
    }
  }
  result.splat = source.size() == 1;
  return result;
}

std::optional<HostTensor> HostTensor::broadcast(ArrayRef<int64_t> to) const {
  std::optional<int64_t> count = countElements(to);
  if (!count || to.size() < shape.size()) {
    return std::nullopt;
  }
  size_t lead = to.size() - shape.size();
  for (auto [i, extent] : llvm::enumerate(shape)) {
    if (extent != 1 && extent != to[lead + i]) {
      return std::nullopt;
    }
  }
  if (splat) {
    return reshaped(Shape(to));
  }
  if (*count > maxFoldedElements) {
    return std::nullopt;
  }
  std::vector<int64_t> source(*count);
  for (int64_t i = 0; i < *count; ++i) {
    int64_t rest = i;
    int64_t stride = 1;
    for (size_t axis = to.size(); axis-- > lead;) {
      int64_t extent = shape[axis - lead];
      source[i] += extent == 1 ? 0 : rest % to[axis] * stride;
      rest /= to[axis];
      stride *= extent;
    }
  }
  return gathered(Shape(to), source);
}

static int64_t wrap(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width >= 64) {
    return value;
  }
  uint64_t bits = uint64_t(value) & ((uint64_t(1) << width) - 1);
  bool negative =
      width > 1 && !type.isUnsignedInteger() && (bits >> (width - 1)) != 0;
  return int64_t(negative ? bits | ~((uint64_t(1) << width) - 1) : bits);
}

HostTensor HostTensor::cast(Type to) const {
  HostTensor result;
  result.element = to;
  result.shape = shape;
  result.splat = splat;
  size_t held = isFloat() ? numbers.size() : integers.size();
  for (size_t i = 0; i < held; ++i) {
    if (isa<FloatType>(to)) {
      double value = isFloat() ? numbers[i] : double(integers[i]);
      result.numbers.push_back(roundTo(to, value));
      continue;
    }
    int64_t value = 0;
    if (to.isInteger(1)) {
      value = isFloat() ? numbers[i] != 0 : integers[i] != 0;
    } else if (!isFloat()) {
      value = integers[i];
    } else if (std::abs(numbers[i]) < 0x1p63) { // false for NaN as well
      value = int64_t(numbers[i]);
    }
    result.integers.push_back(wrap(to, value));
  }
  return result;
}

DenseElementsAttr HostTensor::toAttribute() const {
  auto type = RankedTensorType::get(shape, element);
  SmallVector<Attribute> values;
  if (auto real = dyn_cast<FloatType>(element)) {
    for (double number : numbers) {
      values.push_back(FloatAttr::get(real, number));
    }
  } else {
    for (int64_t value : integers) {
      llvm::APInt bits(element.getIntOrFloatBitWidth(), uint64_t(value));
      values.push_back(IntegerAttr::get(element, bits));
    }
  }
  return DenseElementsAttr::get(type, values);
}

std::optional<Shape> vdnn::onnx::broadcastShapes(ArrayRef<int64_t> a,
                                                 ArrayRef<int64_t> b) {
  if (a.size() < b.size()) {
    std::swap(a, b);
  }
  Shape result(a);
  size_t lead = a.size() - b.size();
  for (auto [i, extent] : llvm::enumerate(b)) {
    int64_t &other = result[lead + i];
    if (other == 1) {
      other = extent;
    } else if (extent != 1 && extent != other) {
      return std::nullopt;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using vdnn_onnx::TensorProto;

Type vdnn::onnx::elementType(MLIRContext *context, int32_t dataType) {
  Builder builder(context);
  switch (dataType) {
  case TensorProto::FLOAT:
    return builder.getF32Type();
  case TensorProto::DOUBLE:
    return builder.getF64Type();
  case TensorProto::FLOAT16:
    return builder.getF16Type();
  case TensorProto::BFLOAT16:
    return builder.getBF16Type();
  case TensorProto::INT64:
    return builder.getI64Type();
  case TensorProto::INT32:
    return builder.getI32Type();
  case TensorProto::INT16:
    return builder.getIntegerType(16);
  case TensorProto::INT8:
    return builder.getIntegerType(8);
  case TensorProto::UINT64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  case TensorProto::UINT32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case TensorProto::UINT16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case TensorProto::UINT8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case TensorProto::BOOL:
    return builder.getI1Type();
  default:
    return {};
  }
}

std::string vdnn::onnx::dataTypeName(int32_t dataType) {
  if (vdnn_onnx::TensorProto_DataType_IsValid(dataType)) {
    return "'" +
           vdnn_onnx::TensorProto_DataType_Name(
               vdnn_onnx::TensorProto_DataType(dataType)) +
           "'";
  }
  return "number " + std::to_string(dataType);
}

int64_t vdnn::onnx::elementBytes(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

std::string vdnn::onnx::storedTypeName(Type element) {
  if (element.isBF16()) {
    return "BF16";
  }
  if (element.isInteger(1)) {
    return "BOOL";
  }
  std::string kind = isa<FloatType>(element)       ? "F"
                     : element.isUnsignedInteger() ? "U"
                                                   : "I";
  return kind + std::to_string(element.getIntOrFloatBitWidth());
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Copies the numbers of a typed field as elements of T.
template <typename T, typename Field>
static std::vector<char> pack(const Field &field) {
  std::vector<char> bytes(size_t(field.size()) * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    T value = T(field.Get(i));
    std::memcpy(bytes.data() + size_t(i) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

static std::vector<char> typedBytes(const TensorProto &tensor, Type element) {
  if (element.isF32()) {
    return pack<float>(tensor.float_data());
  }
  if (element.isF64()) {
    return pack<double>(tensor.double_data());
  }
  if (element.isUnsignedInteger(64)) {
    return pack<uint64_t>(tensor.uint64_data());
  }
  if (element.isUnsignedInteger(32)) {
    return pack<uint32_t>(tensor.uint64_data());
  }
  if (element.isInteger(64)) {
    return pack<int64_t>(tensor.int64_data());
  }
  // Everything narrower, f16 and bf16 bit patterns too, lies in int32_data.
  switch (elementBytes(element)) {
  case 4:
    return pack<int32_t>(tensor.int32_data());
  case 2:
    return pack<uint16_t>(tensor.int32_data());
  default:
    return pack<uint8_t>(tensor.int32_data());
  }
}

int64_t vdnn::onnx::inlineSize(const TensorProto &tensor, Type element) {
  if (tensor.has_raw_data()) {
    return int64_t(tensor.raw_data().size());
  }
  int64_t count =
      element.isF32()   ? tensor.float_data_size()
      : element.isF64() ? tensor.double_data_size()
      : element.isUnsignedInteger(64) || element.isUnsignedInteger(32)
          ? tensor.uint64_data_size()
      : element.isInteger(64) ? tensor.int64_data_size()
                              : tensor.int32_data_size();
  return count * elementBytes(element);
}

std::vector<char> vdnn::onnx::inlineBytes(const TensorProto &tensor,
                                          Type element) {
  if (tensor.has_raw_data()) {
    return {tensor.raw_data().begin(), tensor.raw_data().end()};
  }
  return typedBytes(tensor, element);
}

template <typename T>
static T read(ArrayRef<char> bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + size_t(i) * sizeof(T), sizeof(T));
  return value;
}

HostTensor vdnn::onnx::decode(Type element, Shape shape, ArrayRef<char> bytes) {
  HostTensor tensor;
  tensor.element = element;
  int64_t count = *countElements(shape);
  tensor.shape = std::move(shape);
  tensor.splat = count == 1;
  for (int64_t i = 0; i < count; ++i) {
    if (element.isF32()) {
      tensor.numbers.push_back(read<float>(bytes, i));
    } else if (element.isF64()) {
      tensor.numbers.push_back(read<double>(bytes, i));
    } else if (auto real = dyn_cast<FloatType>(element)) {
      llvm::APFloat number(real.getFloatSemantics(),
                           llvm::APInt(16, read<uint16_t>(bytes, i)));
      bool lost = false;
      number.convert(llvm::APFloat::IEEEdouble(),
                     llvm::APFloat::rmNearestTiesToEven, &lost);
      tensor.numbers.push_back(number.convertToDouble());
    } else if (element.isInteger(64)) {
      tensor.integers.push_back(read<int64_t>(bytes, i));
    } else if (element.isUnsignedInteger(32)) {
      tensor.integers.push_back(read<uint32_t>(bytes, i));
    } else if (element.isUnsignedInteger(16)) {
      tensor.integers.push_back(read<uint16_t>(bytes, i));
    } else if (element.isInteger(32)) {
      tensor.integers.push_back(read<int32_t>(bytes, i));
    } else if (element.isInteger(16)) {
      tensor.integers.push_back(read<int16_t>(bytes, i));
    } else if (element.isInteger(1)) {
      tensor.integers.push_back(bytes[size_t(i)] != 0);
    } else if (element.isUnsignedInteger()) {
      tensor.integers.push_back(read<uint8_t>(bytes, i));
    } else {
      tensor.integers.push_back(read<int8_t>(bytes, i));
    }
  }
  return tensor;
}
