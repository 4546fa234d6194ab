//===- OnnxTensorTest.cpp -------------------------------------------------===//

#include "TestFiles.h"

#include "runtime/exec/files/OnnxTensor.h"

#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

enum : int {
  kDims = 1,
  kType = 2,
  kFloats = 4,
  kInt32s = 5,
  kInt64s = 7,
  kName = 8,
  kRaw = 9,
  kDoubles = 10,
  kLocation = 14
};

Result<HostTensor> parse(const std::string &file) {
  return parseOnnxTensor(bytesOf(file), "a.pb");
}

TEST(OnnxTensor, RawData) {
  std::string file = protoVarint(kDims, 2) + protoVarint(kDims, 1) +
                     protoVarint(kType, 1) + protoBytes(kName, "x") +
                     protoBytes(kRaw, raw(1.5f) + raw(-1.0f));
  Result<HostTensor> tensor = parse(file);
  ASSERT_TRUE(tensor.ok()) << tensor.message();
  EXPECT_EQ(tensor->name, "x");
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(toDoubles(*tensor, 0, 2), (std::vector<double>{1.5, -1}));
}

TEST(OnnxTensor, TypedDataPackedAndNot) {
  std::string packed = protoBytes(kDims, "\x02") + protoVarint(kType, 1) +
                       protoBytes(kFloats, raw(1.5f) + raw(2.5f));
  EXPECT_EQ(toDoubles(*parse(packed), 0, 2), (std::vector<double>{1.5, 2.5}));
  std::string unpacked = protoVarint(kDims, 2) + protoVarint(kType, 1) +
                         std::string(1, kFloats << 3 | 5) + raw(1.5f) +
                         std::string(1, kFloats << 3 | 5) + raw(2.5f);
  EXPECT_EQ(toDoubles(*parse(unpacked), 0, 2), (std::vector<double>{1.5, 2.5}));
  std::string int64s = protoVarint(kDims, 2) + protoVarint(kType, 7) +
                       protoVarint(kInt64s, 3) +
                       protoVarint(kInt64s, static_cast<uint64_t>(-4));
  EXPECT_EQ(toDoubles(*parse(int64s), 0, 2), (std::vector<double>{3, -4}));
  std::string bytes = protoVarint(kDims, 3) + protoVarint(kType, 2) +
                      protoBytes(kInt32s, "\x01\x02\x7f");
  EXPECT_EQ(toDoubles(*parse(bytes), 0, 3), (std::vector<double>{1, 2, 127}));
  std::string negative = protoVarint(kDims, 1) + protoVarint(kType, 3) +
                         protoVarint(kInt32s, static_cast<uint64_t>(-5));
  EXPECT_EQ(toDoubles(*parse(negative), 0, 1), (std::vector<double>{-5}));
  std::string half = protoVarint(kDims, 1) + protoVarint(kType, 10) +
                     protoVarint(kInt32s, 0x3e00);
  EXPECT_EQ(toDoubles(*parse(half), 0, 1), (std::vector<double>{1.5}));
  std::string scalar = protoVarint(kType, 11) + protoBytes(kDoubles, raw(0.1));
  EXPECT_EQ(toDoubles(*parse(scalar), 0, 1), (std::vector<double>{0.1}));
  std::string empty = protoVarint(kDims, 0) + protoVarint(kType, 1);
  EXPECT_TRUE(parse(empty).ok());
}

TEST(OnnxTensor, RefusesWithTheReason) {
  struct Case {
    std::string file;
    const char *reason;
  };
  std::string dims = protoVarint(kDims, 2) + protoVarint(kType, 1);
  const Case cases[] = {
      {"", "element type 0"},
      {protoVarint(kType, 8), "element type 8"},
      {dims, "0 bytes"},
      {dims + protoBytes(kRaw, "1234567"), "7 bytes"},
      {dims + protoBytes(kRaw, "123456789"), "9 bytes"},
      {protoVarint(kDims, uint64_t{1} << 63) + protoVarint(kType, 1),
       "bytes of elements"},
      {protoVarint(kDims, uint64_t{1} << 61) + protoVarint(kDims, 8) +
           protoVarint(kType, 1),
       "bytes of elements"},
      {dims + protoVarint(kLocation, 1), "elsewhere"},
      {dims + std::string("\x4a\xff\xff\xff\xff\x0f", 6), "cut off"},
      {std::string(12, '\xff'), "cut off"},
      {std::string("\x0b", 1), "cut off"}, // a group
  };
  for (const Case &c : cases) {
    Result<HostTensor> tensor = parse(c.file);
    ASSERT_FALSE(tensor.ok()) << c.reason;
    EXPECT_NE(tensor.message().find(c.reason), std::string::npos)
        << tensor.message();
  }
}

} // namespace
