// Steering messages to runs of goals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/planner_fixture.h"
#include "agents/goals/prompts.h"
#include "belay/runtime.h"
#include "belay/service.h"

namespace belay::goals {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SteeringMessage message(std::string id, const std::string& run,
                        SteeringUse use = SteeringUse::next_call) {
  SteeringMessage sent;
  sent.id = std::move(id);
  sent.run = run;
  sent.thread = "t";
  sent.text = "text of " + sent.id;
  sent.use = name_of(use);
  sent.by = "ana";
  sent.created_at = *instant_from("2026-01-01T09:00:00Z");
  return sent;
}

constexpr const char* kRound = "Messages of people to this run";

// Scenarios of one world have the same run id. It is that of the steps.
std::string run_id_of(const testing::ScenarioResult<GoalRun>& run) {
  auto steps = run.records<GoalStep>();
  return steps.empty() ? "" : steps.front().run;
}

std::string last_prompt(const ModelRequest& request) { return request.messages.back().text; }

class GoalMessages : public ::testing::Test {
 protected:
  GoalMessages() {
    world.model(plans({planned("I look.", {{"1", "look", words("a")}}), planned("Enough.")}));
    run_id = run_id_of(world.run(graph, goal_input()).approve_all());
  }
  testing::ScenarioResult<GoalRun> run(GoalRun input = goal_input()) {
    return world.run(graph, std::move(input)).approve_all();
  }

  Result<Graph<GoalRun>> graph = goal_graph({look_tool()});
  testing::World world;
  std::string run_id;
};

TEST_F(GoalMessages, AreInThePromptOfTheNextStepAndOfAllLaterOnes) {
  world.record(message("a", run_id));
  auto steered = run();
  ASSERT_TRUE(steered.ok()) << steered.error()->message;
  ASSERT_EQ(run_id_of(steered), run_id);
  ASSERT_EQ(steered.model_requests().size(), 3u);
  for (const ModelRequest& request : steered.model_requests()) {
    EXPECT_THAT(last_prompt(request), HasSubstr("Before step 1: text of a\n"));
  }
  auto messages = steered.records<SteeringMessage>();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_FALSE(messages[0].waits);
  EXPECT_FALSE(messages[0].used_by.empty());
  ASSERT_EQ(steered.state().messages.size(), 1u) << "used once";
  EXPECT_EQ(steered.state().messages[0].step, 1);
}

TEST_F(GoalMessages, ForAfterTheAnswerBeginAnotherRoundOfSteps) {
  world.record(message("a", run_id, SteeringUse::after_answer));
  auto steered = run();
  ASSERT_TRUE(steered.ok()) << steered.error()->message;
  EXPECT_EQ(steered.outcome(), "finished");
  EXPECT_EQ(steered.records<GoalStep>().size(), 3u);
  ASSERT_EQ(steered.model_requests().size(), 4u) << "three steps and one summary";
  EXPECT_THAT(last_prompt(steered.model_requests()[1]), Not(HasSubstr(kRound)));
  EXPECT_THAT(last_prompt(steered.model_requests()[2]), HasSubstr("Before step 3: text of a\n"));
  EXPECT_THAT(last_prompt(steered.model_requests()[3]), HasSubstr("Before step 3: text of a\n"));
}

TEST_F(GoalMessages, StayUnusedIfNoStepRemains) {
  GoalRun input = goal_input();
  input.goal.params.stepBudget = 2;
  world.record(message("a", run_id, SteeringUse::after_answer));
  auto spent = run(input);
  ASSERT_TRUE(spent.ok()) << spent.error()->message;
  EXPECT_EQ(spent.outcome(), "finished");
  ASSERT_EQ(spent.records<SteeringMessage>().size(), 1u);
  EXPECT_TRUE(spent.records<SteeringMessage>()[0].waits);
  input.goal.params.stepBudget = 1;
  EXPECT_EQ(run(input).outcome(), "steps_spent");
  EXPECT_TRUE(run(input).records<SteeringMessage>()[0].waits);
}

TEST_F(GoalMessages, StayUnusedIfNoModelReplied) {
  world.model(testing::fails(error(ErrorCode::invalid, "No such model.")));
  world.record(message("a", run_id));
  auto failed = run();
  EXPECT_EQ(failed.status(), RunStatus::failed);
  ASSERT_EQ(failed.records<SteeringMessage>().size(), 1u);
  EXPECT_TRUE(failed.records<SteeringMessage>()[0].waits);
}

TEST_F(GoalMessages, AreUsedOnceWhicheverPointTheProcessDiesAt) {
  world.record(message("a", run_id)).record(message("b", run_id));
  world.record(message("c", run_id, SteeringUse::after_answer));
  auto calm = run();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  ASSERT_EQ(calm.state().messages.size(), 2u) << "a and b together, then c";
  for (const auto& crash : calm.crash_points()) {
    auto rough = world.run(graph, goal_input()).crash_at(crash).approve_all();
    ASSERT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(step_texts(rough.records<GoalStep>()), step_texts(calm.records<GoalStep>()));
    for (const auto& used : rough.records<SteeringMessage>()) EXPECT_FALSE(used.waits);
  }
}

// Calls a function during its first summary, which sends a message as another process would.
class SummaryModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    requests.push_back(request);
    std::string text = "Enough.";
    if (request.purpose == kSummaryPurpose) text = "Summary " + std::to_string(++summaries) + ".";
    request.on_text_delta(text);
    if (request.purpose == kPlanPurpose) co_return planned(std::move(text));
    auto send = std::exchange(during, nullptr);
    if (send) {
      auto sent = co_await send();
      if (!sent.ok()) co_return std::move(sent).error();
    }
    co_return planned(std::move(text));
  }
  int summaries = 0;
  std::function<Task<Result<Done>>()> during;
  std::vector<ModelRequest> requests;
};

TEST(GoalMessagesDuringTheSummary, BeginAnotherRoundWithANewSummary) {
  testing::SimulatedClock clock{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  SummaryModel model;
  auto store = open_store("memory:", clock, random).value();
  auto runtime = Runtime::open(RuntimeParts{*store, loop, clock, random, model}).value();
  auto graph = goal_graph().value();
  runtime->add(graph);
  StartOptions options;
  options.thread = ThreadId("t");
  auto queued = block_on(loop, runtime->enqueue(graph, goal_input(), options, clock.now())).value();
  model.during = [&]() -> Task<Result<Done>> {
    std::vector<RecordWrite> writes;
    writes.push_back(record_write(message("late", queued.row.run.text()), UserId("local")).value());
    return runtime->save(default_tenant(), std::move(writes));
  };
  RunView view = block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).value();
  ASSERT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.row.outcome, "finished");
  EXPECT_EQ(model.summaries, 2);
  EXPECT_EQ(view.state["summary"], Value("Summary 2."));
  EXPECT_EQ(view.state["step"], Value(2));
  EXPECT_EQ(view.state["memory"].as_array()->size(), 1u) << "one summary";
  ASSERT_EQ(model.requests.size(), 4u);
  EXPECT_THAT(last_prompt(model.requests[2]), HasSubstr("Before step 2: text of late\n"));
  ReplayOptions replay;
  replay.thread = ThreadId("t");
  auto report = block_on(loop, runtime->replay(std::move(replay)));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->divergence)
      << report->divergence->node << ": " << report->divergence->what << "\n"
      << report->divergence->recorded << "\n"
      << report->divergence->replayed;
}

TEST(MessagesOfAPrompt, AreTheNewestWithinTheirBound) {
  std::string large(kMessagesBytesMax / 2, 'x');
  std::vector<UsedMessage> messages{{1, large}, {2, large}, {3, large}};
  messages.push_back({4, "newest " + large + large + large});
  std::string prompt = user_prompt({}, messages);
  EXPECT_THAT(prompt, Not(HasSubstr("Before step 1:")));
  EXPECT_THAT(prompt, HasSubstr("Before step 2: xx"));
  EXPECT_THAT(prompt, HasSubstr("Before step 3: xx"));
  EXPECT_THAT(prompt, HasSubstr("Before step 4: newest"));
  EXPECT_THAT(user_prompt({}, {}), Not(HasSubstr(kRound)));
}

}  // namespace
}  // namespace belay::goals
