//===- MutateMain.cpp - vdnn-mutate: does the checker catch every harmful mutant
// of these plans? -------------------===//
//
//   vdnn-mutate [--max-mutants N] [--seconds S] [--seed N] plan.vdnn...
//
// The limits are per plan. Exit code 1: a harmful mutant was accepted. 2: a
// plan cannot be read, or wrong usage.
//
//===----------------------------------------------------------------------===//

#include "Campaign.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace vdnn;

static int usage() {
  std::fprintf(stderr, "usage: vdnn-mutate [--max-mutants N] [--seconds S] "
                       "[--seed N] plan.vdnn...\n");
  return 2;
}

int main(int argc, char **argv) {
  rt::test::CampaignOptions options;
  std::vector<std::string> plans;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--", 0) != 0) {
      plans.push_back(argument);
      continue;
    }
    if (++i == argc) {
      return usage();
    }
    char *end = nullptr;
    double value = std::strtod(argv[i], &end);
    if (*end != '\0' || end == argv[i] || value < 0) {
      return usage();
    }
    if (argument == "--max-mutants") {
      options.maxMutants = static_cast<size_t>(value);
    } else if (argument == "--seconds") {
      options.maxSeconds = value;
    } else if (argument == "--seed") {
      options.seed = static_cast<uint64_t>(value);
    } else {
      return usage();
    }
  }
  if (plans.empty()) {
    return usage();
  }
  bool missed = false;
  rt::test::CampaignResult total;
  auto print = [](const rt::test::CampaignResult &result,
                  const std::string &name) {
    std::printf("%8zu %8zu %8zu %8zu %16zu  %s%s\n", result.mutants,
                result.harmful, result.caught, result.harmful - result.caught,
                result.harmlessRefused, name.c_str(),
                result.stoppedEarly ? " (stopped early)" : "");
  };
  std::printf("%8s %8s %8s %8s %16s  plan\n", "mutants", "harmful", "caught",
              "missed", "harmless-refused");
  for (const std::string &path : plans) {
    rt::Result<schedule::ScheduleT> plan = schedule::load(path);
    if (!plan) {
      std::fprintf(stderr, "vdnn-mutate: error: %s\n", plan.message().c_str());
      return 2;
    }
    rt::test::CampaignResult result = rt::test::runCampaign(*plan, options);
    print(result, path);
    for (const std::string &line : result.missed) {
      std::printf("  missed: %s\n", line.c_str());
    }
    std::fflush(stdout);
    missed = missed || !result.missed.empty();
    total.mutants += result.mutants;
    total.harmful += result.harmful;
    total.caught += result.caught;
    total.harmlessRefused += result.harmlessRefused;
  }
  print(total, "total");
  return missed ? 1 : 0;
}
