//===- LayoutTest.cpp - row major and back; conversions of elements -------===//

#include "runtime/exec/Layout.h"
#include "runtime/exec/files/HostTensor.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace vdnn;
using namespace vdnn::rt;
using schedule::ElementType;

namespace {

schedule::TypeT makeType(std::vector<int64_t> shape, schedule::Layout layout,
                         ElementType element = ElementType::I16) {
  schedule::TypeT type;
  type.shape = std::move(shape);
  type.layout = layout;
  type.element = element;
  return type;
}

std::vector<int16_t>
apply(void (*function)(const schedule::TypeT &, std::span<const std::byte>,
                       std::span<std::byte>),
      const schedule::TypeT &type, const std::vector<int16_t> &source) {
  std::vector<int16_t> destination(source.size());
  function(type, std::as_bytes(std::span(source)),
           std::as_writable_bytes(std::span(destination)));
  return destination;
}

TEST(Layout, ChannelsLastPutsChannelsInnermost) {
  schedule::TypeT type = makeType({1, 2, 1, 3}, schedule::Layout::ChannelsLast);
  EXPECT_EQ(apply(fromRowMajor, type, {0, 1, 2, 10, 11, 12}),
            (std::vector<int16_t>{0, 10, 1, 11, 2, 12}));
  EXPECT_EQ(apply(toRowMajor, type, {0, 10, 1, 11, 2, 12}),
            (std::vector<int16_t>{0, 1, 2, 10, 11, 12}));
}

TEST(Layout, RoundTrips) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{3, 4, 5},
                                     {2, 3, 4, 5},
                                     {2, 3, 2, 2, 2},
                                     {3, 1, 4},
                                     {0, 3, 2}}) {
    schedule::TypeT type = makeType(shape, schedule::Layout::ChannelsLast);
    std::vector<int16_t> values(*elementCount(shape));
    std::iota(values.begin(), values.end(), 0);
    EXPECT_EQ(apply(toRowMajor, type, apply(fromRowMajor, type, values)),
              values);
  }
}

TEST(Layout, RowMajorAndLowRanksStayAsTheyAre) {
  std::vector<int16_t> values = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(apply(fromRowMajor, makeType({1, 2, 3}, schedule::Layout::RowMajor),
                  values),
            values);
  EXPECT_EQ(apply(fromRowMajor,
                  makeType({2, 3}, schedule::Layout::ChannelsLast), values),
            values);
}

TEST(Convert, ExactlyWhereEveryValueSurvives) {
  EXPECT_TRUE(convertsExactly(ElementType::U8, ElementType::F32));
  EXPECT_TRUE(convertsExactly(ElementType::U8, ElementType::BF16));
  EXPECT_TRUE(convertsExactly(ElementType::I32, ElementType::I64));
  EXPECT_TRUE(convertsExactly(ElementType::I32, ElementType::F64));
  EXPECT_TRUE(convertsExactly(ElementType::BF16, ElementType::F32));
  EXPECT_TRUE(convertsExactly(ElementType::Bool, ElementType::I8));
  EXPECT_FALSE(convertsExactly(ElementType::I32, ElementType::F32));
  EXPECT_FALSE(convertsExactly(ElementType::I64, ElementType::I32));
  EXPECT_FALSE(convertsExactly(ElementType::F64, ElementType::F32));
  EXPECT_FALSE(convertsExactly(ElementType::F16, ElementType::BF16));
  EXPECT_FALSE(convertsExactly(ElementType::BF16, ElementType::F16));
  EXPECT_FALSE(convertsExactly(ElementType::I8, ElementType::U8));
  EXPECT_FALSE(convertsExactly(ElementType::U8, ElementType::I8));
  EXPECT_FALSE(convertsExactly(ElementType::I16, ElementType::F16));
  EXPECT_FALSE(convertsExactly(ElementType::F32, ElementType::I64));
  EXPECT_FALSE(convertsExactly(ElementType::U8, ElementType::Bool));
}

// Extreme values of every pair of types that converts.
TEST(Convert, KeepsExtremes) {
  constexpr ElementType kAll[] = {
      ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::F64,
      ElementType::I64, ElementType::I32, ElementType::I16,  ElementType::I8,
      ElementType::U8,  ElementType::Bool};
  for (ElementType from : kAll) {
    size_t size = schedule::elementBytes(from);
    std::vector<std::byte> source(3 * size, std::byte{0});
    source[size] = std::byte{1};
    source[3 * size - 1] = from == ElementType::Bool
                               ? std::byte{1}
                               : std::byte{0x47}; // a large value
    for (ElementType to : kAll) {
      if (!convertsExactly(from, to)) {
        continue;
      }
      std::vector<std::byte> result(3 * schedule::elementBytes(to));
      convert(source, from, result, to);
      EXPECT_EQ(toDoubles(makeHostTensor("", to, {3}, result), 0, 3),
                toDoubles(makeHostTensor("", from, {3}, source), 0, 3))
          << elementName(from) << " to " << elementName(to);
    }
  }
}

} // namespace
