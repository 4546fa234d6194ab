//===- Campaign.cpp - mutates a plan and compares checker and oracle ------===//

#include "Campaign.h"

#include "Mutate.h"
#include "Oracle.h"

#include "runtime/check/Check.h"

#include <algorithm>
#include <chrono>
#include <random>

namespace vdnn::rt::test {

CampaignResult runCampaign(const schedule::ScheduleT &schedule,
                           const CampaignOptions &options) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  CampaignResult result;
  if (std::vector<Violation> violations = check(schedule);
      !violations.empty()) {
    result.missed.push_back(
        "the plan itself is refused: " + violations[0].invariant + ": " +
        violations[0].message);
    return result;
  }
  OracleOptions oracle;
  oracle.seed = options.seed;
  if (auto harm = findHarm(schedule, oracle)) {
    result.missed.push_back("the plan itself is accepted and does harm: " +
                            *harm);
    return result;
  }
  std::vector<Mutant> mutants = enumerateMutants(schedule);
  std::mt19937_64 random(options.seed);
  std::shuffle(mutants.begin(), mutants.end(), random);
  if (options.maxMutants != 0 && mutants.size() > options.maxMutants) {
    mutants.resize(options.maxMutants);
  }
  for (const Mutant &mutant : mutants) {
    if (options.maxSeconds > 0 &&
        std::chrono::duration<double>(Clock::now() - begin).count() >
            options.maxSeconds) {
      result.stoppedEarly = true;
      break;
    }
    schedule::ScheduleT mutated = applyMutant(schedule, mutant);
    bool refused = !check(mutated).empty();
    auto harm = findHarm(mutated, oracle);
    ++result.mutants;
    result.harmful += harm.has_value();
    result.caught += harm && refused;
    result.harmlessRefused += !harm && refused;
    if (harm && !refused) {
      result.missed.push_back(describe(schedule, mutant) + ": " + *harm);
    }
  }
  return result;
}

} // namespace vdnn::rt::test
