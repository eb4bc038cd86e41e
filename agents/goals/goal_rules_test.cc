#include "agents/goals/goal_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/goal_documents.h"

namespace belay::goals {
namespace {

using ::testing::HasSubstr;

Goal valid_goal() {
  Goal goal;
  goal.id = "g";
  goal.objective = "Find it";
  return goal;
}

std::string fault_of_goal(const Goal& goal, const KnownTools& tools = {}) {
  auto checked = check_goal(goal, tools);
  return checked.ok() ? "" : checked.error().message;
}

TEST(GoalRules, AGoalWithAnObjectiveIsValid) { EXPECT_EQ(fault_of_goal(valid_goal()), ""); }

TEST(GoalRules, EachMemberHasItsBounds) {
  struct Case {
    void (*change)(Goal&);
    const char* member;
  };
  const Case cases[] = {
      {[](Goal& goal) { goal.objective = " \n"; }, "objective"},
      {[](Goal& goal) { goal.objective = std::string(kObjectiveBytesMax + 1, 'x'); }, "objective"},
      {[](Goal& goal) { goal.params.stepBudget = 0; }, "stepBudget"},
      {[](Goal& goal) { goal.params.stepBudget = 101; }, "stepBudget"},
      {[](Goal& goal) { goal.params.temperature = 2.5; }, "temperature"},
      {[](Goal& goal) { goal.params.maxTokens = 0; }, "maxTokens"},
      {[](Goal& goal) { goal.params.tokenBudget = -1; }, "tokenBudget"},
      {[](Goal& goal) { goal.params.costBudget = 0; }, "costBudget"},
      {[](Goal& goal) { goal.params.tokenLimit = 0; }, "tokenLimit"},
      {[](Goal& goal) { goal.memory = "all"; }, "memory"},
      {[](Goal& goal) { goal.status = "done"; }, "status"},
  };
  for (const Case& each : cases) {
    Goal goal = valid_goal();
    each.change(goal);
    EXPECT_THAT(fault_of_goal(goal), HasSubstr(each.member));
  }
}

TEST(GoalRules, AnUnknownToolIsRefusedWithTheKnownNames) {
  KnownTools tools{std::vector<std::string>{"search", "read_result"}};
  Goal goal = valid_goal();
  goal.params.allowedTools = {"search"};
  EXPECT_EQ(fault_of_goal(goal, tools), "");
  goal.params.allowedTools = {"search", "fly"};
  std::string fault = fault_of_goal(goal, tools);
  EXPECT_THAT(fault, HasSubstr("\"fly\""));
  EXPECT_THAT(fault, HasSubstr("search, read_result"));
  goal.status = kPaused;
  EXPECT_EQ(fault_of_goal(goal, tools), "") << "a goal whose tool was removed can be paused";
}

TEST(GoalRules, ChangesReplaceMembersAndNullRestoresADefault) {
  Goal goal = valid_goal();
  Value changes = Value::object(
      {{"memory", "carry"}, {"params", Value::object({{"stepBudget", 3}, {"temperature", 0.5}})}});
  ASSERT_TRUE(apply_changes(goal, changes).ok());
  EXPECT_EQ(goal.memory, kCarry);
  EXPECT_EQ(goal.params.stepBudget, 3);
  EXPECT_EQ(goal.params.temperature, 0.5);
  EXPECT_EQ(goal.objective, "Find it");
  Value restored = Value::object(
      {{"params", Value::object({{"stepBudget", Value()}, {"temperature", Value()}})}});
  ASSERT_TRUE(apply_changes(goal, restored).ok());
  EXPECT_EQ(goal.params.stepBudget, kStepBudgetDefault);
  EXPECT_EQ(goal.params.temperature, std::nullopt);
  EXPECT_EQ(goal.memory, kCarry);
  Value wrong = Value::object({{"params", Value::object({{"stepBudget", "many"}})}});
  EXPECT_FALSE(apply_changes(goal, wrong).ok());
}

}  // namespace
}  // namespace belay::goals
