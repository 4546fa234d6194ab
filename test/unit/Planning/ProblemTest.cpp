//===- ProblemTest.cpp - ill-formed problems and solutions are named ------===//

#include "RandomProblems.h"
#include "Vgg.h"

#include "vdnn/Planning/Policy.h"

#include <gtest/gtest.h>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

/// x -> first -> y -> second -> z.
Problem chain() {
  Problem problem;
  problem.tensors = {{"x", 8, TensorKind::Input, false, false, {}},
                     {"y", 8, TensorKind::Activation, false, false, {}},
                     {"z", 8, TensorKind::Output, false, true, {}}};
  problem.ops = {
      {"first", OpClass::Other, Phase::Forward, 0, {0}, {1}, {}, {{}}},
      {"second", OpClass::Other, Phase::Forward, 1, {1}, {2}, {}, {{}}}};
  return problem;
}

/// w -> step -> w.new, tied.
Problem update() {
  Problem problem;
  problem.tensors = {{"w", 8, TensorKind::Parameter, true, false, {}},
                     {"w.new", 8, TensorKind::Parameter, false, true, 0},
                     {"y", 8, TensorKind::Output, false, true, {}}};
  problem.ops = {
      {"read", OpClass::Other, Phase::Forward, 0, {0}, {2}, {}, {{}}},
      {"step", OpClass::Update, Phase::Update, -1, {0}, {1}, {{0, 1}}, {{}}}};
  return problem;
}

void expectError(const std::vector<std::string> &errors,
                 const std::string &part) {
  for (const std::string &error : errors) {
    if (error.find(part) != std::string::npos) {
      return;
    }
  }
  ADD_FAILURE() << "no error says '" << part
                << "'; first: " << (errors.empty() ? "none" : errors.front());
}

TEST(CheckProblem, AcceptsWhatIsWellFormed) {
  EXPECT_EQ(check(chain()), std::vector<std::string>());
  EXPECT_EQ(check(update()), std::vector<std::string>());
  EXPECT_EQ(check(vgg16(4)), std::vector<std::string>());
  EXPECT_EQ(check(Problem()), std::vector<std::string>());
}

TEST(CheckProblem, RefusesIdsOutOfRange) {
  Problem problem = chain();
  problem.ops[1].reads = {7};
  expectError(check(problem), "op 'second' uses tensor 7");
  problem = chain();
  problem.tensors[1].tiedTo = 9;
  expectError(check(problem), "tensor 'y' is tied to tensor 9");
}

TEST(CheckProblem, RefusesReadsBeforeWrites) {
  Problem problem = chain();
  std::swap(problem.ops[0], problem.ops[1]);
  expectError(check(problem), "reads tensor 'y' before op 'first' writes it");
  problem = chain();
  problem.ops.erase(problem.ops.begin());
  expectError(check(problem), "reads tensor 'y', which nothing writes");
}

TEST(CheckProblem, RefusesTwoWriters) {
  Problem problem = chain();
  problem.ops[1].writes = {2, 1};
  problem.ops[1].reads = {0};
  expectError(check(problem), "written by op 'first' and again by op 'second'");
  problem = chain();
  problem.ops[1].writes.push_back(0);
  expectError(check(problem), "although it exists before the step");
}

TEST(CheckProblem, RefusesOpsWithoutKernels) {
  Problem problem = chain();
  problem.ops[0].choices.clear();
  expectError(check(problem), "op 'first' has no kernel");
  problem.ops[0].choices = {{"a", 0, -1}};
  expectError(check(problem), "negative time");
  problem.ops[0].choices = {{"a", uint64_t(1) << 60, 1}};
  expectError(check(problem), "the workspace of op 'first'");
}

TEST(CheckProblem, RefusesForeignInPlacePairs) {
  Problem problem = chain();
  problem.ops[0].inPlace = {{1, 2}};
  expectError(check(problem), "in-place pair");
}

TEST(CheckProblem, RefusesTiesThatLoseAValue) {
  Problem problem = update();
  std::swap(problem.ops[0], problem.ops[1]);
  expectError(check(problem), "op 'read' reads tensor 'w' after op 'step'");
  problem = update();
  problem.ops[1].inPlace.clear();
  expectError(check(problem), "without an in-place pair");
  problem = update();
  problem.tensors[1].bytes = 4;
  expectError(check(problem), "expected the same size");
  problem = update();
  problem.tensors[0].liveOut = true;
  expectError(check(problem), "must survive the step");
  problem = update();
  problem.tensors[1].liveOut = false;
  expectError(check(problem), "make it live out");
  problem = update();
  problem.ops.pop_back();
  expectError(check(problem), "but no op writes it");
}

TEST(CheckProblem, RefusesEndsWithoutAValue) {
  Problem problem = chain();
  problem.ops.pop_back();
  expectError(check(problem), "tensor 'z' must exist at the end");
  problem = chain();
  problem.tensors[0].liveOut = true;
  expectError(check(problem), "cannot stay on the device");
  problem = chain();
  problem.tensors[1].staged = true;
  expectError(check(problem), "is staged, expected that only of inputs");
}

TEST(CheckProblem, RefusesImpossibleMachines) {
  Problem problem = chain();
  problem.alignment = 0;
  problem.link.duplexFactor = 0;
  problem.link.latencyNs = -1;
  problem.link.hostToDeviceBytesPerSecond = -5;
  EXPECT_EQ(check(problem).size(), 4u);
}

class VerifySolution : public testing::Test {
protected:
  Problem problem = vgg16(2);
  Solution solution = findPolicy("all")->plan(problem, {});
  Transfer &first() { return solution.transfers[1]; }
  void expectRefused(const std::string &part) {
    expectError(verify(problem, solution), part);
  }
};

TEST_F(VerifySolution, AcceptsThePolicies) {
  for (const Policy *policy : policies()) {
    EXPECT_EQ(verify(problem, policy->plan(problem, {})),
              std::vector<std::string>());
  }
}

TEST_F(VerifySolution, RefusesPositionsOutOfOrder) {
  std::swap(first().releaseAt, first().prefetchAt);
  expectRefused("positions out of order");
}

TEST_F(VerifySolution, RefusesAReaderWithoutItsOperand) {
  first().releaseAt = first().offloadAt;
  expectRefused("while it is away from the device");
}

TEST_F(VerifySolution, RefusesAReturnForNoOne) {
  ++first().neededAt;
  expectRefused("which does not read it");
}

TEST_F(VerifySolution, RefusesToLeaveBeforeItExists) {
  first().offloadAt = 0;
  expectRefused("is there only from op");
}

TEST_F(VerifySolution, RefusesWhatLivesBeyondTheStep) {
  TensorId weight = findTensor(problem, "conv1_1.w");
  solution.transfers = {{weight, 1, 1, 2, 2}};
  solution.tensors[weight].residence = Residence::Offload;
  expectRefused("lives beyond the step");
}

TEST_F(VerifySolution, RefusesToSendAStagedInputAway) {
  problem.tensors[solution.transfers[0].tensor].kind = TensorKind::Input;
  problem.tensors[solution.transfers[0].tensor].staged = true;
  expectRefused("is staged and cannot leave the device");
}

TEST_F(VerifySolution, RefusesContradictions) {
  solution.tensors[first().tensor].residence = Residence::Keep;
  expectRefused("contradicts its residence");
  solution.tensors[first().tensor].residence = Residence::Recompute;
  expectRefused("cannot yet say from what");
}

TEST_F(VerifySolution, RefusesDisorder) {
  std::swap(solution.transfers[1], solution.transfers[2]);
  expectRefused("not sorted");
  solution = findPolicy("all")->plan(problem, {});
  solution.barriers = {3, 3};
  expectRefused("barriers are not sorted");
  solution.barriers = {OpId(problem.ops.size())};
  expectRefused("barrier before op");
}

TEST_F(VerifySolution, RefusesKernelsOutOfRange) {
  solution.choice[0] = 1;
  expectRefused("takes kernel 1");
  solution.choice.pop_back();
  expectRefused("kernels chosen for");
}

TEST_F(VerifySolution, RefusesTensorsOutOfRange) {
  solution.transfers.back().tensor = 100000;
  expectRefused("transfer of tensor 100000");
  solution.tensors.pop_back();
  expectRefused("decisions for");
}

} // namespace
