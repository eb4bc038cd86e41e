#include "agents/goals/conversation_form.h"

#include <gtest/gtest.h>

#include "agents/goals/goal_rules.h"
#include "agents/goals/planner.h"
#include "agents/goals/planner_fixture.h"
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
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].message.role, Role::user);
  EXPECT_EQ(messages[0].message.text, "Do it.");
  EXPECT_EQ(messages[0].id, "asked-1");
  EXPECT_EQ(messages[1].message.role, Role::assistant);
  EXPECT_EQ(messages[1].message.text, "Done.");
  EXPECT_EQ(messages[2].message.text, run.state().summary);
  EXPECT_TRUE(messages[1].id.starts_with("run-")) << "that of the streamed text";
  EXPECT_TRUE(messages[2].id.starts_with("run-"));
  EXPECT_NE(messages[1].id, messages[2].id);
}

TEST(GoalConversations, HaveTheCallsOfARealRunAndTheirResults) {
  auto world = testing::World{}.model(
      plans({planned("I look.", {{"a", "look", Value::object({{"text", "here"}})},
                                 {"b", "look", Value::object({{"text", "nothing"}})}}),
             planned("Done.")}));
  Value input = conversation_form().input_of("Look.").value();
  auto run = world.run(goal_graph({look_tool()}).value(), decode_json<GoalRun>(input).value())
                 .approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  std::vector<FormMessage> messages = messages_in(run.state());
  ASSERT_EQ(messages.size(), 6u);
  const std::vector<ToolCall>& calls = messages[1].message.tool_calls;
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].name, "look");
  EXPECT_EQ(calls[0].arguments["text"], Value("here"));
  EXPECT_EQ(messages[2].message.role, Role::tool);
  EXPECT_EQ(messages[2].message.tool_call_id, calls[0].id);
  EXPECT_EQ(messages[2].message.text, "saw here");
  EXPECT_FALSE(messages[2].is_error);
  EXPECT_EQ(messages[3].message.tool_call_id, calls[1].id);
  EXPECT_TRUE(messages[3].is_error);
  EXPECT_EQ(messages[4].message.text, "Done.");
  EXPECT_EQ(messages[5].message.text, "Summary.");
}

TEST(GoalConversations, OfAStepInProgressHaveTheResultsSoFar) {
  GoalRun run;
  run.goal.objective = "Do it.";
  run.history = {{1, "First.", "look", "", "run-1", {{"look", Value::Object(), "saw", false}}}};
  run.step = 2;
  run.thought = "Second.";
  run.messageId = "run-2";
  run.calls = {{{"step_2_0", "look", Value::Object()}, ""},
               {{"step_2_1", "look", Value::Object()}, ""},
               {{"step_2_2", "fly", Value::Object()}, "There is no such tool."}};
  run.results["1"].text = "saw there";
  run.messages = {{2, "Faster."}};
  std::vector<FormMessage> messages = messages_in(run);
  ASSERT_EQ(messages.size(), 7u);
  EXPECT_EQ(messages[1].id, "run-1");
  EXPECT_EQ(messages[2].message.tool_call_id, "step_1_0");
  EXPECT_EQ(messages[3].message.text, "Faster.") << "before the step that has used it";
  EXPECT_EQ(messages[4].id, "run-2");
  EXPECT_EQ(messages[4].message.tool_calls.size(), 3u);
  EXPECT_EQ(messages[5].message.tool_call_id, "step_2_1");
  EXPECT_EQ(messages[6].message.text, "There is no such tool.");
  EXPECT_TRUE(messages[6].is_error);
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
