//===- MutationTest.cpp - broken files ------------------------------------===//
//
// Seeded mutations of sound files: bits flipped, bytes replaced by telling
// ones, cut off, doubled. Whatever a reader accepts must lie within the file
// and have the bytes of its shape; the sanitizers of the build see the rest.
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include "runtime/exec/files/Npy.h"
#include "runtime/exec/files/OnnxTensor.h"
#include "runtime/exec/files/Safetensors.h"

#include <gtest/gtest.h>
#include <random>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

constexpr int kMutants = 20000;

std::string mutate(std::string file, std::mt19937 &random) {
  static constexpr char kTelling[] = {'\0', '\x7f', '\x80', '\xff', '0', '9',
                                      '-',  '[',    '{',    '"',    ',', ' '};
  int changes = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < changes && !file.empty(); ++i) {
    size_t at = random() % file.size();
    switch (random() % 5) {
    case 0:
      file[at] = static_cast<char>(file[at] ^ 1 << random() % 8);
      break;
    case 1:
      file[at] = kTelling[random() % sizeof(kTelling)];
      break;
    case 2:
      file.resize(at);
      break;
    case 3:
      file.insert(at, file.substr(random() % file.size(), random() % 16));
      break;
    case 4:
      file.erase(at, random() % 8);
      break;
    }
  }
  return file;
}

void expectSound(const HostTensor &tensor, const std::string &file, bool view) {
  std::optional<uint64_t> count = elementCount(tensor.shape);
  ASSERT_TRUE(count);
  ASSERT_EQ(*count * schedule::elementBytes(tensor.element),
            tensor.data.size());
  if (view && !tensor.data.empty()) {
    const auto *begin = reinterpret_cast<const std::byte *>(file.data());
    ASSERT_GE(tensor.data.data(), begin);
    ASSERT_LE(tensor.data.data() + tensor.data.size(), begin + file.size());
  }
  for (double value : toDoubles(tensor, 0, *count)) { // touches every byte
    static_cast<void>(value);
  }
}

TEST(Mutation, Npy) {
  std::mt19937 random(1);
  std::string sound =
      npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
              std::string(24, '\1'));
  int accepted = 0;
  for (int i = 0; i < kMutants; ++i) {
    std::string file = mutate(sound, random);
    Result<HostTensor> tensor = parseNpy(bytesOf(file), "mutant", nullptr);
    if (tensor.ok()) {
      ++accepted;
      expectSound(*tensor, file, true);
    }
  }
  EXPECT_GT(accepted, 0) << "mutants of the elements alone are sound";
  EXPECT_LT(accepted, kMutants);
}

TEST(Mutation, Safetensors) {
  std::mt19937 random(2);
  std::string sound = safetensorsFile(
      R"({"__metadata__":{"vdnn.step":"3"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"I64","shape":[1],"data_offsets":[24,32]}})",
      std::string(32, '\1'));
  int accepted = 0;
  for (int i = 0; i < kMutants; ++i) {
    std::string file = mutate(sound, random);
    Result<Safetensors> tensors =
        Safetensors::parse(bytesOf(file), "mutant", nullptr);
    if (tensors.ok()) {
      ++accepted;
      for (const auto &[name, tensor] : tensors->tensors()) {
        expectSound(tensor, file, true);
      }
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, kMutants);
}

// A header nested as deep as the file is long must exhaust neither the stack
// nor the reader's patience.
TEST(Mutation, SafetensorsDeepNesting) {
  for (const char *open : {"[", "{\"a\":"}) {
    std::string header;
    for (int i = 0; i < 1000000; ++i) {
      header += open;
    }
    std::string file = safetensorsFile(header, "");
    EXPECT_FALSE(Safetensors::parse(bytesOf(file), "deep", nullptr).ok());
  }
}

TEST(Mutation, OnnxTensor) {
  std::mt19937 random(3);
  std::string sound = protoVarint(1, 2) + protoVarint(1, 3) +
                      protoVarint(2, 1) + protoBytes(8, "input") +
                      protoBytes(9, std::string(24, '\1')) +
                      protoBytes(7, "\x01\x02\x03");
  int accepted = 0;
  for (int i = 0; i < kMutants; ++i) {
    std::string file = mutate(sound, random);
    Result<HostTensor> tensor = parseOnnxTensor(bytesOf(file), "mutant");
    if (tensor.ok()) {
      ++accepted;
      expectSound(*tensor, file, false);
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, kMutants);
}

} // namespace
