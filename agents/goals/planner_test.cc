// Whole runs of the graph "goal", with scripted models.

#include "agents/goals/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/planner_fixture.h"

namespace belay::goals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

testing::World world_with(testing::ScriptedModel model) {
  return testing::World{}.model(std::move(model));
}

TEST(GoalPlanner, PlansCallsRecordsAndSummarizes) {
  auto world =
      world_with(plans({planned("I look.", {{"1", "look", words("a")}}),
                        planned("I note.", {{"1", "note", words("b")}}), planned("It is found.")}));
  auto run = world.run(goal_graph({look_tool(), note_tool()}), goal_input()).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "finished");
  EXPECT_EQ(run.state().summary, "Summary.");
  EXPECT_THAT(run.path(), ElementsAre("begin", "plan", "act", "record", "plan", "act", "record",
                                      "plan", "record", "summarize", "finish"));
  auto steps = run.records<GoalStep>();
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].number, 1);
  EXPECT_EQ(steps[0].thought, "I look.");
  EXPECT_EQ(steps[0].observation, "[look] saw a");
  ASSERT_EQ(steps[0].calls.size(), 1u);
  EXPECT_EQ(steps[0].calls[0].tool, "look");
  EXPECT_EQ(steps[0].calls[0].input, words("a"));
  EXPECT_EQ(steps[0].calls[0].observation, "saw a");
  EXPECT_EQ(steps[2].thought, "It is found.");
  EXPECT_THAT(steps[2].calls, IsEmpty());
  ASSERT_EQ(run.state().memory.size(), 3u);
  EXPECT_EQ(run.state().memory[0].key, "step_1_look_0");
  EXPECT_EQ(run.state().memory[1].key, "step_2_note_0");
  EXPECT_EQ(run.state().memory[2].key, "summary");
}

TEST(GoalPlanner, SendsThePromptsOfItsRules) {
  auto world =
      world_with(plans({planned("I look.", {{"1", "look", words("a")}}), planned("It is found.")}));
  GoalRun input = goal_input();
  input.goal.params.stepBudget = 4;
  input.goal.params.temperature = 1.0;
  input.goal.params.maxTokens = 901;
  auto run = world.run(goal_graph({look_tool()}), input).approve_all();
  ASSERT_EQ(run.model_requests().size(), 3u);
  const ModelRequest& first = run.model_requests()[0];
  ASSERT_EQ(first.messages.size(), 2u);
  EXPECT_EQ(first.messages[0].role, Role::system);
  EXPECT_THAT(first.messages[0].text, HasSubstr("Your objective: Find it"));
  EXPECT_THAT(first.messages[0].text, HasSubstr("- look: Looks."));
  EXPECT_THAT(first.messages[0].text, HasSubstr("You have 3 steps remaining"));
  EXPECT_THAT(first.messages[0].text, HasSubstr("(your scratchpad):\n{}"));
  EXPECT_THAT(first.messages[1].text, HasSubstr("This is the start of your task."));
  EXPECT_EQ(first.temperature, 1.0);
  EXPECT_EQ(first.max_output_tokens, 901);
  const ModelRequest& second = run.model_requests()[1];
  EXPECT_THAT(second.messages[0].text, HasSubstr("\"step_1_look_0\": \"saw a\""));
  EXPECT_THAT(second.messages[1].text, HasSubstr("Step 1: I look.\nTool used: look\n"));
  const ModelRequest& summary = run.model_requests()[2];
  EXPECT_THAT(summary.tools, IsEmpty());
  EXPECT_DOUBLE_EQ(summary.temperature.value(), 0.7);
  EXPECT_EQ(summary.max_output_tokens, 450);
  EXPECT_THAT(summary.messages.back().text, HasSubstr("- Step 1: I look.\n  Result: [look] saw a"));
}

TEST(GoalPlanner, CallsAllToolsOfAStepInParallel) {
  auto world =
      world_with(plans({planned("Both.", {{"1", "look", words("a")}, {"1", "look", words("b")}}),
                        planned("Done.")}));
  auto run = world.run(goal_graph({look_tool()}), goal_input()).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  auto steps = run.records<GoalStep>();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].observation, "[look] saw a\n[look] saw b");
  EXPECT_EQ(run.state().memory[0].key, "step_1_look_0");
  EXPECT_EQ(run.state().memory[1].key, "step_1_look_1");
  EXPECT_EQ(run.attempts("act"), 2);
}

TEST(GoalPlanner, AStopWithCallsIsNotTheEnd) {
  auto world = world_with(plans(
      {planned("I look.", {{"1", "look", words("a")}}, StopReason::complete), planned("Done.")}));
  auto run = world.run(goal_graph({look_tool()}), goal_input()).approve_all();
  EXPECT_EQ(run.records<GoalStep>().size(), 2u);
  EXPECT_EQ(run.outcome(), "finished");
}

TEST(GoalPlanner, APlannerThatNeverFinishesSpendsItsSteps) {
  auto world = world_with(plans({planned("Again.", {{"1", "look", words("a")}})}));
  GoalRun input = goal_input();
  input.goal.params.stepBudget = 3;
  auto run = world.run(goal_graph({look_tool()}), input).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "steps_spent");
  EXPECT_EQ(run.state().summary, "Summary.");
  auto steps = run.records<GoalStep>();
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[2].observation, "[look] saw a") << "the calls of the last step are executed";
  EXPECT_THAT(run.model_requests()[2].messages[0].text, HasSubstr("You have 0 steps remaining"));
}

TEST(GoalPlanner, FaultsOfCallsAreObservations) {
  auto world = world_with(plans({planned("Try.", {{"1", "look", words("nothing")},
                                                  {"2", "fly", words("a")},
                                                  {"3", "look", Value("not an object")},
                                                  {"4", "look", Value::object({{"n", 1}})},
                                                  {"5", "look", words("a")}}),
                                 planned("Done.")}));
  auto run = world.run(goal_graph({look_tool()}), goal_input()).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "finished");
  auto steps = run.records<GoalStep>();
  ASSERT_EQ(steps.size(), 2u);
  ASSERT_EQ(steps[0].calls.size(), 5u);
  EXPECT_EQ(steps[0].calls[0].error, "Error: Nothing there.");
  EXPECT_THAT(steps[0].observation, HasSubstr("[look] Error: Nothing there."));
  EXPECT_THAT(steps[0].observation, HasSubstr("[fly] Error: there is no tool \"fly\". The tools "
                                              "are: look, read_result."));
  EXPECT_THAT(steps[0].calls[2].error, HasSubstr("Error: the arguments do not fit the tool"));
  EXPECT_THAT(steps[0].calls[3].error, HasSubstr("Error: the arguments do not fit the tool"));
  EXPECT_EQ(steps[0].calls[4].observation, "saw a");
  EXPECT_THAT(steps[0].error, Not(HasSubstr("saw a")));
  ASSERT_EQ(run.state().memory.size(), 2u) << "errors are not part of the memory";
  EXPECT_EQ(run.state().memory[0].key, "step_1_look_4");
}

TEST(GoalPlanner, RepliesWithoutSenseAreRecorded) {
  ModelReply refused = planned("");
  refused.stop_reason = StopReason::refused;
  auto no = world_with(plans({refused})).run(goal_graph(), goal_input()).approve_all();
  ASSERT_TRUE(no.ok()) << no.error()->message;
  EXPECT_EQ(no.outcome(), "finished");
  ASSERT_EQ(no.records<GoalStep>().size(), 1u);
  EXPECT_THAT(no.records<GoalStep>()[0].error, HasSubstr("refused"));

  ModelReply cut = planned("I", {{"1", "look", words("a")}}, StopReason::length);
  auto half = world_with(plans({cut, planned("Done.")}))
                  .run(goal_graph({look_tool()}), goal_input())
                  .approve_all();
  EXPECT_THAT(half.records<GoalStep>()[0].error, HasSubstr("cut off"));

  std::vector<ToolCall> many(40, ToolCall{"1", "look", words("a")});
  auto flood = world_with(plans({planned("Look.", many), planned("Done.")}))
                   .run(goal_graph({look_tool()}), goal_input())
                   .approve_all();
  ASSERT_TRUE(flood.ok()) << flood.error()->message;
  EXPECT_EQ(flood.records<GoalStep>()[0].thought, "Look.");
  EXPECT_EQ(flood.records<GoalStep>()[0].calls.size(), kStepCallsMax);
  EXPECT_THAT(flood.records<GoalStep>()[0].error, HasSubstr("24 calls were dropped"));
}

TEST(GoalPlanner, UsesTheToolsThatTheGoalAllows) {
  auto world = world_with(plans({planned("Note.", {{"1", "note", words("a")}}), planned("Done.")}));
  GoalRun input = goal_input();
  input.goal.params.allowedTools = {"look", "removed"};
  auto run = world.run(goal_graph({look_tool(), note_tool()}), input).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  ASSERT_EQ(run.model_requests()[0].tools.size(), 2u);
  EXPECT_EQ(run.model_requests()[0].tools[0].name, "look");
  EXPECT_EQ(run.model_requests()[0].tools[1].name, kReadResult);
  EXPECT_THAT(run.records<GoalStep>()[0].error, HasSubstr("there is no tool \"note\""));
  EXPECT_EQ(run.effects("call"), 0);
}

TEST(GoalPlanner, ALargeResultIsStoredOnceAndReadInParts) {
  auto script = testing::replies_with([](const ModelRequest& request) -> Result<ModelReply> {
    if (request.purpose == kSummaryPurpose) return planned("Summary.");
    if (step_of(request) == 1) return planned("Look.", {{"1", "look", words("large")}});
    if (step_of(request) == 3) return planned("Done.");
    const std::string& prompt = request.messages[0].text;
    std::size_t begin = prompt.find("\"result\":\"") + 10;
    std::string id = prompt.substr(begin, prompt.find('"', begin) - begin);
    Value part = Value::object({{"result", id}, {"offset", 4'998}, {"length", 5}});
    Value other = Value::object({{"result", "another"}});
    return planned("Read.", {{"1", "read_result", part}, {"2", "read_result", other}});
  });
  auto run = world_with(script).run(goal_graph({look_tool()}), goal_input()).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  auto results = run.records<GoalResult>();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].characters, 5'005);
  EXPECT_EQ(results[0].goal, "g");
  EXPECT_EQ(run.state().memory[0].result, results[0].id);
  EXPECT_EQ(run.state().memory[0].text, std::string(500, 'x'));
  auto steps = run.records<GoalStep>();
  EXPECT_LT(steps[0].observation.size(), 1'000u);
  EXPECT_EQ(steps[1].calls[0].observation, "xx€ e\n[Characters 4998 to 5003 of 5005.]");
  EXPECT_THAT(steps[1].calls[1].error, HasSubstr("has no result \"another\""));
}

TEST(GoalPlanner, TheMemoryOfAPromptStaysWithinItsBound) {
  auto long_look =
      make_tool<Words>({.name = "look", .description = "Looks.", .effect = ToolEffect::reads},
                       [](const Words& arguments, ToolContext&) {
                         return arguments.text + std::string(3'900, 'x');
                       });
  auto script = testing::replies_with([](const ModelRequest& request) -> Result<ModelReply> {
    if (request.purpose == kSummaryPurpose) return planned("Summary.");
    std::string step = std::to_string(step_of(request));
    return planned("Look.", {{"1", "look", words(step)}, {"2", "look", words(step)}});
  });
  GoalRun input = goal_input();
  input.goal.params.stepBudget = 15;
  auto run = world_with(script).run(goal_graph({long_look}), input).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  for (const ModelRequest& request : run.model_requests()) {
    EXPECT_LE(request.messages.back().text.size(), kMemoryBytesMax + 20'000);
    const std::string& prompt = request.messages[0].text;
    std::size_t memory = prompt.find("(your scratchpad):\n");
    if (memory != prompt.npos) {
      EXPECT_LE(prompt.size() - memory, kMemoryBytesMax + 30);
    }
  }
  auto results = run.records<GoalResult>();
  EXPECT_GT(results.size(), 5u) << "the oldest results are stored as records";
  EXPECT_EQ(run.state().memory[0].key, "step_1_look_0");
  EXPECT_FALSE(run.state().memory[0].result.empty());
}

TEST(GoalPlanner, AFailedSummaryNamesItsErrorAndTheRunCompletes) {
  for (ErrorCode code : {ErrorCode::invalid, ErrorCode::unavailable}) {
    auto script = testing::replies_with([code](const ModelRequest& request) -> Result<ModelReply> {
      if (request.purpose == kSummaryPurpose) return error(code, "No summary today.");
      return planned("Done.");
    });
    auto run = world_with(script).run(goal_graph(), goal_input()).approve_all();
    ASSERT_TRUE(run.ok()) << run.error()->message;
    EXPECT_EQ(run.status(), RunStatus::completed);
    EXPECT_EQ(run.outcome(), "finished");
    EXPECT_EQ(run.state().summary, "The summary could not be generated: No summary today.");
    EXPECT_EQ(run.attempts("summarize"), code == ErrorCode::invalid ? 1 : 3);
  }
}

TEST(GoalPlanner, AFailedPlanFailsTheRun) {
  auto world = world_with(testing::fails(error(ErrorCode::invalid, "No such model.")));
  auto run = world.run(goal_graph(), goal_input()).approve_all();
  EXPECT_EQ(run.status(), RunStatus::failed);
  EXPECT_THAT(run.error()->message, HasSubstr("No such model."));
}

TEST(GoalPlanner, AnInputWithoutAGoalFails) {
  auto run = world_with(plans({planned("Done.")})).run(goal_graph(), GoalRun{}).approve_all();
  EXPECT_EQ(run.status(), RunStatus::failed);
}

TEST(GoalPlanner, ASpentTokenBudgetEndsInASummary) {
  auto world = world_with(plans({planned("Again.", {{"1", "look", words("a")}})}));
  RunOptions options;
  options.budget.tokens = 2'800;
  GoalRun input = goal_input();
  input.goal.params.maxTokens = 100;
  input.goal.params.stepBudget = 50;
  auto run = world.run(goal_graph({look_tool()}), input).options(options).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "tokens_spent");
  EXPECT_GT(run.records<GoalStep>().size(), 0u);
  EXPECT_FALSE(run.state().summary.empty());
}

// A model that charges a millionth of a money unit for each token, and answers as `plans`.
class PricedModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    ++calls;
    if (request.purpose == kSummaryPurpose) co_return planned("Summary.");
    co_return planned("Again.", {{"1", "look", words("a")}});
  }
  std::optional<ModelPrice> price(const ModelRequest&) const override {
    return ModelPrice{1'000'000, 1'000'000};
  }
  int calls = 0;
};

TEST(GoalPlanner, ASpentCostBudgetEndsInASummary) {
  testing::SimulatedClock clock{*instant_from("2026-11-28T12:00:00Z")};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  auto store = open_memory_store(clock, random);
  PricedModel model;
  RuntimeParts parts{*store, loop, clock, random, model};
  auto runtime = Runtime::open(std::move(parts)).value();
  auto graph = goal_graph({look_tool()}).value();
  runtime->add(graph);
  GoalRun input = goal_input();
  input.goal.params.maxTokens = 100;
  input.goal.params.stepBudget = 50;
  StartOptions options;
  options.run.budget.money = 2'800;
  auto view = block_on(loop, runtime->start(graph, std::move(input), std::move(options)));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->row.outcome, "cost_spent");
  EXPECT_GT(model.calls, 0);
  EXPECT_LE(view->spending->spent.money + view->spending->reserved.money, 2'800);
  EXPECT_FALSE(view->state["summary"].as_string()->empty());
}

}  // namespace
}  // namespace belay::goals
