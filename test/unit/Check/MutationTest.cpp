//===- MutationTest.cpp - the checker catches every harmful mutant --------===//

#include "Campaign.h"
#include "Expect.h"
#include "Mutate.h"
#include "Oracle.h"

#include <cstdio>
#include <set>

using namespace vdnn::rt;
using namespace vdnn::rt::test;
using namespace vdnn::schedule;

namespace {

void expectAllCaught(const ScheduleT &plan, size_t leastHarmful) {
  CampaignResult result = runCampaign(plan);
  std::printf(
      "%zu mutants, %zu harmful, %zu caught, %zu harmless but refused\n",
      result.mutants, result.harmful, result.caught, result.harmlessRefused);
  for (const std::string &line : result.missed) {
    ADD_FAILURE() << line;
  }
  EXPECT_GE(result.harmful, leastHarmful);
}

TEST(Mutation, AllHarmfulMutantsOfATrainingStepAreCaught) {
  expectAllCaught(trainingStep(), 40);
}

TEST(Mutation, AllHarmfulMutantsOfADeepPlanAreCaught) {
  expectAllCaught(deepPlan(12), 80);
}

TEST(Mutation, AllHarmfulMutantsOfAStagedInputAreCaught) {
  expectAllCaught(stagedStep(), 20);
}

TEST(Oracle, FindsNoHarmInARightPlan) {
  EXPECT_EQ(findHarm(trainingStep()).value_or(""), "");
  EXPECT_EQ(findHarm(stagedStep()).value_or(""), "");
}

TEST(Oracle, FindsAStagingBufferThatACommandWritesOver) {
  ScheduleT plan = stagedStep();
  bufferNamed(plan, "loss.host").offset = 32;
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, FindsAMissingOrderWithinAStep) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "relu") - 1);
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, FindsAMissingOrderToTheNextStep) {
  ScheduleT plan = trainingStep();
  eraseCommand(plan, commandIndex(plan, "sgd") - 1);
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, FindsAnOverlapOnTheHost) {
  ScheduleT plan = trainingStep();
  bufferNamed(plan, "loss.host").offset = 64;
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, FindsAnUpdateInPlaceThatIsNotDeclared) {
  ScheduleT plan = trainingStep();
  commandNamed(plan, "sgd").in_place.clear();
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, FindsAnotherViewOfWhatIsOverwritten) {
  PlanBuilder builder;
  builder.device("a", 64, 0);
  builder.device("b", 64, 0);
  builder.launch("first", {}, {"a"});
  builder.launch("second", {"a", "a"}, {"b"}, {{0, 0}});
  ScheduleT plan = builder.finish();
  EXPECT_FALSE(findHarm(plan).has_value());
  plan.types.push_back(std::make_unique<TypeT>());
  plan.types.back()->shape = {4};
  setType(commandNamed(plan, "second").reads[1], plan.types.size() - 1);
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, FindsALostUpdate) {
  ScheduleT plan = trainingStep();
  tensorNamed(plan, "weight").exit = tensorNamed(plan, "weight").entry;
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, FindsOtherElements) {
  ScheduleT plan = trainingStep();
  plan.types.push_back(std::make_unique<TypeT>(*plan.types[0]));
  plan.types.back()->element = ElementType::I32;
  setType(commandNamed(plan, "sgd").reads[0], plan.types.size() - 1);
  EXPECT_TRUE(findHarm(plan).has_value());
}

TEST(Oracle, SeesCudasMeaningOfAWaitBeforeAnyRecord) {
  // The wait means nothing in the first step: no deadlock, but no order either.
  ScheduleT plan = trainingStep();
  moveCommand(plan, commandIndex(plan, "conv1") - 1, 0);
  auto harm = findHarm(plan);
  ASSERT_TRUE(harm.has_value());
  EXPECT_NE(harm->find("'x.device'"), std::string::npos) << *harm;
}

TEST(Mutate, KindsAndCounts) {
  ScheduleT plan = trainingStep();
  size_t drops = 0;
  std::set<Mutation> kinds;
  for (const Mutant &mutant : enumerateMutants(plan)) {
    EXPECT_TRUE(validate(applyMutant(plan, mutant)).ok())
        << describe(plan, mutant);
    kinds.insert(mutant.mutation);
    drops += mutant.mutation == Mutation::DropRecord ||
             mutant.mutation == Mutation::DropWait;
  }
  EXPECT_EQ(drops, 13u); // 6 records, 7 waits
  EXPECT_EQ(kinds.size(), static_cast<size_t>(Mutation::MoveExit) + 1);
}

} // namespace
