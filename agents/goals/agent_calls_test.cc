// Agents that a goal calls like tools.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/planner_fixture.h"

namespace belay::goals {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Value question_for(std::string text) { return Value::object({{"question", std::move(text)}}); }

bool has_result(const ModelRequest& request) { return request.messages.back().role == Role::tool; }

// An agent "guide" with the tool "note". It answers with the result of its call.
SubAgent guide() {
  AgentOptions options;
  options.prompt = "You guide.";
  options.tools = {note_tool()};
  return sub_agent("guide", "Knows a city.", std::move(options));
}

// The goal's replies are those of the steps; the guide calls its tool once.
testing::ScriptedModel guided(std::vector<ModelReply> steps, std::string answer = "") {
  return testing::replies_with(
      [steps = std::move(steps), answer](const ModelRequest& request) -> Result<ModelReply> {
        if (request.purpose == kSummaryPurpose) return planned("Summary.");
        if (request.purpose == "agent/guide") {
          const std::string& text = request.messages.back().text;
          if (has_result(request)) return planned(answer.empty() ? "guide: " + text : answer);
          return planned("", {{"g", "note", words(text)}});
        }
        auto index = static_cast<std::size_t>(step_of(request) - 1);
        return steps[std::min(index, steps.size() - 1)];
      });
}

std::vector<ModelReply> two_questions() {
  return {planned("Ask.", {{"1", "guide", question_for("Oslo")},
                           {"2", "look", words("a")},
                           {"3", "guide", question_for("Rome")}}),
          planned("Done.")};
}

TEST(GoalAgents, AreCalledInParallelWithTheToolsOfAStep) {
  auto run = testing::World{}
                 .model(guided(two_questions()))
                 .run(goal_graph({look_tool()}, {guide()}), goal_input())
                 .approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "finished");
  auto steps = run.records<GoalStep>();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].observation,
            "[guide] guide: noted Oslo\n[look] saw a\n[guide] guide: noted Rome");
  ASSERT_EQ(run.state().memory.size(), 4u);
  EXPECT_EQ(run.state().memory[0].key, "step_1_guide_0");
  EXPECT_EQ(run.state().tokens, 700) << "two steps, four calls of the guides, a summary";
  EXPECT_EQ(run.effects("call"), 2);
}

TEST(GoalAgents, RepeatNothingThatEndedBeforeACrashAtAnyPoint) {
  auto world = testing::World{}.model(guided(two_questions()));
  auto graph = goal_graph({look_tool()}, {guide()});
  auto calm = world.run(graph, goal_input()).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  for (const auto& crash : calm.crash_points()) {
    auto rough = world.run(graph, goal_input()).crash_at(crash).approve_all();
    ASSERT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(step_texts(rough.records<GoalStep>()), step_texts(calm.records<GoalStep>()));
    EXPECT_EQ(rough.effects("call"), 2);
  }
}

TEST(GoalAgents, AreNamedByTheToolsThatTheGoalAllows) {
  GoalRun input = goal_input();
  input.goal.params.allowedTools = {"look"};
  auto graph = goal_graph({look_tool()}, {guide()});
  auto run = testing::World{}.model(guided(two_questions())).run(graph, input).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_THAT(run.records<GoalStep>()[0].error, HasSubstr("there is no tool \"guide\""));
  EXPECT_EQ(run.effects("call"), 0);
  input.goal.params.allowedTools = {"guide"};
  run = testing::World{}.model(guided(two_questions())).run(graph, input).approve_all();
  EXPECT_THAT(run.model_requests()[0].tools, SizeIs(2)) << "guide and read_result";
  EXPECT_EQ(run.effects("call"), 2);
}

TEST(GoalAgents, NeedAQuestion) {
  auto run = testing::World{}
                 .model(guided({planned("Ask.", {{"1", "guide", Value::object({})},
                                                 {"2", "guide", question_for(" ")}}),
                                planned("Done.")}))
                 .run(goal_graph({}, {guide()}), goal_input())
                 .approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "finished");
  auto steps = run.records<GoalStep>();
  ASSERT_EQ(steps[0].calls.size(), 2u);
  for (const StepCall& call : steps[0].calls) EXPECT_THAT(call.error, HasSubstr("\"question\""));
}

TEST(GoalAgents, LargeAnswersAreStoredAsResults) {
  auto run =
      testing::World{}
          .model(guided({planned("Ask.", {{"1", "guide", question_for("Oslo")}}), planned("Done.")},
                        std::string(5'000, 'x')))
          .run(goal_graph({}, {guide()}), goal_input())
          .approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  auto results = run.records<GoalResult>();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].characters, 5'000);
  EXPECT_EQ(run.state().memory[0].result, results[0].id);
}

TEST(GoalAgents, AskForApprovalsOnceTheGoalHasReadTextOfOthers) {
  ToolOptions options{.name = "look", .description = "Looks.", .effect = ToolEffect::reads};
  options.untrusted = true;
  Tool untrusted = make_tool<Words>(
      options, [](const Words& arguments, ToolContext&) { return "saw " + arguments.text; });
  auto run =
      testing::World{}
          .model(guided({planned("1.", {{"1", "look", words("a")}}),
                         planned("2.", {{"1", "guide", question_for("Oslo")}}), planned("Done.")}))
          .run(goal_graph({untrusted}, {guide()}), goal_input())
          .approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  ASSERT_EQ(run.approvals().size(), 1u);
  EXPECT_THAT(run.approvals()[0].question, HasSubstr("Call the tool \"note\"?"));
}

TEST(GoalAgents, AreRefusedWithTheNameOfATool) {
  EXPECT_FALSE(goal_graph({look_tool()}, {sub_agent("look", "Looks.", {})}).ok());
  EXPECT_FALSE(goal_graph({}, {SubAgent{"guide", "Without options."}}).ok());
}

}  // namespace
}  // namespace belay::goals
