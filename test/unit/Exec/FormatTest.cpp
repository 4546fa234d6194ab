//===- FormatTest.cpp -----------------------------------------------------===//

#include "runtime/support/Format.h"

#include <gtest/gtest.h>
#include <vector>

using namespace vdnn::rt;

TEST(Format, Bytes) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
  EXPECT_EQ(formatBytes(uint64_t{6} << 30), "6.00 GiB");
  EXPECT_EQ(formatBytes((uint64_t{1} << 30) - 1), "1.00 GiB");
  EXPECT_EQ(formatBytes(UINT64_MAX), "16.00 EiB");
}

TEST(Format, Durations) {
  EXPECT_EQ(formatDuration(0), "0 ns");
  EXPECT_EQ(formatDuration(12300), "12.3 us");
  EXPECT_EQ(formatDuration(41000000), "41 ms");
  EXPECT_EQ(formatDuration(2500000000), "2.5 s");
  EXPECT_EQ(formatDuration(200000000000), "3 min 20 s");
  EXPECT_EQ(formatDuration(7380000000000), "2 h 3 min");
}

TEST(Format, Shapes) {
  EXPECT_EQ(formatShape(std::vector<int64_t>{}), "[]");
  EXPECT_EQ(formatShape(std::vector<int64_t>{8, 3}), "[8, 3]");
}
