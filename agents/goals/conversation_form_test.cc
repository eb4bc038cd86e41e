#include "agents/goals/conversation_form.h"

#include <gtest/gtest.h>

#include "agents/goals/goal_rules.h"
#include "agents/goals/planner.h"
#include "belay/testing.h"

namespace belay::goals {
namespace {

std::vector<FormMessage> messages_in(const GoalRun& run) {
  return conversation_form().messages_of(parse_json(encode_json(run).value()).value(), "asked-1");
}

TEST(GoalConversations, HaveTheObjectiveAndTheSummaryOfARealRun) {
  auto world = testing::World{}.model(testing::replies("Done.").replies("It is done."));
  Value input = conversation_form().input_of("Do it.").value();
  auto run = world.run(goal_graph().value(), decode_json<GoalRun>(input).value()).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  std::vector<FormMessage> messages = messages_in(run.state());
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].message.role, Role::user);
  EXPECT_EQ(messages[0].message.text, "Do it.");
  EXPECT_EQ(messages[0].id, "asked-1");
  EXPECT_EQ(messages[1].message.role, Role::assistant);
  EXPECT_EQ(messages[1].message.text, run.state().summary);
}

TEST(GoalConversations, HaveTheSteeringMessagesOfThePerson) {
  GoalRun run;
  run.goal.objective = "Do it.";
  run.messages = {{1, "Faster."}};
  std::vector<FormMessage> messages = messages_in(run);
  ASSERT_EQ(messages.size(), 2u) << "there is no summary";
  EXPECT_EQ(messages[1].message.text, "Faster.");
  EXPECT_EQ(messages[1].message.role, Role::user);
}

TEST(GoalConversations, RefuseAnObjectiveThatNoGoalCanHave) {
  EXPECT_TRUE(conversation_form().input_of(std::string(kObjectiveBytesMax, 'x')).ok());
  EXPECT_FALSE(conversation_form().input_of(std::string(kObjectiveBytesMax + 1, 'x')).ok());
  EXPECT_FALSE(conversation_form().input_of(" \n").ok());
}

TEST(GoalConversations, OfAForeignStateAreEmpty) {
  for (std::string_view text : {"null", "[]", R"({"goal":7,"messages":[7],"summary":7})"}) {
    EXPECT_TRUE(conversation_form().messages_of(parse_json(text).value(), "").empty()) << text;
  }
}

}  // namespace
}  // namespace belay::goals
