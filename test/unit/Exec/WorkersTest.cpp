//===- WorkersTest.cpp - shared loops and copies past the caches ----------===//

#include "runtime/support/Workers.h"
#include "runtime/support/StreamCopy.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace vdnn::rt;

namespace {

TEST(Workers, EachItemOfEachLoopIsDoneOnce) {
  for (unsigned threads : {1u, 2u, 5u}) {
    Workers workers(threads);
    for (uint64_t count = 0; count < 300; ++count) {
      std::vector<int> done(count);
      workers.run(count, [&](uint64_t i) { ++done[i]; });
      EXPECT_EQ(done, std::vector<int>(count, 1)) << threads;
    }
  }
}

// Every item waits for the others, so one thread alone would never end.
TEST(Workers, ItemsRunBesideEachOtherInTheSameThreads) {
  Workers workers(3);
  std::set<std::thread::id> ids;
  std::mutex mutex;
  for (int loop = 1; loop <= 20; ++loop) {
    std::atomic<int> here = 0;
    workers.run(3, [&](uint64_t) {
      for (++here; here < 3;) {
        std::this_thread::yield();
      }
      std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids.count(std::this_thread::get_id()), 1u);
}

TEST(Workers, CountsAtLeastOneCore) { EXPECT_GE(usableCores(), 1u); }

TEST(StreamCopy, CopiesEveryByteAndNoMore) {
  std::vector<std::byte> source(1024);
  for (size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>(i % 255 + 1);
  }
  for (size_t from : {0, 1, 16}) {
    for (size_t to = 0; to < 70; to += 3) {
      for (size_t bytes = 0; bytes < 400; bytes += bytes < 200 ? 1 : 13) {
        std::vector<std::byte> copied(1024), expected(1024);
        streamCopy(&copied[to], &source[from], bytes);
        std::memcpy(&expected[to], &source[from], bytes);
        ASSERT_EQ(copied, expected) << from << " " << to << " " << bytes;
      }
    }
  }
}

} // namespace
