//===- StagingTest.cpp - which inputs come in a step ahead ----------------===//

#include "vdnn/Planning/Staging.h"
#include "vdnn/Planning/Statistics.h"

#include <gtest/gtest.h>

using namespace vdnn::planning;

namespace {

constexpr uint64_t MiB = uint64_t(1) << 20;

/// A large input that the first of two ops reads, and a small one.
Problem chain(uint64_t inputBytes = MiB) {
  Problem problem;
  problem.alignment = 1;
  problem.link = {1e9, 1e9, 1.0, 0};
  problem.tensors = {{"x", inputBytes, TensorKind::Input, false, false, {}},
                     {"labels", 64, TensorKind::Input, false, false, {}},
                     {"a", 4 * MiB, TensorKind::Activation, false, false, {}},
                     {"loss", 4, TensorKind::Output, false, true, {}}};
  problem.ops = {{"f",
                  OpClass::Other,
                  Phase::Forward,
                  0,
                  {0},
                  {2},
                  {},
                  {{"", 0, 5000000}}},
                 {"g",
                  OpClass::Loss,
                  Phase::Forward,
                  1,
                  {2, 1},
                  {3},
                  {},
                  {{"", 0, 5000000}}}};
  return problem;
}

Solution plan(Problem &problem, Inputs inputs) {
  Solution solution = planWithInputs(problem, *findPolicy("none"), {}, inputs);
  EXPECT_EQ(verify(problem, solution), std::vector<std::string>());
  return solution;
}

TEST(Staging, TakesLargeInputsThatAreRead) {
  Problem problem = chain();
  EXPECT_EQ(stageInputs(problem), std::vector<TensorId>{0});
  EXPECT_TRUE(problem.tensors[0].staged);
  EXPECT_FALSE(problem.tensors[1].staged);
  problem = chain(MiB - 1);
  EXPECT_TRUE(stageInputs(problem).empty());
  problem = chain();
  problem.ops[0].reads.clear();
  EXPECT_TRUE(stageInputs(problem).empty());
}

TEST(Staging, HidesTheCopy) {
  Problem direct = chain();
  Problem staged = chain();
  Solution directPlan = plan(direct, Inputs::Direct);
  Solution stagedPlan = plan(staged, Inputs::Auto);
  EXPECT_FALSE(direct.tensors[0].staged);
  EXPECT_TRUE(staged.tensors[0].staged);
  EXPECT_EQ(stagedPlan.tensors[0].reason,
            "staged: the next step's value comes in beside this step");
  int64_t copyNs = 1048576;
  EXPECT_EQ(measure(direct, buildProgram(direct, directPlan)).stepNs -
                measure(staged, buildProgram(staged, stagedPlan)).stepNs,
            copyNs);
}

TEST(Staging, GivesWayToABudgetUnlessItIsAskedFor) {
  // Directly, 'x' and 'a' need 5 MiB; staged, so do they, and the loss.
  Problem problem = chain();
  problem.deviceBudget = 5 * MiB;
  Solution solution = plan(problem, Inputs::Auto);
  EXPECT_FALSE(problem.tensors[0].staged);
  EXPECT_EQ(solution.tensors[0].reason,
            "kept: policy; not staged: its arena of 5.0 MiB exceeds the "
            "budget");
  plan(problem, Inputs::Staged);
  EXPECT_TRUE(problem.tensors[0].staged);
}

TEST(Staging, GivesWayToAHostBudget) {
  Problem problem = chain();
  problem.hostBudget = MiB;
  Solution solution = plan(problem, Inputs::Auto);
  EXPECT_FALSE(problem.tensors[0].staged);
  EXPECT_NE(solution.tensors[0].reason.find("exceed the host budget"),
            std::string::npos);
}

TEST(Staging, GivesWayWhereTheLastReaderComesLast) {
  // The copy could only begin when the step ends.
  Problem problem = chain();
  problem.ops[1].reads.push_back(0);
  Solution solution = plan(problem, Inputs::Auto);
  EXPECT_FALSE(problem.tensors[0].staged);
  EXPECT_NE(solution.tensors[0].reason.find("hide too little of the copy"),
            std::string::npos);
}

} // namespace
