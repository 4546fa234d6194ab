//===- PaperAccountingTest.cpp - the vDNN paper's byte counts -------------===//

#include "Vgg.h"

#include "vdnn/Planning/PaperAccounting.h"
#include "vdnn/Planning/Policy.h"
#include "vdnn/Planning/Statistics.h"

#include <gtest/gtest.h>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

constexpr double GiB = 1 << 30;

struct Row {
  uint32_t batch;
  uint32_t extra;
  double maps, weights, baseline, offloadAll, offloadConv;
};

/// Arithmetic on the layer shapes, fp32, ReLU in place, without workspaces.
TEST(PaperAccounting, TableOfVggNetworks) {
  constexpr Row Rows[] = {
      {32, 0, 1.82, 0.52, 3.6, 1.81, 1.08},
      {64, 0, 3.63, 0.52, 6.2, 3.62, 2.17},
      {128, 0, 7.26, 0.52, 11.4, 7.25, 4.33},
      {256, 0, 14.5, 0.52, 21.7, 14.5, 8.66},
      {32, 20, 16.4, 0.92, 19.0, 16.4, 15.7},
      {32, 40, 31.0, 1.33, 34.4, 31.0, 30.3},
      {32, 60, 45.6, 1.74, 49.9, 45.6, 44.9},
      {32, 80, 60.2, 2.15, 65.3, 60.2, 59.5},
  };
  for (const Row &row : Rows) {
    PaperAccounting a = accountAsInPaper(vgg16(row.batch, row.extra));
    SCOPED_TRACE("batch " + std::to_string(row.batch) + ", " +
                 std::to_string(row.extra) + " more convolutions per group");
    EXPECT_NEAR(a.featureMaps / GiB, row.maps, 0.05);
    EXPECT_NEAR(a.weights / GiB, row.weights, 0.006);
    EXPECT_NEAR(a.baseline / GiB, row.baseline, 0.06);
    EXPECT_NEAR(a.offloadAll / GiB, row.offloadAll, 0.05);
    EXPECT_NEAR(a.offloadConv / GiB, row.offloadConv, 0.05);
    EXPECT_EQ(a.weights, a.weightGradients);
  }
}

TEST(PaperAccounting, ConventionalNetworkAtBatch256) {
  PaperAccounting a = accountAsInPaper(vgg16(256));
  EXPECT_NEAR(a.baseline / GiB, 21.69, 0.01);
  EXPECT_NEAR(a.offloadAll / GiB, 14.50, 0.01);
  EXPECT_NEAR(a.offloadConv / GiB, 8.66, 0.01);
  EXPECT_NEAR(a.largestGradientMap / GiB, 3.0625, 1e-6);
}

/// Under `all`, pool1's backward holds X, dX, Y, dY, and conv1_2's X is already
/// on its way back; with the weights 11.2 GiB.
TEST(PaperAccounting, AllPeaksInTheBackwardOfPool1) {
  Problem problem = vgg16(256);
  for (Sync sync : {Sync::Layer, Sync::Event}) {
    Solution solution =
        findPolicy("all")->plan(problem, {KernelPreference::Memory, sync});
    Program program = buildProgram(problem, solution);
    Statistics statistics = measure(problem, program);
    EXPECT_NEAR(program.devicePeak / GiB, 11.23, 0.01);
    EXPECT_EQ(program.devicePeak, program.deviceLowerBound);
    EXPECT_EQ(problem.ops[statistics.peakOp].name, "d.pool1");
    ASSERT_GE(statistics.peakMakers.size(), 5u);
    std::vector<std::string> names;
    for (size_t i = 0; i < 5; ++i) {
      names.push_back(statistics.peakMakers[i].name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"d.relu1_2", "relu1_1.back",
                                               "relu1_2.back", "d.pool1",
                                               "pool1.back"}));
  }
}

/// Bringing conv1_2's X back only when pool1 is done saves 1.3 GiB for one copy
/// that is not hidden.
TEST(PaperAccounting, ALaterPrefetchLowersThePeak) {
  Problem problem = vgg16(256);
  Solution solution =
      findPolicy("all")->plan(problem, {KernelPreference::Memory, Sync::Layer});
  Program before = buildProgram(problem, solution);
  TensorId x = findTensor(problem, "relu1_1");
  for (Transfer &transfer : solution.transfers) {
    if (transfer.tensor == x) {
      EXPECT_EQ(transfer.prefetchAt, findOp(problem, "d.pool1"));
      transfer.prefetchAt = findOp(problem, "d.relu1_2");
    }
  }
  ASSERT_EQ(verify(problem, solution), std::vector<std::string>());
  Program after = buildProgram(problem, solution);
  EXPECT_NEAR(after.devicePeak / GiB, 9.85, 0.01);
  EXPECT_GT(measure(problem, after).stepNs, measure(problem, before).stepNs);
}

} // namespace
