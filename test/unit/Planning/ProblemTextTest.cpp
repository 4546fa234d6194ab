//===- ProblemTextTest.cpp - problems and solutions survive being text ----===//

#include "RandomProblems.h"
#include "Vgg.h"

#include "vdnn/Planning/Policy.h"
#include "vdnn/Planning/ProblemText.h"

#include <gtest/gtest.h>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

TEST(ProblemText, ReadsWhatItWrites) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Problem problem = randomProblem(seed, 8);
    problem.deviceBudget = 12345;
    problem.hostBudget = uint64_t(1) << 50;
    problem.tensors[0].name = "odd \"name\" \\ with # and\nnewline";
    TextError error;
    auto copy = parseProblem(toText(problem), error);
    ASSERT_TRUE(copy) << error.line << ":" << error.column << ": "
                      << error.message;
    EXPECT_EQ(toText(*copy), toText(problem));
    EXPECT_EQ(copy->tensors[0].name, problem.tensors[0].name);
    EXPECT_EQ(copy->link.deviceToHostBytesPerSecond,
              problem.link.deviceToHostBytesPerSecond);
    Solution solution = randomSolution(problem, seed);
    auto solutionCopy = parseSolution(toText(solution), error);
    ASSERT_TRUE(solutionCopy) << error.message;
    EXPECT_EQ(toText(*solutionCopy), toText(solution));
    EXPECT_EQ(verify(*copy, *solutionCopy), std::vector<std::string>());
  }
}

TEST(ProblemText, ReadsTheExampleOfItsHeader) {
  TextError error;
  auto problem = parseProblem(R"(
problem   # comments and blank lines are skipped

alignment 256
budget device 1048576
link to-host 1.6e+10 to-device 1.6e+10 duplex 1 latency 10000
tensor "x" 4096 input staged
tensor "w" 4096 parameter live-in
tensor "y" 4096 activation
tensor "w.new" 4096 parameter live-out tied %1
op "conv1" convolution forward layer 0 reads %0 %1 writes %2
  kernel "implicit_gemm" workspace 0 time 1000
  kernel "atomics" workspace 0 time 900 nondeterministic
op "sgd" update update reads %1 %2 writes %3 in-place %1 %3
  kernel "" workspace 0 time 100
)",
                              error);
  ASSERT_TRUE(problem) << error.line << ":" << error.column << ": "
                       << error.message;
  EXPECT_EQ(check(*problem), std::vector<std::string>());
  EXPECT_EQ(problem->ops[1].inPlace.size(), 1u);
  EXPECT_TRUE(problem->tensors[0].staged);
  EXPECT_FALSE(problem->tensors[1].staged);
  EXPECT_NE(toText(*problem).find("4096 input staged"), std::string::npos);
  EXPECT_FALSE(problem->ops[0].choices[0].nondeterministic);
  EXPECT_TRUE(problem->ops[0].choices[1].nondeterministic);
  EXPECT_NE(toText(*problem).find("time 900 nondeterministic\n"),
            std::string::npos);
}

void expectError(const std::string &text, size_t line, size_t column,
                 const std::string &part) {
  TextError error;
  EXPECT_FALSE(parseProblem(text, error)) << text;
  EXPECT_EQ(error.line, line) << text;
  EXPECT_EQ(error.column, column) << text;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

TEST(ProblemText, SaysWhereAndWhy) {
  expectError("", 1, 1, "expected 'problem'");
  expectError("solution\n", 1, 1, "expected 'problem'");
  expectError("problem\nalignment x\n", 2, 11, "expected a number");
  expectError("problem\nalignment -1\n", 2, 11, "expected a number");
  expectError("problem\nalignment 99999999999999999999\n", 2, 11, "that fits");
  expectError("problem\nalignment 2 2\n", 2, 13, "unexpected '2'");
  expectError("problem\ntensor x\n", 2, 8, "double quotes");
  expectError("problem\ntensor \"x\n", 2, 10, "closing quote");
  expectError("problem\ntensor \"x\" 1 weight\n", 2, 14, "parameter");
  expectError("problem\nop \"a\" other forward reads 3\n", 2, 28, "'%'");
  expectError("problem\n  kernel \"a\" workspace 0 time 0\n", 2, 10,
              "kernel without an op");
  expectError("problem\nfoo\n", 2, 1, "expected 'alignment'");
}

TEST(SolutionText, SaysWhereAndWhy) {
  TextError error;
  EXPECT_FALSE(
      parseSolution("solution\ntensor %4000000000 keep \"\"\n", error));
  EXPECT_EQ(error.line, 2u);
  EXPECT_NE(error.message.find("expected tensor %0"), std::string::npos);
  EXPECT_FALSE(parseSolution("problem\n", error));
  EXPECT_FALSE(parseSolution("solution\ntransfer %0 offload 3\n", error));
  EXPECT_FALSE(parseSolution("solution\nbarrier @x\n", error));
  EXPECT_EQ(error.column, 10u);
}

/// Cut anywhere, a text is read or refused, never more.
TEST(ProblemText, SurvivesTruncation) {
  Problem problem = randomProblem(1, 4);
  std::string text = toText(problem);
  TextError error;
  for (size_t length = 0; length < text.size(); ++length) {
    auto parsed = parseProblem(std::string_view(text).substr(0, length), error);
    EXPECT_EQ(parsed.has_value(), error.message.empty());
    if (parsed) {
      check(*parsed);
    }
  }
}

} // namespace
