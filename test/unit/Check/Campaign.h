//===- Campaign.h - mutates a plan and compares checker and oracle --------===//

#ifndef VDNN_TEST_UNIT_CHECK_CAMPAIGN_H
#define VDNN_TEST_UNIT_CHECK_CAMPAIGN_H

#include "runtime/schedule/Schedule.h"

#include <string>
#include <vector>

namespace vdnn::rt::test {

struct CampaignOptions {
  /// More mutants than this are sampled by `seed`; 0: all.
  size_t maxMutants = 0;
  /// Stops early; 0: never.
  double maxSeconds = 0;
  uint64_t seed = 1;
};

struct CampaignResult {
  size_t mutants = 0;
  size_t harmful = 0;
  size_t caught = 0;          // harmful and refused
  size_t harmlessRefused = 0; // no harm found, refused all the same
  bool stoppedEarly = false;
  /// Harmful and accepted: one line each. Also where the plan itself is refused
  /// or does harm.
  std::vector<std::string> missed;
};

CampaignResult runCampaign(const schedule::ScheduleT &schedule,
                           const CampaignOptions &options = {});

} // namespace vdnn::rt::test

#endif
