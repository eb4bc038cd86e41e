// Runs of goals through crashes, approvals, and over several runs of one thread.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/builtin_planner.h"
#include "agents/goals/planner_fixture.h"
#include "belay/runtime.h"

namespace belay::goals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(GoalCrash, AtEachPointLeavesTheSameStateAndStepsAndOneEffect) {
  auto world = testing::World{}.model(
      plans({planned("Both.", {{"1", "look", words("a")}, {"2", "note", words("b")}}),
             planned("Large.", {{"1", "look", words("large")}, {"2", "fly", words("")}}),
             planned("Done.")}));
  auto graph = goal_graph({look_tool(), note_tool()});
  auto calm = world.run(graph, goal_input()).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  ASSERT_EQ(calm.effects("call"), 1);
  auto points = calm.crash_points();
  ASSERT_GT(points.size(), 15u);
  for (const auto& crash : points) {
    auto rough = world.run(graph, goal_input()).crash_at(crash).approve_all();
    ASSERT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(step_texts(rough.records<GoalStep>()), step_texts(calm.records<GoalStep>()));
    EXPECT_EQ(rough.records<GoalResult>().size(), 1u);
    EXPECT_EQ(rough.effects("call"), 1);
    EXPECT_EQ(rough.outcome(), "finished");
  }
}

GoalRun limited_goal() {
  GoalRun input = goal_input();
  input.goal.params.tokenLimit = 150;  // a reply has 100 tokens
  return input;
}

testing::World looking_world() {
  return testing::World{}.model(
      plans({planned("1.", {{"1", "look", words("a")}}), planned("2.", {{"1", "look", words("b")}}),
             planned("3.", {{"1", "look", words("c")}}), planned("Done.")}));
}

TEST(GoalTokenLimit, AnApprovalAddsTheSameAmountAgain) {
  auto run = looking_world().run(goal_graph({look_tool()}), limited_goal()).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "finished");
  ASSERT_EQ(run.approvals().size(), 2u) << "at 200 tokens, and at 300";
  EXPECT_EQ(run.approvals()[0].question,
            "The goal has used 200 tokens; its limit is 150. Continue with 150 more?");
  EXPECT_EQ(run.state().tokenLimit, 450);
  EXPECT_EQ(run.records<GoalStep>().size(), 4u);
}

TEST(GoalTokenLimit, ARejectionEndsTheRunWithASummary) {
  auto run = looking_world().run(goal_graph({look_tool()}), limited_goal()).reject_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "tokens_spent");
  EXPECT_EQ(run.state().summary, "Summary.");
  EXPECT_EQ(run.records<GoalStep>().size(), 2u);
  auto late = looking_world().run(goal_graph({look_tool()}), limited_goal()).let_expire();
  EXPECT_EQ(late.outcome(), "tokens_spent");
  EXPECT_EQ(late.state().summary, "Summary.");
}

TEST(GoalTokenLimit, CanBeEditedByThePersonWhoApproves) {
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  decision.edited =
      Value::object({{"objective", "Find it"}, {"tokens", 200}, {"limit", 150}, {"adds", 5'000}});
  auto run = looking_world()
                 .run(goal_graph({look_tool()}), limited_goal())
                 .decide("confirm", decision)
                 .approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.approvals().size(), 1u);
  EXPECT_EQ(run.state().tokenLimit, 5'150);
}

TEST(GoalApprovals, ACallAfterAnUntrustedResultWaitsForAPerson) {
  ToolOptions options{.name = "look", .description = "Looks.", .effect = ToolEffect::reads};
  options.untrusted = true;
  Tool untrusted = make_tool<Words>(
      options, [](const Words& arguments, ToolContext&) { return "saw " + arguments.text; });
  auto world =
      testing::World{}.model(plans({planned("1.", {{"1", "look", words("a")}}),
                                    planned("2.", {{"1", "note", words("b")}}), planned("Done.")}));
  auto graph = goal_graph({untrusted, note_tool()});
  auto approved = world.run(graph, goal_input()).approve_all();
  ASSERT_EQ(approved.approvals().size(), 1u);
  EXPECT_THAT(approved.approvals()[0].question, HasSubstr("Call the tool \"note\"?"));
  EXPECT_EQ(approved.effects("call"), 1);
  auto rejected = world.run(graph, goal_input()).reject_all();
  EXPECT_EQ(rejected.effects("call"), 0);
  EXPECT_EQ(rejected.outcome(), "finished");
  EXPECT_THAT(rejected.records<GoalStep>()[1].error, HasSubstr("a person rejected this call"));
}

// Several runs of one thread, in a store in memory.
class GoalThread : public ::testing::Test {
 protected:
  GoalThread() { runtime_->add(graph_); }

  RunView run_goal(std::string_view memory, std::string objective = "Find it") {
    GoalRun input = goal_input(std::move(objective));
    input.goal.memory = memory;
    StartOptions options;
    options.thread = ThreadId("goal-g");
    auto view = block_on(loop_, runtime_->start(graph_, input, options));
    return std::move(view).value();
  }
  // The system prompt of the first step of the run that was executed last.
  const std::string& first_prompt() { return model_.requests()[first_].messages[0].text; }
  void next_run() { first_ = model_.requests().size(); }

  testing::SimulatedClock clock_{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random_{1};
  testing::SimulatedLoop loop_{clock_};
  testing::ScriptedModel model_ =
      plans({planned("I look.", {{"1", "look", words("large")}, {"2", "look", words("a")}}),
             planned("Done.")});
  std::unique_ptr<Store> store_ = open_store("memory:", clock_, random_).value();
  std::unique_ptr<Runtime> runtime_ =
      Runtime::open(RuntimeParts{*store_, loop_, clock_, random_, model_}).value();
  Graph<GoalRun> graph_ = goal_graph({look_tool()}).value();
  std::size_t first_ = 0;
};

TEST_F(GoalThread, ARunWithCarriedMemoryReadsThatOfTheLastRun) {
  ASSERT_EQ(run_goal(kCarry).row.status, RunStatus::completed);
  next_run();
  RunView second = run_goal(kCarry, "Find more");
  ASSERT_EQ(second.row.status, RunStatus::completed);
  EXPECT_THAT(first_prompt(), HasSubstr("Your objective: Find more"));
  EXPECT_THAT(first_prompt(), HasSubstr("\"last_run\": {"));
  EXPECT_THAT(first_prompt(), HasSubstr("\"summary\": \"Summary.\""));
  EXPECT_THAT(first_prompt(), HasSubstr("\"step_1_look_1\": \"saw a\""));
  EXPECT_EQ(second.state["step"], Value(2));
  EXPECT_EQ(second.state["history"].as_array()->size(), 2u);
  EXPECT_EQ(second.state["memory"].as_array()->size(), 3u);
}

TEST_F(GoalThread, ARunWithFreshMemoryStartsWithoutAny) {
  ASSERT_EQ(run_goal(kCarry).row.status, RunStatus::completed);
  next_run();
  ASSERT_EQ(run_goal(kFresh).row.status, RunStatus::completed);
  EXPECT_THAT(first_prompt(), HasSubstr("(your scratchpad):\n{}"));
  EXPECT_THAT(first_prompt(), Not(HasSubstr("Summary.")));
}

TEST_F(GoalThread, StepsOfEachRunAreReadInOrder) {
  RunView first = run_goal(kFresh);
  RunView second = run_goal(kFresh);
  auto records = runtime_->records(default_tenant(), UserId("local"));
  RecordSpan span("run_number");
  span.equal_to(second.row.run.text());
  auto page = block_on(loop_, read_page<GoalStep>(*records, span));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->records.size(), 2u);
  EXPECT_EQ(page->records[0].record.number, 1);
  EXPECT_EQ(page->records[1].record.number, 2);
  EXPECT_NE(first.row.run, second.row.run);
}

TEST_F(GoalThread, AReplayOfARunIsIdentical) {
  RunView view = run_goal(kFresh);
  ReplayOptions options;
  options.thread = view.row.thread;
  auto report = block_on(loop_, runtime_->replay(std::move(options)));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->divergence.has_value());
}

// A model that must not be called.
class OtherModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    purposes.push_back(request.purpose);
    co_return error(ErrorCode::invalid, "Not for goals.");
  }
  std::vector<std::string> purposes;
};

struct Query {
  std::string query{};
};
struct Report {
  std::string path{};
  std::string text{};
};

TEST(BuiltinPlannerRuns, SearchesWritesAReportAndStatesThatItIsAScript) {
  Tool search = make_tool<Query>(
      {.name = "search", .description = "Searches.", .effect = ToolEffect::reads},
      [](const Query& arguments, ToolContext&) { return "found " + arguments.query; });
  std::string written;
  Tool write = make_tool<Report>(
      {.name = "write_file", .description = "Writes.", .effect = ToolEffect::keyed},
      [&written](const Report& arguments, ToolContext&) {
        written = arguments.text;
        return "written";
      });
  auto other = std::make_shared<OtherModel>();
  auto world = testing::World{}.model(with_builtin_planner(other));
  auto run = world.run(goal_graph({search, write}), goal_input("the outbox")).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "finished");
  auto steps = run.records<GoalStep>();
  ASSERT_EQ(steps.size(), 3u);
  constexpr const char* script = "This is Belay's built-in planner, a script, no language model.";
  for (const GoalStep& step : steps) EXPECT_THAT(step.thought, HasSubstr(script));
  EXPECT_THAT(run.state().summary, HasSubstr(script));
  EXPECT_THAT(written, HasSubstr("found the outbox"));
  EXPECT_THAT(other->purposes, ElementsAre());
  auto none = world.run(goal_graph(), goal_input("the outbox")).approve_all();
  EXPECT_EQ(none.outcome(), "finished");
  EXPECT_EQ(none.records<GoalStep>().size(), 1u);
}

}  // namespace
}  // namespace belay::goals
