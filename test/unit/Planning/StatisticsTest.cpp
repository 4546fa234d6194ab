//===- StatisticsTest.cpp - predictions agree with counting by hand -------===//

#include "RandomProblems.h"
#include "Vgg.h"

#include "vdnn/Planning/Policy.h"
#include "vdnn/Planning/Statistics.h"

#include <gtest/gtest.h>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

/// a (10 B) -> b (20 B) -> c (output, 30 B); one op takes 100 ns, a byte on the
/// link 1 ns.
Problem chain() {
  Problem problem;
  problem.alignment = 1;
  problem.link = {1e9, 1e9, 1.0, 0};
  problem.tensors = {{"a", 10, TensorKind::Input, false, false, {}},
                     {"b", 20, TensorKind::Activation, false, false, {}},
                     {"c", 30, TensorKind::Output, false, true, {}}};
  problem.ops = {
      {"f", OpClass::Other, Phase::Forward, 0, {0}, {1}, {}, {{"", 5, 100}}},
      {"g", OpClass::Other, Phase::Forward, 1, {1}, {2}, {}, {{"", 0, 100}}}};
  return problem;
}

TEST(Statistics, CountsAChainByHand) {
  Problem problem = chain();
  Program program =
      buildProgram(problem, findPolicy("none")->plan(problem, {}));
  Statistics statistics = measure(problem, program);
  // In, f, g, out.
  EXPECT_EQ(statistics.stepNs, 10 + 100 + 100 + 30);
  EXPECT_EQ(statistics.computeNs, 200);
  EXPECT_EQ(statistics.stallNs, 40);
  EXPECT_EQ(statistics.copyNs, 40);
  EXPECT_EQ(statistics.hiddenShare, 0);
  EXPECT_EQ(statistics.copiedToHostBytes, 30u);
  EXPECT_EQ(statistics.copiedToDeviceBytes, 10u);
  EXPECT_EQ(statistics.offloadedBytes, 0u);
  EXPECT_EQ(statistics.prefetchedBytes, 0u);
  // 35 B (a, b, workspace) until g starts at 110 ns, then 50 B (b, c).
  EXPECT_EQ(statistics.peakLiveBytes, 50u);
  EXPECT_EQ(statistics.peakOp, 1u);
  EXPECT_EQ(statistics.averageDeviceBytes, (110u * 35 + 130u * 50) / 240);
  ASSERT_EQ(statistics.peakMakers.size(), 2u);
  EXPECT_EQ(statistics.peakMakers[0].name, "c");
  EXPECT_EQ(statistics.peakMakers[1].name, "b");
}

TEST(Statistics, CountsAStagedInputByHand) {
  Problem problem = chain();
  problem.tensors[0].staged = true;
  Program program =
      buildProgram(problem, findPolicy("none")->plan(problem, {}));
  Statistics statistics = measure(problem, program);
  // f, g, out; the copy in runs beside g.
  EXPECT_EQ(statistics.stepNs, 100 + 100 + 30);
  EXPECT_EQ(statistics.copyNs, 40);
  EXPECT_EQ(statistics.copiedToDeviceBytes, 10u);
  EXPECT_EQ(statistics.prefetchedBytes, 0u);
  // a stays to the end, but only once.
  EXPECT_EQ(statistics.peakLiveBytes, 60u);
}

TEST(Statistics, CountsTransfers) {
  Problem problem = vgg16(8);
  uint64_t image = problem.tensors[findTensor(problem, "image")].bytes;
  Solution solution = findPolicy("all")->plan(problem, {});
  Statistics statistics = measure(problem, buildProgram(problem, solution));
  uint64_t moved = 0;
  for (const Transfer &transfer : solution.transfers) {
    moved += problem.tensors[transfer.tensor].bytes;
  }
  EXPECT_EQ(statistics.prefetchedBytes, moved);
  EXPECT_EQ(statistics.offloadedBytes, moved - image);
}

TEST(Statistics, PeakIsTheLowerBoundOfThePacking) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Problem problem = randomProblem(seed, 12);
    Program program = buildProgram(problem, randomSolution(problem, seed));
    Statistics statistics = measure(problem, program);
    EXPECT_GE(statistics.peakLiveBytes, program.deviceLowerBound);
    EXPECT_LT(statistics.peakLiveBytes,
              program.deviceLowerBound + problem.alignment);
    EXPECT_LE(statistics.averageDeviceBytes, statistics.peakLiveBytes);
    EXPECT_GE(statistics.stepNs, statistics.computeNs);
    EXPECT_LE(program.deviceLowerBound, smallestBudget(program));
  }
}

TEST(Statistics, EmptyProblem) {
  Problem problem;
  Solution solution = findPolicy("none")->plan(problem, {});
  Statistics statistics = measure(problem, buildProgram(problem, solution));
  EXPECT_EQ(statistics.stepNs, 0);
  EXPECT_EQ(statistics.peakLiveBytes, 0u);
}

} // namespace
