//===- OnnxTensor.cpp - the wire format of one message --------------------===//
//
// The runtime does without protobuf: a TensorProto is a dozen fields, and
// reading them takes fewer lines than linking the library. Field numbers are
// those of onnx.proto.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/files/OnnxTensor.h"

#include "runtime/support/Format.h"
#include "runtime/support/MappedFile.h"

#include <bit>
#include <cstring>

namespace vdnn::rt {

using schedule::ElementType;

namespace {

using Bytes = std::span<const std::byte>;

/// Takes fields off the front of a message. Every function returns false where
/// the bytes end too early.
class WireReader {
public:
  explicit WireReader(Bytes bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  bool varint(uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      uint64_t byte = std::to_integer<uint64_t>(rest_[0]);
      rest_ = rest_.subspan(1);
      value |= (byte & 127) << shift;
      if (byte < 128) {
        return true;
      }
    }
    return false;
  }

  bool take(uint64_t count, Bytes &bytes) {
    if (count > rest_.size()) {
      return false;
    }
    bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return true;
  }

  /// A field's number and its payload: `number` for varints, `bytes` for all
  /// others.
  bool field(uint64_t &tag, uint64_t &number, Bytes &bytes) {
    if (!varint(tag)) {
      return false;
    }
    number = 0;
    bytes = {};
    switch (tag & 7) {
    case 0:
      return varint(number);
    case 1:
      return take(8, bytes);
    case 2: {
      uint64_t length;
      return varint(length) && take(length, bytes);
    }
    case 5:
      return take(4, bytes);
    default:
      return false;
    }
  }

private:
  Bytes rest_;
};

constexpr uint32_t kDims = 1, kType = 2, kSegment = 3, kFloats = 4, kInt32s = 5,
                   kInt64s = 7, kName = 8, kRaw = 9, kDoubles = 10,
                   kUint64s = 11, kLocation = 14;

/// What a message holds, before its parts are compared with each other.
struct Proto {
  std::vector<int64_t> dims;
  uint64_t type = 0;
  std::string name;
  std::optional<Bytes> raw;
  std::vector<std::byte> fixed;  // float_data or double_data, as bytes
  std::vector<int64_t> integers; // int32_data, int64_data or uint64_data
  bool external = false;
  bool segment = false;
};

bool appendVarints(bool packed, uint64_t number, Bytes bytes,
                   std::vector<int64_t> &list) {
  if (!packed) {
    list.push_back(static_cast<int64_t>(number));
    return true;
  }
  for (WireReader reader(bytes); !reader.done();) {
    if (!reader.varint(number)) {
      return false;
    }
    list.push_back(static_cast<int64_t>(number));
  }
  return true;
}

bool parseProto(Bytes bytes, Proto &proto) {
  for (WireReader reader(bytes); !reader.done();) {
    uint64_t tag;
    uint64_t number;
    Bytes payload;
    if (!reader.field(tag, number, payload)) {
      return false;
    }
    bool isBytes = (tag & 7) == 2;
    bool isVarint = (tag & 7) == 0;
    switch (tag >> 3) {
    case kDims:
      if ((!isBytes && !isVarint) ||
          !appendVarints(isBytes, number, payload, proto.dims)) {
        return false;
      }
      break;
    case kInt32s:
    case kInt64s:
    case kUint64s: // uint32 and uint64
      if ((!isBytes && !isVarint) ||
          !appendVarints(isBytes, number, payload, proto.integers)) {
        return false;
      }
      break;
    case kFloats:
    case kDoubles:
      if (isVarint) {
        return false;
      }
      proto.fixed.insert(proto.fixed.end(), payload.begin(), payload.end());
      break;
    case kType:
      proto.type = number;
      break;
    case kName:
      proto.name.assign(reinterpret_cast<const char *>(payload.data()),
                        payload.size());
      break;
    case kRaw:
      proto.raw = payload;
      break;
    case kSegment:
      proto.segment = true;
      break;
    case kLocation:
      proto.external = number != 0;
      break;
    default:
      break;
    }
  }
  return true;
}

std::optional<ElementType> elementOf(uint64_t onnxType) {
  switch (onnxType) {
  case 1:
    return ElementType::F32;
  case 2:
    return ElementType::U8;
  case 3:
    return ElementType::I8;
  case 4:
    return ElementType::U16;
  case 5:
    return ElementType::I16;
  case 6:
    return ElementType::I32;
  case 7:
    return ElementType::I64;
  case 9:
    return ElementType::Bool;
  case 10:
    return ElementType::F16;
  case 11:
    return ElementType::F64;
  case 12:
    return ElementType::U32;
  case 13:
    return ElementType::U64;
  case 16:
    return ElementType::BF16;
  default:
    return std::nullopt;
  }
}

/// The elements, whichever field holds them.
std::vector<std::byte> elements(const Proto &proto, ElementType element) {
  if (proto.raw) {
    return {proto.raw->begin(), proto.raw->end()};
  }
  if (element == ElementType::F32 || element == ElementType::F64) {
    return proto.fixed;
  }
  // Narrow types stand in int32_data, in their low bytes (little endian: the
  // first ones).
  static_assert(std::endian::native == std::endian::little);
  size_t size = schedule::elementBytes(element);
  std::vector<std::byte> bytes(proto.integers.size() * size);
  for (size_t i = 0; i < proto.integers.size(); ++i) {
    std::memcpy(bytes.data() + i * size, &proto.integers[i], size);
  }
  return bytes;
}

} // namespace

Result<HostTensor> parseOnnxTensor(Bytes bytes, const std::string &name) {
  Proto proto;
  if (!parseProto(bytes, proto)) {
    return Error{"'" + name + "' is not an ONNX tensor, or is cut off"};
  }
  std::optional<ElementType> element = elementOf(proto.type);
  if (!element) {
    return Error{format("'%s' has ONNX element type %llu, expected float, "
                        "double, float16, bfloat16, int8 to int64, "
                        "uint8 to uint64 or bool",
                        name.c_str(),
                        static_cast<unsigned long long>(proto.type))};
  }
  if (proto.external || proto.segment) {
    return Error{
        "'" + name +
        "' keeps its elements elsewhere, expected them in the file itself"};
  }
  std::vector<std::byte> data = elements(proto, *element);
  std::optional<uint64_t> count = elementCount(proto.dims);
  uint64_t size = schedule::elementBytes(*element);
  if (!count || *count > data.size() / size || *count * size != data.size()) {
    return Error{format("'%s' holds %zu bytes of elements, which is not what "
                        "its shape %s of %s takes",
                        name.c_str(), data.size(),
                        formatShape(proto.dims).c_str(),
                        elementName(*element))};
  }
  return makeHostTensor(std::move(proto.name), *element, std::move(proto.dims),
                        std::move(data));
}

Result<HostTensor> readOnnxTensor(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) {
    return file.error();
  }
  return parseOnnxTensor(file->bytes(), path);
}

} // namespace vdnn::rt
