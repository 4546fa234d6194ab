//===- PlanningBenchmark.cpp - how long packing and planning take ---------===//

#include "test/unit/Planning/Instances.h"
#include "test/unit/Planning/RandomProblems.h"
#include "test/unit/Planning/Vgg.h"

#include "vdnn/Planning/Policy.h"
#include "vdnn/Planning/Program.h"

#include <benchmark/benchmark.h>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

void reportGap(benchmark::State &state, uint64_t peak, uint64_t bound) {
  state.counters["gap_percent"] = 100 * (double(peak) / double(bound) - 1);
}

void packRandom(benchmark::State &state) {
  uint32_t count = state.range(0);
  std::vector<Interval> intervals = randomInstance(1, count, count, 1 << 20);
  Packing packing;
  for (auto _ : state) {
    packing = pack(intervals, 1);
  }
  reportGap(state, packing.peak, packing.lowerBound);
}
BENCHMARK(packRandom)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(60000)
    ->Unit(benchmark::kMillisecond);

/// Arguments: the letter of the instance, and the nodes of the search.
void packMiniMalloc(benchmark::State &state) {
  std::string path = "test/data/packing/minimalloc/";
  path += char('A' + state.range(0));
  std::vector<Interval> intervals = readInstance(path + ".1048576.csv");
  if (intervals.empty()) {
    state.SkipWithError("no instance; run from the root of the project");
    return;
  }
  Packing packing;
  for (auto _ : state) {
    packing = pack(intervals, 1, {.searchNodes = uint64_t(state.range(1))});
  }
  reportGap(state, packing.peak, packing.lowerBound);
}
BENCHMARK(packMiniMalloc)
    ->ArgsProduct({benchmark::CreateDenseRange(0, 10, 1), {0, 60000}})
    ->Unit(benchmark::kMillisecond);

void planProblem(benchmark::State &state, const Problem &problem,
                 const char *policy) {
  Program program;
  for (auto _ : state) {
    program = buildProgram(problem, findPolicy(policy)->plan(problem, {}));
  }
  state.counters["ops"] = double(problem.ops.size());
  state.counters["events"] = program.eventCount;
  reportGap(state, program.devicePeak, program.deviceLowerBound);
}

/// Argument: convolutions added to each group of VGG-16.
void planVgg(benchmark::State &state) {
  planProblem(state, vgg16(32, state.range(0)), "all");
}
BENCHMARK(planVgg)->Arg(0)->Arg(20)->Arg(80)->Unit(benchmark::kMillisecond);

/// Argument: forward layers.
void planRandom(benchmark::State &state) {
  planProblem(state, randomProblem(3, state.range(0)), "all");
}
BENCHMARK(planRandom)->Arg(100)->Arg(900)->Unit(benchmark::kMillisecond);

} // namespace
