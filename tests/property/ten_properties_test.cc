// The ten properties of the agents' specification, each one tested on random runs. Each test checks
// its property directly where it can, and with the checkers.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <map>

#include "engine/next_task.h"
#include "tests/property/player.h"

namespace belay::property {
namespace {

using namespace std::chrono_literals;

struct Played {
  explicit Played(const Scenario& scenario, std::vector<Crash> crashes = {})
      : view(player.play(scenario, std::move(crashes))) {}

  RunView at(std::uint64_t seq) {
    return player.wait(player.runtime->status_at(default_tenant(), view.row.thread, seq)).value();
  }

  Player player;
  RunView view;
};

#define EXPECT_RULE_HOLDS(player, rule) RC_ASSERT((player).violations(rule) == std::string())

RC_GTEST_PROP(TenProperties, P1CheckpointConsistency, ()) {
  auto scenario = *any_scenario();
  Played played(scenario, *any_crashes());
  Graph<Trail> graph = graph_of(scenario);
  for (const CheckpointRow& each : played.player.checkpoints(played.view)) {
    RC_ASSERT(each.run == played.view.row.run);
    RC_ASSERT(each.created_at >= played.view.row.created_at);
    RunView then = played.at(each.seq);
    RC_ASSERT(then.row.thread == ThreadId("t"));
    RC_ASSERT(each.node.empty() || graph.definition()->find(each.node) != nullptr);
  }
  EXPECT_RULE_HOLDS(played.player, "P1");
}

RC_GTEST_PROP(TenProperties, P2StateMonotonicity, ()) {
  Played played(*any_scenario(), *any_crashes());
  std::int64_t retries = 0;
  std::int64_t validations = 0;
  for (const CheckpointRow& each : played.player.checkpoints(played.view)) {
    RC_ASSERT(each.retry_count >= retries);
    retries = each.retry_count;
    std::int64_t now = played.at(each.seq).state["validationAttempts"].as_int().value();
    RC_ASSERT(now >= validations);
    validations = now;
  }
  EXPECT_RULE_HOLDS(played.player, "P2");
}

RC_GTEST_PROP(TenProperties, P3TerminalStateGuarantee, ()) {
  Played played(*any_scenario(), *any_crashes());
  const RunRow& row = played.view.row;
  RC_ASSERT(is_final(row.status));
  if (row.status == RunStatus::completed) RC_ASSERT(row.node == end && !row.outcome.empty());
  if (row.status == RunStatus::failed) RC_ASSERT(!row.error.empty());
  EXPECT_RULE_HOLDS(played.player, "P3");
}

RC_GTEST_PROP(TenProperties, P4ApprovalFlowCorrectness, ()) {
  Played played(*any_scenario(), *any_crashes());
  for (const CheckpointRow& each : played.player.checkpoints(played.view)) {
    bool requires_approval = *played.at(each.seq).state["requiresApproval"].as_bool();
    if (requires_approval) RC_ASSERT(each.status == RunStatus::paused);
  }
  RC_ASSERT(!*played.view.state["requiresApproval"].as_bool());
  EXPECT_RULE_HOLDS(played.player, "P4");
}

RC_GTEST_PROP(TenProperties, P5RetryBound, ()) {
  int max_retries = *rc::gen::inRange(1, 11);
  Player player;
  GraphBuilder<Trail> builder{"always failing"};
  int attempts = 0;
  builder
      .node("call",
            [&attempts](const Trail&, Context&) -> Result<Update<Trail>> {
              ++attempts;
              return error(ErrorCode::unavailable, "LLM error");
            })
      .retry({.attempts = 3});
  builder.edge(start, "call").edge("call", end);
  auto graph = std::move(builder).build().value();
  player.runtime->add(graph);
  StartOptions options;
  options.run.max_retries = max_retries;
  auto view = player.wait(player.runtime->start(graph, Trail{}, options)).value();
  RC_ASSERT(view.row.status == RunStatus::failed);
  RC_ASSERT(attempts == max_retries);
  RC_ASSERT(view.row.retry_count <= max_retries);
}

RC_GTEST_PROP(TenProperties, P5NoVisitHasMoreAttemptsThanItsPolicy, ()) {
  auto scenario = *any_scenario();
  Played played(scenario, *any_crashes());
  std::map<std::int64_t, int> failed;  // by superstep
  for (const CheckpointRow& each : played.player.checkpoints(played.view)) {
    if (each.kind != CommitKind::attempt) continue;
    std::size_t index = 0;
    std::from_chars(each.node.data() + 1, each.node.data() + each.node.size(), index);
    RC_ASSERT(++failed[each.superstep] < scenario.nodes.at(index).attempts);
  }
  EXPECT_RULE_HOLDS(played.player, "P5");
}

// A validator that rejects a random number of times, like that of the Routine Generator.
RC_GTEST_PROP(TenProperties, P6ValidationFeedbackLoop, ()) {
  int refusals = *rc::gen::inRange(0, 6);
  Player player;
  GraphBuilder<Trail> builder{"validating"};
  builder.node("scheduler", [](const Trail&, Context&) { return add(&Trail::steps, 1); });
  builder.node("validator", [refusals](const Trail& trail, Context&) {
    auto update = add(&Trail::validationAttempts, 1);
    if (trail.validationAttempts >= refusals) return update;
    Advice advice = trail.analysisResult;
    advice.recommendations.push_back("Errors: the activity " + std::to_string(trail.steps));
    return std::move(update).set(&Trail::analysisResult, std::move(advice));
  });
  builder.edge(start, "scheduler")
      .edge("scheduler", "validator")
      .branch("validator",
              [refusals](const Trail& trail) { return trail.validationAttempts <= refusals; },
              {end, "scheduler"});
  auto graph = std::move(builder).build().value();
  player.runtime->add(graph);
  Trail trail;
  std::size_t initial = *rc::gen::inRange<std::size_t>(0, 3);
  trail.analysisResult.recommendations.assign(initial, "Rest.");
  auto view = player.wait(player.runtime->start(graph, std::move(trail), StartOptions{})).value();
  RC_ASSERT(view.state["validationAttempts"] == Value(refusals + 1));
  RC_ASSERT(view.state["analysisResult"]["recommendations"].as_array()->size() ==
            initial + static_cast<std::size_t>(refusals));
  CheckScope scope;
  scope.graphs = {graph.definition()};
  auto report = player.wait(check_store(*player.memory, std::move(scope))).value();
  RC_ASSERT(report.violations.empty());
}

// Two worlds that are equal up to the decision, and the same decision in both, must reach the same
// state. One of them decides twice, which must not change anything.
RC_GTEST_PROP(TenProperties, P7IdempotentResume, ()) {
  auto scenario = *any_scenario();
  scenario.verdicts.clear();
  int verdict = *rc::gen::element<int>(approve, reject, edit);
  std::vector<Outcome> outcomes;
  for (int times : {1, 2}) {
    Player player;
    auto paused = player.play_until_asked(scenario);
    if (!paused.approval) RC_DISCARD("nobody is asked");
    InterruptId interrupt = paused.approval->interrupt;
    std::optional<RunView> after;
    for (int i = 0; i < times; ++i) {
      auto answer =
          player.wait(player.runtime->decide(default_tenant(), interrupt, player.decision(verdict)))
              .value();
      RC_ASSERT(answer.kind ==
                (i == 0 ? DecisionResult::Kind::accepted : DecisionResult::Kind::duplicate));
      if (after) RC_ASSERT(answer.view.row == after->row && answer.view.state == after->state);
      after = answer.view;
    }
    outcomes.push_back(player.outcome(*after));
    EXPECT_RULE_HOLDS(player, "P7");
  }
  RC_ASSERT(outcomes[0] == outcomes[1]);
}

RC_GTEST_PROP(TenProperties, P8MetricsAccuracy, ()) {
  auto scenarios = *rc::gen::container<std::vector<Scenario>>(4, any_scenario());
  Player player;
  std::map<RunStatus, int> ended;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    auto view = player.play(scenarios[i], *any_crashes(), "t" + std::to_string(i));
    ++ended[view.row.status];
    player.clock.move(7h);
  }
  int successful = ended[RunStatus::completed];
  int failed = ended[RunStatus::failed] + ended[RunStatus::cancelled];
  RC_ASSERT(successful + failed == static_cast<int>(scenarios.size()));
  EXPECT_RULE_HOLDS(player, "P8");
}

// A process that dies directly after any loadable checkpoint resumes from it.
RC_GTEST_PROP(TenProperties, P9CheckpointRecoverability, ()) {
  auto scenario = *any_scenario();
  Played undisturbed(scenario);
  Outcome expected = undisturbed.player.outcome(undisturbed.view);
  std::uint64_t last = undisturbed.view.row.seq;
  int seq = static_cast<int>(*rc::gen::inRange<std::uint64_t>(1, last + 1));
  Played resumed(scenario, {Crash{seq - 1, Crash::loses_the_answer}});
  RC_ASSERT(resumed.player.outcome(resumed.view) == expected);
  for (std::uint64_t each = 1; each <= resumed.view.row.seq; ++each) (void)resumed.at(each);
  EXPECT_RULE_HOLDS(resumed.player, "P9");
}

RC_GTEST_PROP(TenProperties, P10StateTransitionValidity, ()) {
  auto scenario = *any_scenario();
  Played played(scenario, *any_crashes());
  Graph<Trail> graph = graph_of(scenario);
  for (const CheckpointRow& each : played.player.checkpoints(played.view)) {
    if (each.kind != CommitKind::node || each.status == RunStatus::completed) continue;
    auto next = engine::next_tasks_from(each.next_tasks).value();
    const GraphDefinition::Node& node = *graph.definition()->find(each.node);
    // Approvals that are not needed are skipped: their approved target can be reached too.
    std::vector<std::string> reached = node.targets;
    for (std::size_t i = 0; i < reached.size() && i < 100; ++i) {
      const GraphDefinition::Node* passed = graph.definition()->find(reached[i]);
      if (passed && passed->approval) reached.push_back(passed->approval->approved);
    }
    RC_ASSERT(next.nodes.size() == 1u);
    RC_ASSERT(std::find(reached.begin(), reached.end(), next.nodes.front()) != reached.end());
  }
  EXPECT_RULE_HOLDS(played.player, "P10");
}

}  // namespace
}  // namespace belay::property
