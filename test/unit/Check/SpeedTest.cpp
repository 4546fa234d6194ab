//===- SpeedTest.cpp - the checker's time grows with the plan, not with its
// square --------------------------------===//

#include "Expect.h"

#include <chrono>
#include <cstdio>

using namespace vdnn::rt;
using namespace vdnn::rt::test;

namespace {

double secondsToCheck(const vdnn::schedule::ScheduleT &plan) {
  auto begin = std::chrono::steady_clock::now();
  expectAccepted(plan);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

TEST(Speed, PlanOfADeepNetwork) {
  vdnn::schedule::ScheduleT plan = deepPlan(2500);
  ASSERT_GE(plan.buffers.size(), 5000u);
  ASSERT_GE(plan.commands.size(), 12000u);
  double seconds = secondsToCheck(plan);
  std::printf("%zu commands, %zu buffers: %.1f ms\n", plan.commands.size(),
              plan.buffers.size(), 1e3 * seconds);
  // Far above what it takes, for sanitizers and busy machines; a quadratic
  // checker takes longer still.
  EXPECT_LT(seconds, 2.0);
}

TEST(Speed, ManyBuffersAtOneAddress) {
  // A hostile plan: every pair overlaps, and looking at every pair would take
  // hours.
  vdnn::schedule::ScheduleT plan = deepPlan(50000);
  EXPECT_LT(secondsToCheck(plan), 20.0);
}

} // namespace
