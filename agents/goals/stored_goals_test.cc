// Runs whose input has the id of a goal only, as those of a trigger or a schedule.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/planner_fixture.h"
#include "belay/runtime.h"

namespace belay::goals {
namespace {

using ::testing::HasSubstr;

GoalRun id_only(std::string id = "g") {
  GoalRun run;
  run.goal.id = std::move(id);
  return run;
}

Goal stored(std::string objective) {
  Goal goal;
  goal.id = "g";
  goal.objective = std::move(objective);
  goal.params.stepBudget = 4;
  return goal;
}

// Runs of one thread with the stored goal "g".
class StoredGoal : public ::testing::Test {
 protected:
  StoredGoal() { runtime_->add(graph_); }

  void save(const Goal& goal) { write(record_write(goal, UserId("local")).value()); }
  void remove() {
    RecordWrite erasure = record_write(stored("x"), UserId("local")).value();
    erasure.erase = true;
    write(std::move(erasure));
  }
  RunView run_goal() {
    StartOptions options;
    options.thread = ThreadId("goal-g");
    requests_before_ = model_.requests().size();
    return block_on(loop_, runtime_->start(graph_, id_only(), options)).value();
  }
  std::size_t new_requests() { return model_.requests().size() - requests_before_; }
  const std::string& first_prompt() { return model_.requests()[requests_before_].messages[0].text; }

  void write(RecordWrite one) {
    std::vector<RecordWrite> writes;
    writes.push_back(std::move(one));
    auto saved = block_on(loop_, runtime_->save(default_tenant(), std::move(writes)));
    ASSERT_TRUE(saved.ok()) << saved.error().message;
  }

  testing::SimulatedClock clock_{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random_{1};
  testing::SimulatedLoop loop_{clock_};
  testing::ScriptedModel model_ =
      plans({planned("I look.", {{"1", "look", words("a")}}), planned("Done.")});
  std::unique_ptr<Store> store_ = open_store("memory:", clock_, random_).value();
  std::unique_ptr<Runtime> runtime_ =
      Runtime::open(RuntimeParts{*store_, loop_, clock_, random_, model_}).value();
  Graph<GoalRun> graph_ = goal_graph({look_tool()}).value();
  std::size_t requests_before_ = 0;
};

TEST_F(StoredGoal, IsReadWhenItsRunBegins) {
  save(stored("Find it"));
  RunView first = run_goal();
  ASSERT_EQ(first.row.status, RunStatus::completed) << first.row.error;
  EXPECT_EQ(first.row.outcome, "finished");
  EXPECT_THAT(first_prompt(), HasSubstr("Your objective: Find it"));
  EXPECT_THAT(first_prompt(), HasSubstr("You have 3 steps remaining"));
  EXPECT_EQ(first.state["goal"]["objective"], Value("Find it"));
  save(stored("Find another"));
  RunView second = run_goal();
  EXPECT_EQ(second.row.outcome, "finished");
  EXPECT_THAT(first_prompt(), HasSubstr("Your objective: Find another"));
}

TEST_F(StoredGoal, ThatIsPausedEndsItsRunWithoutAStep) {
  Goal goal = stored("Find it");
  goal.status = kPaused;
  save(goal);
  RunView view = run_goal();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.row.outcome, "goal_paused");
  EXPECT_EQ(view.state["outcome"], Value("goal_paused"));
  EXPECT_EQ(view.state["step"], Value(0));
  EXPECT_EQ(new_requests(), 0u);
}

TEST_F(StoredGoal, ThatWasRemovedEndsItsRunWithoutAStep) {
  RunView never = run_goal();
  EXPECT_EQ(never.row.status, RunStatus::completed) << never.row.error;
  EXPECT_EQ(never.row.outcome, "goal_removed");
  save(stored("Find it"));
  EXPECT_EQ(run_goal().row.outcome, "finished");
  remove();
  RunView view = run_goal();
  EXPECT_EQ(view.row.outcome, "goal_removed");
  EXPECT_EQ(view.state["summary"], Value(""));
  EXPECT_EQ(new_requests(), 0u);
}

TEST_F(StoredGoal, ThatCarriesItsMemoryKeepsItOverARunWithoutSteps) {
  Goal goal = stored("Find it");
  goal.memory = kCarry;
  save(goal);
  ASSERT_EQ(run_goal().row.outcome, "finished");
  goal.status = kPaused;
  save(goal);
  ASSERT_EQ(run_goal().row.outcome, "goal_paused");
  goal.status = kActive;
  save(goal);
  ASSERT_EQ(run_goal().row.outcome, "finished");
  EXPECT_THAT(first_prompt(), HasSubstr("\"step_1_look_0\": \"saw a\""));
  EXPECT_THAT(first_prompt(), HasSubstr("\"summary\": \"Summary.\""));
}

TEST_F(StoredGoal, OfARunIsThatOfItsTimeInAReplay) {
  save(stored("Find it"));
  RunView view = run_goal();
  remove();
  ReplayOptions options;
  options.thread = view.row.thread;
  auto report = block_on(loop_, runtime_->replay(std::move(options)));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->divergence.has_value());
}

TEST_F(StoredGoal, WithAnInvalidBudgetFailsTheRun) {
  Goal goal = stored("Find it");
  goal.params.stepBudget = 0;
  save(goal);
  RunView view = run_goal();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("Invalid stepBudget: expected 1 to 100. Edit the goal."));
}

TEST(StoredGoalBudget, OfTokensEndsARunOfAScheduleToo) {
  Goal goal = stored("Find it");
  goal.params.stepBudget = 50;
  goal.params.tokenBudget = 250;  // a reply has 100 tokens
  auto run = testing::World{}
                 .model(plans({planned("Again.", {{"1", "look", words("a")}})}))
                 .record(goal)
                 .run(goal_graph({look_tool()}), id_only())
                 .approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(run.outcome(), "tokens_spent");
  EXPECT_EQ(run.records<GoalStep>().size(), 3u);
  EXPECT_EQ(run.state().summary, "Summary.");
}

TEST(StoredGoalCrash, AtEachPointLeavesTheSameStateAndSteps) {
  auto world =
      testing::World{}
          .model(plans({planned("Both.", {{"1", "look", words("a")}, {"2", "note", words("b")}}),
                        planned("Done.")}))
          .record(stored("Find it"));
  auto graph = goal_graph({look_tool(), note_tool()});
  auto calm = world.run(graph, id_only()).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  for (const auto& crash : calm.crash_points()) {
    auto rough = world.run(graph, id_only()).crash_at(crash).approve_all();
    ASSERT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(step_texts(rough.records<GoalStep>()), step_texts(calm.records<GoalStep>()));
    EXPECT_EQ(rough.effects("call"), 1);
    EXPECT_EQ(rough.outcome(), "finished");
  }
}

}  // namespace
}  // namespace belay::goals
