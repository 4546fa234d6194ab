//===- NpyTest.cpp --------------------------------------------------------===//

#include "TestFiles.h"

#include "runtime/exec/files/Npy.h"

#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

Result<HostTensor> parse(const std::string &file) {
  return parseNpy(bytesOf(file), "a.npy", nullptr);
}

TEST(Npy, ReadsWhatNumpyWrites) {
  std::string elements = raw(1.5f) + raw(-2.0f);
  for (int version : {1, 2, 3}) {
    std::string file =
        npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }",
                elements, version);
    Result<HostTensor> tensor = parse(file);
    ASSERT_TRUE(tensor.ok()) << tensor.message();
    EXPECT_EQ(tensor->element, schedule::ElementType::F32);
    EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(toDoubles(*tensor, 0, 2), (std::vector<double>{1.5, -2}));
  }
}

TEST(Npy, ScalarsVectorsAndEmptyArrays) {
  std::string scalar =
      npyFile("{'descr': '<i8', 'fortran_order': False, 'shape': ()}",
              raw(int64_t{-7}));
  EXPECT_EQ(toDoubles(*parse(scalar), 0, 1), (std::vector<double>{-7}));
  std::string vector = npyFile(
      "{'shape': (3,), 'fortran_order': True, 'descr': '|u1'}", "\x01\x02\xff");
  EXPECT_EQ(toDoubles(*parse(vector), 0, 3), (std::vector<double>{1, 2, 255}));
  std::string empty = npyFile("{'descr': '|b1', 'fortran_order': False, "
                              "'shape': (0, 9223372036854775807), }",
                              "");
  EXPECT_TRUE(parse(empty).ok());
}

TEST(Npy, HeaderRoundTrip) {
  for (auto element : {schedule::ElementType::F32, schedule::ElementType::I64,
                       schedule::ElementType::Bool}) {
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, {2}, {2, 3, 1}}) {
      Result<std::string> header = npyHeader(element, shape);
      ASSERT_TRUE(header.ok());
      EXPECT_EQ(header->size() % 64, 0u);
      std::string file =
          *header +
          std::string(*elementCount(shape) * schedule::elementBytes(element),
                      '\1');
      Result<HostTensor> tensor = parse(file);
      ASSERT_TRUE(tensor.ok()) << tensor.message();
      EXPECT_EQ(tensor->shape, shape);
      EXPECT_EQ(tensor->element, element);
    }
  }
  EXPECT_FALSE(
      npyHeader(schedule::ElementType::BF16, std::vector<int64_t>{}).ok());
}

TEST(Npy, RefusesWithTheReason) {
  struct Case {
    std::string file;
    const char *reason;
  };
  std::string eight(8, '\0');
  const Case cases[] = {
      {"", "not a .npy file"},
      {std::string("\x93NUMPY"), "not a .npy file"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
               eight, 9),
       "version 9"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
               eight)
           .substr(0, 40),
       "cut off"},
      {npyFile("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }",
               eight),
       "'>f4'"},
      {npyFile("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }",
               eight),
       "ascontiguousarray"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
               eight),
       "too few"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': "
               "(4611686018427387904, 4), }",
               eight),
       "too few"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': "
               "(99999999999999999999,), }",
               eight),
       "header"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
               eight),
       "header"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, }", eight), "header"},
      {npyFile("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
               "'shape': (2,), }",
               eight),
       "header"},
      {npyFile(
           "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
           eight),
       "header"},
      {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } more",
               eight),
       "header"},
  };
  for (const Case &c : cases) {
    Result<HostTensor> tensor = parse(c.file);
    ASSERT_FALSE(tensor.ok()) << c.reason;
    EXPECT_NE(tensor.message().find(c.reason), std::string::npos)
        << tensor.message();
  }
}

} // namespace
