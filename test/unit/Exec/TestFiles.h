//===- TestFiles.h - sound files in memory --------------------------------===//

#ifndef VDNN_TEST_UNIT_EXEC_TESTFILES_H
#define VDNN_TEST_UNIT_EXEC_TESTFILES_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace vdnn::test {

std::span<const std::byte> bytesOf(const std::string &text);

/// A `.npy` file of format `version` with this header dictionary and these
/// elements.
std::string npyFile(std::string dictionary, std::string_view elements,
                    int version = 1);

/// A `.safetensors` file with this header and these elements.
std::string safetensorsFile(const std::string &header,
                            std::string_view elements);

/// Fields of a protobuf message.
std::string protoVarint(int field, uint64_t value);
std::string protoBytes(int field, std::string_view bytes);

/// The bytes of a number.
template <typename T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

} // namespace vdnn::test

#endif
