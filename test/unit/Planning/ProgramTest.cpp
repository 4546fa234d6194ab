//===- ProgramTest.cpp - programs compute what the problem says, whatever the
// timing -------------------------===//

#include "Oracle.h"
#include "RandomProblems.h"
#include "Vgg.h"

#include "vdnn/Planning/Policy.h"
#include "vdnn/Planning/ProblemText.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

/// The problem and solution as text, for the report of a failure.
std::string describe(const Problem &problem, const Solution &solution) {
  return toText(problem) + toText(solution);
}

void expectRight(const Problem &problem, const Solution &solution,
                 uint32_t seed) {
  ASSERT_EQ(verify(problem, solution), std::vector<std::string>());
  Program program = buildProgram(problem, solution);
  Oracle oracle(problem, program);
  ASSERT_EQ(oracle.checkForm(), "") << describe(problem, solution);
  ASSERT_EQ(oracle.runInOrder(), "") << describe(problem, solution);
  ASSERT_EQ(oracle.runEachEarly(), "") << describe(problem, solution);
  std::mt19937 random(seed);
  for (int run = 0; run < 20; ++run) {
    ASSERT_EQ(oracle.runRandomly(random), "") << describe(problem, solution);
  }
}

/// The program without one wait, or an empty one.
Program without(const Program &program, size_t wait) {
  Program result = program;
  result.commands.erase(result.commands.begin() + wait);
  return result;
}

TEST(Program, PoliciesOnRandomProblemsAreRight) {
  for (uint32_t seed = 0; seed < seedCount(60); ++seed) {
    Problem problem = randomProblem(seed, 2 + seed % 12);
    ASSERT_EQ(check(problem), std::vector<std::string>());
    for (const Policy *policy : policies()) {
      for (Sync sync : {Sync::Event, Sync::Layer}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " policy " +
                     std::string(policy->name()));
        Solution solution =
            policy->plan(problem, {KernelPreference::Performance, sync});
        expectRight(problem, solution, seed);
      }
    }
  }
}

TEST(Program, AnySolutionOfRandomProblemsIsRight) {
  for (uint32_t seed = 0; seed < seedCount(200); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomProblem(seed, 2 + seed % 10);
    expectRight(problem, randomSolution(problem, seed), seed);
  }
}

TEST(Program, StaysRightOverThreeSteps) {
  for (uint32_t seed = 0; seed < seedCount(20); ++seed) {
    Problem problem = randomProblem(seed, 2 + seed % 5);
    Solution solution = randomSolution(problem, seed);
    Program program = buildProgram(problem, solution);
    EXPECT_EQ(Oracle(problem, program, 3).runEachEarly(), "")
        << describe(problem, solution);
  }
}

/// The same step with its largest input staged.
Problem staged(Problem problem) {
  problem.tensors[0].staged = true;
  return problem;
}

TEST(Program, StagedInputsOfRandomProblemsAreRight) {
  for (uint32_t seed = 0; seed < seedCount(60); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = staged(randomProblem(seed, 2 + seed % 10));
    ASSERT_EQ(check(problem), std::vector<std::string>());
    expectRight(problem, randomSolution(problem, seed), seed);
    for (const Policy *policy : policies()) {
      for (Sync sync : {Sync::Event, Sync::Layer}) {
        expectRight(
            problem,
            policy->plan(problem, {KernelPreference::Performance, sync}), seed);
      }
    }
  }
}

TEST(Program, StagedInputsStayRightOverThreeSteps) {
  for (uint32_t seed = 0; seed < seedCount(20); ++seed) {
    Problem problem = staged(randomProblem(seed, 2 + seed % 5));
    Solution solution = randomSolution(problem, seed);
    Program program = buildProgram(problem, solution);
    EXPECT_EQ(Oracle(problem, program, 3).runEachEarly(), "")
        << describe(problem, solution);
  }
}

TEST(Program, EveryWaitOfAStagedInputIsNecessary) {
  for (uint32_t seed = 0; seed < seedCount(20); ++seed) {
    Problem problem = staged(randomProblem(seed, 2 + seed % 5));
    Solution solution = randomSolution(problem, seed);
    solution.barriers.clear(); // the paper's waits are not necessary
    Program program = buildProgram(problem, solution);
    for (size_t c = 0; c < program.commands.size(); ++c) {
      if (program.commands[c].kind == CommandKind::Wait) {
        Program broken = without(program, c);
        EXPECT_NE(Oracle(problem, broken, 3).runEachEarly(), "")
            << "seed " << seed << ", wait " << c;
      }
    }
  }
}

// What lives from step to step and no op touches takes no byte of the device.
TEST(Program, AnIdleTensorWaitsOnTheHost) {
  for (uint32_t seed = 0; seed < seedCount(20); ++seed) {
    Problem problem = randomProblem(seed, 2 + seed % 5);
    Solution solution = randomSolution(problem, seed);
    uint64_t devicePeak = buildProgram(problem, solution).devicePeak;
    Tensor &idle = problem.tensors.emplace_back();
    idle.name = "idle";
    idle.bytes = 5;
    idle.kind = TensorKind::Parameter;
    idle.liveIn = idle.liveOut = true;
    solution.tensors.emplace_back();
    expectRight(problem, solution, seed);
    Program program = buildProgram(problem, solution);
    EXPECT_EQ(program.devicePeak, devicePeak);
    ASSERT_TRUE(program.entry.back());
    EXPECT_EQ(program.entry.back(), program.exit.back());
    const PlacedBuffer &place = program.buffers[*program.entry.back()];
    EXPECT_EQ(place.place, Place::Host);
    // Nothing else may lie there at any time.
    for (const PlacedBuffer &other : program.buffers) {
      if (other.place == Place::Host && other.tensor != place.tensor) {
        Program broken = program;
        broken.buffers[*program.entry.back()].offset = other.offset;
        EXPECT_NE(Oracle(problem, broken).checkForm(), "") << other.name;
      }
    }
  }
}

TEST(Program, AStagedInputComesInBehindItsLastReader) {
  Problem problem = staged(randomProblem(1, 6));
  Solution solution = policies().front()->plan(problem, {});
  Program program = buildProgram(problem, solution);
  ASSERT_TRUE(program.staging[0] && program.entry[0] && program.exit[0]);
  const PlacedBuffer &entry = program.buffers[*program.entry[0]];
  const PlacedBuffer &exit = program.buffers[*program.exit[0]];
  EXPECT_EQ(entry.place, Place::Device);
  EXPECT_EQ(entry.offset, exit.offset);
  EXPECT_EQ(program.buffers[*program.staging[0]].place, Place::Host);
  size_t lastRead = 0, copy = 0;
  for (size_t c = 0; c < program.commands.size(); ++c) {
    const PlannedCommand &command = program.commands[c];
    bool reads = std::find(command.reads.begin(), command.reads.end(),
                           *program.entry[0]) != command.reads.end();
    lastRead = reads ? c : lastRead;
    copy = command.kind == CommandKind::Copy &&
                   command.writes.front() == *program.exit[0]
               ? c
               : copy;
  }
  EXPECT_GT(lastRead, 0u);
  EXPECT_GT(copy, lastRead);
}

TEST(Program, EveryWaitIsNecessary) {
  size_t waits = 0;
  for (uint32_t seed = 0; seed < seedCount(60); ++seed) {
    Problem problem = randomProblem(seed, 2 + seed % 6);
    Solution solution = randomSolution(problem, seed);
    // A barrier orders more than values need.
    solution.barriers.clear();
    Program program = buildProgram(problem, solution);
    for (size_t c = 0; c < program.commands.size(); ++c) {
      if (program.commands[c].kind == CommandKind::Wait) {
        ++waits;
        EXPECT_NE(Oracle(problem, without(program, c)).runEachEarly(), "")
            << "command " << c << " of seed " << seed << "\n"
            << describe(problem, solution);
      }
    }
  }
  RecordProperty("waits", int(waits));
  EXPECT_GT(waits, 200u);
}

TEST(Program, BarrierMakesStreamsMeet) {
  Problem problem = vgg16(2);
  Solution solution = findPolicy("all")->plan(
      problem, {KernelPreference::Performance, Sync::Layer});
  ASSERT_FALSE(solution.barriers.empty());
  Program program = buildProgram(problem, solution);
  // Before the op behind each barrier, compute waits for the copies to the host
  // that were submitted before.
  OpId barrier = solution.barriers.front();
  bool copied = false;
  bool waited = false;
  for (const PlannedCommand &command : program.commands) {
    if (command.op == barrier) {
      break;
    }
    copied |= command.kind == CommandKind::Copy &&
              command.stream == StreamId::DeviceToHost;
    waited |= copied && command.kind == CommandKind::Wait &&
              command.stream == StreamId::Compute;
  }
  EXPECT_TRUE(copied);
  EXPECT_TRUE(waited);
}

TEST(Program, ReusesTheOperandsRangeInPlace) {
  Problem problem = vgg16(2);
  Program program =
      buildProgram(problem, findPolicy("none")->plan(problem, {}));
  auto offset = [&](const std::string &name) {
    for (const PlacedBuffer &buffer : program.buffers) {
      if (buffer.name == name) {
        return buffer.offset;
      }
    }
    return uint64_t(-1);
  };
  EXPECT_EQ(offset("conv1_1"), offset("relu1_1"));
  EXPECT_EQ(offset("conv1_1.w"), offset("conv1_1.w.new"));
  // pool1 reads relu1_2, but so does its backward op: no reuse there.
  EXPECT_NE(offset("relu1_2"), offset("pool1"));
}

TEST(Program, DoesNotOverwriteWhatIsReadTwiceByOneOp) {
  Problem problem;
  problem.tensors = {{"x", 8, TensorKind::Input, false, false, {}},
                     {"y", 8, TensorKind::Activation, false, false, {}},
                     {"z", 8, TensorKind::Output, false, true, {}}};
  Op first{"copy", OpClass::Other, Phase::Forward, 0, {0}, {1}, {}, {{}}};
  Op square{"square", OpClass::Other, Phase::Forward, 1, {1, 1}, {2}, {{1, 2}},
            {{}}};
  problem.ops = {first, square};
  Program program =
      buildProgram(problem, findPolicy("none")->plan(problem, {}));
  for (const PlannedCommand &command : program.commands) {
    EXPECT_TRUE(command.inPlace.empty());
  }
}

TEST(Program, IsTheSameEveryTime) {
  Problem problem = randomProblem(7, 40);
  Solution solution = findPolicy("all")->plan(problem, {});
  Program a = buildProgram(problem, solution);
  Program b = buildProgram(problem, solution);
  ASSERT_EQ(a.commands.size(), b.commands.size());
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    EXPECT_EQ(a.buffers[i].offset, b.buffers[i].offset);
  }
}

TEST(Program, InputIsCopiedOutNowhere) {
  Problem problem = vgg16(2);
  Program program = buildProgram(problem, findPolicy("all")->plan(problem, {}));
  TensorId image = findTensor(problem, "image");
  size_t in = 0;
  for (const PlannedCommand &command : program.commands) {
    if (command.kind == CommandKind::Copy &&
        program.buffers[command.reads[0]].tensor == image) {
      EXPECT_EQ(command.stream, StreamId::HostToDevice);
      EXPECT_EQ(command.reads[0], program.entry[image]);
      ++in;
    }
  }
  EXPECT_EQ(in, 2u);
}

TEST(Program, PlansTwoThousandOpsInATenthOfASecond) {
  Problem problem = randomProblem(3, 900);
  ASSERT_GT(problem.ops.size(), 2000u);
  for (const Policy *policy : policies()) {
    auto begin = std::chrono::steady_clock::now();
    Program program = buildProgram(problem, policy->plan(problem, {}));
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - begin;
    RecordProperty(std::string(policy->name()) + "_ms",
                   int(time.count() * 1e3));
    // Ten times the target: builds with sanitizers on a busy machine run this,
    // too.
    EXPECT_LT(time.count(), 1.0);
  }
}

} // namespace
