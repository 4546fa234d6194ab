//===- GridTest.cpp - how the kernels of our own share their work ---------===//

#include "runtime/backend/cuda/kernels/BatchNorm.h"
#include "runtime/backend/cuda/kernels/FastDivide.h"
#include "runtime/backend/cuda/kernels/Reduce.h"
#include "runtime/backend/cuda/kernels/StridedCopy.h"

#include <gtest/gtest.h>

namespace vdnn::rt::cuda {

TEST(FastDivideTest, EveryKindOfDivisor) {
  constexpr uint32_t kMost = (uint32_t{1} << 31) - 1;
  for (uint32_t divisor :
       {1u, 2u, 3u, 5u, 7u, 64u, 100u, 641u, 65535u, 65536u, 65537u,
        (1u << 30) - 1, 1u << 30, (1u << 30) + 1, kMost - 1, kMost}) {
    FastDivide divide(divisor);
    for (uint32_t quotient :
         {0u, 1u, 2u, 77u, kMost / divisor / 2, kMost / divisor}) {
      uint32_t low = quotient * divisor;
      for (uint32_t number : {low, low + divisor / 2, low + divisor - 1}) {
        if (number / divisor == quotient && number <= kMost) {
          EXPECT_EQ(divide.divide(number), quotient)
              << number << " / " << divisor;
        }
      }
    }
  }
}

TEST(NormGridTest, ChunksCoverAllRows) {
  for (int64_t rows : {1, 8, 33, 1000, 12544, 3211264}) {
    for (int64_t channels : {1, 3, 10, 64, 96, 2048, 100000}) {
      for (Storage storage : {Storage::F32, Storage::BF16}) {
        NormGrid g = NormGrid::of(rows, channels, storage);
        EXPECT_EQ(g.threadsX * g.threadsY, 256);
        EXPECT_GE(g.chunks * g.chunkRows, rows);
        EXPECT_LT((g.chunks - 1) * g.chunkRows, rows);
        EXPECT_GE(int64_t{g.blocksX} * g.threadsX * g.width, channels);
        EXPECT_EQ(channels % g.width, 0);
        // At most one wave, as far as chunks decide it.
        EXPECT_TRUE(g.chunks == 1 ||
                    g.chunks * int64_t{g.blocksX} <= kWaveBlocks);
      }
    }
  }
}

TEST(NormGridTest, WidestVectorsThatDivideTheChannels) {
  auto width = [](int64_t channels, Storage storage) {
    return NormGrid::of(1000, channels, storage).width;
  };
  EXPECT_EQ(width(64, Storage::BF16), 8);
  EXPECT_EQ(width(12, Storage::BF16), 4);
  EXPECT_EQ(width(6, Storage::BF16), 1);
  EXPECT_EQ(width(64, Storage::F32), 4);
  EXPECT_EQ(width(7, Storage::F32), 1);
}

TEST(ReduceGridTest, FewResultsAreReducedInChunks) {
  // A bias gradient, channels last.
  ReduceGrid columns = ReduceGrid::of({{802816, true}, {64, false}}, 4, true);
  EXPECT_FALSE(columns.innerReduced);
  EXPECT_EQ(columns.width, 4);
  EXPECT_EQ(columns.results(), 64);
  EXPECT_GT(columns.chunks, 256);
  // All elements.
  ReduceGrid all = ReduceGrid::of({{int64_t{1} << 26, true}}, 4, true);
  EXPECT_TRUE(all.innerReduced);
  EXPECT_EQ(all.results(), 1);
  EXPECT_EQ(all.threadsReduced, 256);
  EXPECT_GT(all.chunks, 256);
  // Many results need no chunks.
  ReduceGrid rows = ReduceGrid::of({{100000, false}, {1000, true}}, 4, true);
  EXPECT_EQ(rows.chunks, 1);
  EXPECT_EQ(rows.results(), 100000);
  // Of bf16: eight, four or one at once.
  for (auto [columns, width] : {std::pair(1000, 8), {12, 4}, {7, 1}}) {
    ReduceGrid g = ReduceGrid::of({{5000, true}, {columns, false}}, 8, true);
    EXPECT_EQ(g.width, width);
    EXPECT_EQ(g.results(), columns);
  }
  // A scalar.
  EXPECT_EQ(ReduceGrid::of({}, 4, true).results(), 1);
}

TEST(StridedCopyTest, ContiguousRowsMoveInWideUnits) {
  // 24 of 64 channels of 49 pixels.
  StridedCopy aligned({{49, 64, 24}, {24, 1, 1}}, 4, 64);
  EXPECT_EQ(aligned.method(), StridedCopy::Method::Units);
  EXPECT_EQ(aligned.unitBytes(), 16);
  // From channel 1 on.
  EXPECT_EQ(StridedCopy({{49, 64, 24}, {24, 1, 1}}, 4, 4).unitBytes(), 4);
  // An odd number of bytes.
  EXPECT_EQ(StridedCopy({{7, 9, 5}, {5, 1, 1}}, 1, 64).unitBytes(), 1);
  // Neighbours that are contiguous on both sides become one.
  StridedCopy whole({{4, 60, 60}, {6, 10, 10}, {10, 1, 1}}, 2, 64);
  EXPECT_EQ(whole.dims().count, 1);
  EXPECT_EQ(whole.unitBytes(), 16);
}

TEST(StridedCopyTest, WideTranspositionsTakeTiles) {
  // N x C x HW to N x HW x C.
  StridedCopy wide({{8, 6272, 6272}, {128, 49, 1}, {49, 1, 128}}, 4, 64);
  EXPECT_EQ(wide.method(), StridedCopy::Method::Tiles);
  EXPECT_EQ(wide.dims().count, 1);
  // Three channels are not worth it.
  StridedCopy narrow({{8, 147, 147}, {3, 49, 1}, {49, 1, 3}}, 4, 64);
  EXPECT_EQ(narrow.method(), StridedCopy::Method::Units);
  StridedCopy empty({{0, 1, 1}}, 4, 64);
  EXPECT_EQ(empty.method(), StridedCopy::Method::Empty);
}

TEST(StridedCopyTest, AFewPlanesAreInterleaved) {
  using Method = StridedCopy::Method;
  // N x C x HW to N x HW x C; a thread takes eight bf16 of each plane.
  StridedCopy colours({{8, 144, 144}, {3, 48, 1}, {48, 1, 3}}, 2, 64);
  EXPECT_EQ(colours.method(), Method::Planes);
  ASSERT_EQ(colours.dims().count, 2);
  EXPECT_EQ(colours.dims().dims[1].size, 6);
  EXPECT_EQ(colours.dims().dims[1].from, 8);
  EXPECT_EQ(colours.dims().dims[1].to, 24);
  // Planes that are no multiple of 16 bytes, more planes, views that begin
  // anywhere, rows with gaps.
  EXPECT_EQ(StridedCopy({{3, 49, 1}, {49, 1, 3}}, 2, 64).method(),
            Method::Units);
  EXPECT_EQ(StridedCopy({{5, 48, 1}, {48, 1, 5}}, 2, 64).method(),
            Method::Units);
  EXPECT_EQ(StridedCopy({{3, 48, 1}, {48, 1, 3}}, 2, 8).method(),
            Method::Units);
  EXPECT_EQ(StridedCopy({{3, 48, 1}, {48, 1, 4}}, 2, 64).method(),
            Method::Units);
  EXPECT_EQ(
      StridedCopy({{8, 140, 144}, {3, 48, 1}, {40, 1, 3}}, 2, 64).method(),
      Method::Units);
}

} // namespace vdnn::rt::cuda
