//===- Expect.h - what the checker says of a plan -------------------------===//

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

/// The number of a type that nothing else in the plan has.
inline uint32_t
addType(schedule::ScheduleT &plan, std::vector<int64_t> shape,
        schedule::ElementType element = schedule::ElementType::F32,
        schedule::Layout layout = schedule::Layout::RowMajor) {
  plan.types.push_back(std::make_unique<schedule::TypeT>());
  plan.types.back()->shape = std::move(shape);
  plan.types.back()->element = element;
  plan.types.back()->layout = layout;
  return plan.types.size() - 1;
}

} // namespace vdnn::rt::test

#endif
