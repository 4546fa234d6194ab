//===- Npy.cpp ------------------------------------------------------------===//
//
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/files/Npy.h"

#include "runtime/support/Format.h"
#include "runtime/support/MappedFile.h"

#include <algorithm>
#include <string_view>

namespace vdnn::rt {

using schedule::ElementType;

namespace {

struct NamedType {
  std::string_view descr;
  ElementType element;
};

constexpr NamedType kTypes[] = {
    {"<f4", ElementType::F32}, {"<f8", ElementType::F64},
    {"<f2", ElementType::F16}, {"<i8", ElementType::I64},
    {"<i4", ElementType::I32}, {"<i2", ElementType::I16},
    {"|i1", ElementType::I8},  {"|u1", ElementType::U8},
    {"<u2", ElementType::U16}, {"<u4", ElementType::U32},
    {"<u8", ElementType::U64}, {"|b1", ElementType::Bool}};

/// The header is a Python dictionary with three keys, as `repr` prints it.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  /// False where the text is not such a dictionary.
  bool parse() {
    if (!take('{')) {
      return false;
    }
    while (!take('}')) {
      std::string_view key;
      if (!quoted(key) || !take(':') || !value(key)) {
        return false;
      }
      if (!take(',')) {
        if (!take('}')) {
          return false;
        }
        break;
      }
    }
    skip();
    return text_.empty() && seen_ == 7;
  }

  std::string_view descr;
  bool fortran = false;
  std::vector<int64_t> shape;

private:
  void skip() {
    while (!text_.empty() &&
           (text_[0] == ' ' || text_[0] == '\n' || text_[0] == '\t')) {
      text_.remove_prefix(1);
    }
  }

  bool take(char c) {
    skip();
    if (text_.empty() || text_[0] != c) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  bool takeWord(std::string_view word) {
    skip();
    if (!text_.starts_with(word)) {
      return false;
    }
    text_.remove_prefix(word.size());
    return true;
  }

  bool quoted(std::string_view &result) {
    skip();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) {
      return false;
    }
    size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) {
      return false;
    }
    result = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }

  bool value(std::string_view key) {
    if (key == "descr") {
      return mark(1) && quoted(descr);
    }
    if (key == "fortran_order") {
      fortran = takeWord("True");
      return mark(2) && (fortran || takeWord("False"));
    }
    return key == "shape" && mark(4) && tuple();
  }

  bool mark(int bit) { return !(std::exchange(seen_, seen_ | bit) & bit); }

  bool tuple() {
    if (!take('(')) {
      return false;
    }
    while (!take(')')) {
      int64_t number = 0;
      skip();
      size_t digits = 0;
      for (; digits < text_.size() && text_[digits] >= '0' &&
             text_[digits] <= '9';
           ++digits) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text_[digits] - '0', &number)) {
          return false;
        }
      }
      if (digits == 0) {
        return false;
      }
      text_.remove_prefix(digits);
      shape.push_back(number);
      if (!take(',')) {
        return take(')');
      }
    }
    return true;
  }

  std::string_view text_;
  int seen_ = 0;
};

uint32_t littleEndian(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | std::to_integer<uint32_t>(bytes[i]);
  }
  return value;
}

} // namespace

Result<HostTensor> parseNpy(std::span<const std::byte> bytes,
                            const std::string &name,
                            std::shared_ptr<const void> owner) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  if (!text.starts_with("\x93NUMPY") || text.size() < 12) {
    return Error{"'" + name + "' is not a .npy file"};
  }
  int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) {
    return Error{format("'%s' has .npy format version %d, expected 1 to 3",
                        name.c_str(), version)};
  }
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t start = 8 + lengthBytes;
  size_t length = littleEndian(bytes.subspan(8, lengthBytes));
  if (length > text.size() - start) {
    return Error{"'" + name + "' is cut off within its header"};
  }
  HeaderParser header(text.substr(start, length));
  if (!header.parse()) {
    return Error{"'" + name + "' has a header that is not a .npy header"};
  }
  const auto *type = std::find_if(
      std::begin(kTypes), std::end(kTypes),
      [&](const NamedType &type) { return type.descr == header.descr; });
  if (type == std::end(kTypes)) {
    return Error{"'" + name + "' has elements of type '" +
                 std::string(header.descr) +
                 "', expected <f4, <f8, <f2, <i8, <i4, <i2, |i1, |u1 or |b1: "
                 "convert it with numpy's astype"};
  }
  if (header.fortran && header.shape.size() > 1) {
    return Error{"'" + name +
                 "' is in Fortran order, expected C order: save "
                 "numpy.ascontiguousarray(a)"};
  }
  std::span<const std::byte> data = bytes.subspan(start + length);
  std::optional<uint64_t> count = elementCount(header.shape);
  uint64_t size = schedule::elementBytes(type->element);
  if (!count || *count > data.size() / size) {
    return Error{
        format("'%s' holds %zu bytes of elements, too few for its shape %s",
               name.c_str(), data.size(), formatShape(header.shape).c_str())};
  }
  HostTensor tensor;
  tensor.name = name;
  tensor.element = type->element;
  tensor.shape = std::move(header.shape);
  tensor.data = data.first(*count * size);
  tensor.owner = std::move(owner);
  return tensor;
}

Result<HostTensor> readNpy(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) {
    return file.error();
  }
  return parseNpy(file->bytes(), path, file->owner());
}

Result<std::string> npyHeader(ElementType element,
                              std::span<const int64_t> shape) {
  const auto *type = std::find_if(
      std::begin(kTypes), std::end(kTypes),
      [&](const NamedType &type) { return type.element == element; });
  if (type == std::end(kTypes)) {
    return Error{std::string("numpy has no type for elements of ") +
                 elementName(element)};
  }
  std::string dictionary = "{'descr': '" + std::string(type->descr) +
                           "', 'fortran_order': False, 'shape': (";
  for (int64_t dimension : shape) {
    dictionary += std::to_string(dimension) + ", ";
  }
  dictionary += "), }";
  // The elements begin at a multiple of 64, the header ends in a line feed.
  size_t total = (10 + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.resize(total - 11, ' ');
  dictionary += '\n';
  std::string header = "\x93NUMPY";
  header += std::string("\x01\x00", 2);
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

} // namespace vdnn::rt
