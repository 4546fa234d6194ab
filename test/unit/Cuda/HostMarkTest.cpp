//===- HostMarkTest.cpp - points of a stream that the host waits for ------===//

#include "runtime/backend/cuda/HostMark.h"

#include <gtest/gtest.h>
#include <thread>

using namespace vdnn::rt::cuda;
using namespace std::chrono_literals;

namespace {

TEST(HostMark, WaitsForEveryPassThatIsQueued) {
  HostMark mark;
  EXPECT_TRUE(mark.waitFor(0ms));
  mark.queue(/*capturing=*/false);
  mark.queue(/*capturing=*/false);
  HostMark::reach(&mark);
  EXPECT_FALSE(mark.waitFor(1ms));
  std::thread stream([&] { HostMark::reach(&mark); });
  EXPECT_TRUE(mark.waitFor(10s));
  stream.join();
}

TEST(HostMark, ACaptureQueuesNothingAndAReplayItsPasses) {
  HostMark mark;
  mark.queue(/*capturing=*/true);
  mark.beginCapture(); // another one, instead
  mark.queue(/*capturing=*/true);
  EXPECT_TRUE(mark.waitFor(0ms));
  for (int replay = 0; replay < 2; ++replay) {
    mark.replay();
    EXPECT_FALSE(mark.waitFor(1ms));
    HostMark::reach(&mark);
    EXPECT_TRUE(mark.waitFor(0ms));
  }
}

} // namespace
