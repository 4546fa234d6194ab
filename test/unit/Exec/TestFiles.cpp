//===- TestFiles.cpp ------------------------------------------------------===//

#include "TestFiles.h"

namespace vdnn::test {

std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string npyFile(std::string dictionary, std::string_view elements,
                    int version) {
  dictionary += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  size_t length = dictionary.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(length >> 8 * i & 0xff);
  }
  return file + dictionary + std::string(elements);
}

std::string safetensorsFile(const std::string &header,
                            std::string_view elements) {
  return raw<uint64_t>(header.size()) + header + std::string(elements);
}

static std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7) {
    text += static_cast<char>(value | 128);
  }
  return text + static_cast<char>(value);
}

std::string protoVarint(int field, uint64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(value);
}

std::string protoBytes(int field, std::string_view bytes) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(bytes.size()) +
         std::string(bytes);
}

} // namespace vdnn::test
