//===- Expect.h - what the checker says of a plan
//---------------------------------------------------------------===//

#ifndef VDNN_TEST_UNIT_CHECK_EXPECT_H
#define VDNN_TEST_UNIT_CHECK_EXPECT_H

#include "PlanBuilder.h"

#include "runtime/check/Check.h"

#include "gtest/gtest.h"

#include <algorithm>

namespace vdnn::rt::test {

inline void expectAccepted(const schedule::ScheduleT &plan) {
  EXPECT_EQ(toString(check(plan)), "");
}

/// Some violation of this invariant names all of `parts`.
inline void expectRejected(const schedule::ScheduleT &plan,
                           const std::string &invariant,
                           const std::vector<std::string> &parts) {
  std::vector<Violation> violations = check(plan);
  bool found = std::any_of(
      violations.begin(), violations.end(), [&](const Violation &violation) {
        return violation.invariant == invariant &&
               std::all_of(
                   parts.begin(), parts.end(), [&](const std::string &part) {
                     return violation.message.find(part) != std::string::npos;
                   });
      });
  EXPECT_TRUE(found) << "expected a violation of " << invariant << ", found:\n"
                     << toString(violations);
}

} // namespace vdnn::rt::test

#endif
