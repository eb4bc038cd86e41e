// The reports of the rules about stores without a violation.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/read_store.h"
#include "tests/support/run_scenarios.h"

namespace belay::check {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

std::vector<std::string> told(const CheckReport& report) {
  std::vector<std::string> lines;
  for (const Violation& each : report.violations) {
    lines.push_back(each.rule + " " + each.subject + ": " + each.message);
  }
  return lines;
}

struct Scenario {
  const char* name;
  void (Scenarios::*play)();
  RunStatus comes_to;
  std::size_t runs = 1;
};

struct SoundStore : ::testing::TestWithParam<Scenario> {};

TEST_P(SoundStore, IsFoundSound) {
  Scenarios world;
  (world.*GetParam().play)();
  auto view =
      block_on(world.loop, world.runtime->status(default_tenant(), ThreadId(GetParam().name)))
          .value();
  EXPECT_EQ(view.row.status, GetParam().comes_to);
  CheckScope scope = world.scope();
  for (std::uint64_t seq = 1; seq <= view.row.seq; ++seq) {
    scope.acknowledged.emplace_back(view.row.run, seq);
  }
  CheckReport report = checked(world.loop, *world.store, std::move(scope));
  EXPECT_THAT(told(report), IsEmpty());
  EXPECT_EQ(report.runs, GetParam().runs);
  EXPECT_GE(report.checkpoints, view.row.seq);  // those of subgraphs count too
  EXPECT_THAT(report.runs_without_graph, IsEmpty());
}

constexpr Scenario kScenarios[] = {
    {"completed", &Scenarios::completed, RunStatus::completed},
    {"approved", &Scenarios::approved, RunStatus::completed},
    {"forked", &Scenarios::forked, RunStatus::completed, 2},
    {"forked_again", &Scenarios::forked_again, RunStatus::completed, 3},
    {"forked_with_edits", &Scenarios::forked_with_edits, RunStatus::completed, 3},
    {"edited", &Scenarios::edited, RunStatus::completed},
    {"rejected", &Scenarios::rejected, RunStatus::completed},
    {"expired", &Scenarios::expired, RunStatus::completed},
    {"late", &Scenarios::late, RunStatus::completed},
    {"paused", &Scenarios::paused, RunStatus::paused},
    {"passed", &Scenarios::passed, RunStatus::completed},
    {"failed", &Scenarios::failed, RunStatus::failed},
    {"exhausted", &Scenarios::exhausted, RunStatus::failed},
    {"retried", &Scenarios::retried, RunStatus::paused},
    {"retried_by_another", &Scenarios::retried_by_another, RunStatus::completed},
    {"resumed", &Scenarios::resumed, RunStatus::completed},
    {"cancelled", &Scenarios::cancelled, RunStatus::cancelled},
    {"stopped", &Scenarios::stopped, RunStatus::cancelled},
    {"timed_out", &Scenarios::timed_out, RunStatus::failed},
    {"validated_again", &Scenarios::validated_again, RunStatus::completed},
    {"asked_in_a_node", &Scenarios::asked_in_a_node, RunStatus::completed},
    {"wide_completed", &Scenarios::wide_completed, RunStatus::completed},
    {"wide_asked", &Scenarios::wide_asked, RunStatus::paused},
    {"wide_approved", &Scenarios::wide_approved, RunStatus::completed},
    {"wide_edited", &Scenarios::wide_edited, RunStatus::completed},
    {"wide_inside", &Scenarios::wide_inside, RunStatus::paused},
    {"wide_decided_inside", &Scenarios::wide_decided_inside, RunStatus::completed},
    {"wide_retried", &Scenarios::wide_retried, RunStatus::completed},
    {"lost", &Scenarios::lost, RunStatus::running},
    {"wide_lost", &Scenarios::wide_lost, RunStatus::running},
    {"wide_resumed", &Scenarios::wide_resumed, RunStatus::paused},
    {"wide_cancelled", &Scenarios::wide_cancelled, RunStatus::cancelled},
    {"held", &Scenarios::held, RunStatus::paused},
    {"let_go", &Scenarios::let_go, RunStatus::completed},
    {"at_the_end", &Scenarios::at_the_end, RunStatus::completed},
    {"wide_at_the_end", &Scenarios::wide_at_the_end, RunStatus::completed},
};

INSTANTIATE_TEST_SUITE_P(Runs, SoundStore, ::testing::ValuesIn(kScenarios),
                         [](const auto& test) { return std::string(test.param.name); });

std::size_t all_runs() {
  std::size_t runs = 0;
  for (const Scenario& each : kScenarios) runs += each.runs;
  return runs;
}

TEST(SoundStores, AllKindsOfRunsTogetherAreSound) {
  Scenarios world;
  world.play_all();
  CheckReport report = checked(world.loop, *world.store, world.scope());
  EXPECT_THAT(told(report), IsEmpty());
  EXPECT_EQ(report.runs, all_runs());
  EXPECT_GT(report.records, 5u);
  EXPECT_GT(report.approvals, 5u);
}

TEST(SoundStores, AnEmptyStoreIsSound) {
  Scenarios world;
  CheckReport report = checked(world.loop, *world.store, world.scope());
  EXPECT_THAT(told(report), IsEmpty());
  EXPECT_EQ(report.runs, 0u);
}

TEST(SoundStores, RunsOfUnknownGraphsAreCountedAndCheckedWithoutThem) {
  Scenarios world;
  world.play_all();
  CheckScope scope = world.scope();
  scope.graphs.erase(scope.graphs.begin());
  CheckReport report = checked(world.loop, *world.store, std::move(scope));
  EXPECT_THAT(told(report), IsEmpty());
  EXPECT_THAT(report.runs_without_graph, Contains(Key("plan")));
  EXPECT_EQ(report.runs, all_runs());
}

TEST(SoundStores, RunsOfAnotherVersionOfTheirGraphAreCheckedWithoutIt) {
  Scenarios world;
  world.completed();
  GraphBuilder<Plan> builder{"plan"};
  builder.node("all", [](const Plan&, Context&) { return unchanged<Plan>(); });
  builder.edge(start, "all").edge("all", end);
  CheckScope scope;
  scope.graphs = {std::move(builder).build()->definition()};
  CheckReport report = checked(world.loop, *world.store, std::move(scope));
  EXPECT_THAT(told(report), IsEmpty());
  EXPECT_THAT(report.runs_without_graph, ElementsAre(Pair("plan", 1u)));
}

// A former program can have upgraded a run to a version of the scope, under its former hash.
TEST(SoundStores, RunsAreReadWithTheFormerEditionOfEachVersion) {
  Scenarios world;
  world.completed();
  auto run = block_on(world.loop, world.runtime->status(default_tenant(), ThreadId("completed")));
  RunId id = run.value().row.run;
  CheckScope scope = world.scope();
  std::function<Result<std::optional<RunContents>>(Snapshot&)> reader = [&](Snapshot& view) {
    return read_run(view, scope, id);
  };
  auto contents =
      block_on(world.loop, read<std::optional<RunContents>>(*world.store, reader)).value();
  ASSERT_TRUE(contents);
  std::vector<Digest> versions;
  for (const auto& version : contents->versions) versions.push_back(version->hash);
  const GraphDefinition& plan = *world.plans.definition();
  EXPECT_THAT(versions, ElementsAre(plan.hash, plan.former_hash));
  EXPECT_EQ(contents->graph->hash, plan.hash);
}

TEST(SoundStores, RunsLongerThanAPageAreReadWhole) {
  Scenarios world;
  GraphBuilder<Plan> builder{"count"};
  builder.node("count", [](const Plan&, Context&) { return add(&Plan::rounds, 1); });
  builder.edge(start, "count")
      .branch("count", [](const Plan& plan) { return plan.rounds >= 2'500; }, {"count", end});
  auto graph = std::move(builder).build().value();
  world.runtime->add(graph);
  block_on(world.loop, world.runtime->start(graph, Plan{}, StartOptions{})).value();
  CheckScope scope;
  scope.graphs = {graph.definition()};
  CheckReport report = checked(world.loop, *world.store, std::move(scope));
  EXPECT_THAT(told(report), IsEmpty());
  EXPECT_EQ(report.checkpoints, 2'501u);
}

// Decisions are matched with events by seq, and a subgraph has its own seqs.
TEST(SoundStores, ADecisionInASubgraphIsNoneOfTheRunsCommitWithThatNumber) {
  Scenarios world;
  GraphBuilder<Plan> inner{"inner"};
  inner.approval("inside", &Plan::draft, {.question = "Inside?"}).approved(end).rejected(end);
  inner.edge(start, "inside");
  GraphBuilder<Plan> outer{"outer"};
  outer.approval("outside", &Plan::draft, {.question = "Outside?"}).approved("look").rejected(end);
  outer.subgraph(
      "look", std::move(inner).build().value(), [](const Plan& plan) { return plan; },
      [](const Plan&) { return unchanged<Plan>(); });
  outer.edge(start, "outside").edge("look", end);
  auto graph = std::move(outer).build().value();
  world.runtime->add(graph);
  RunView view = block_on(world.loop, world.runtime->start(graph, Plan{}, StartOptions{})).value();
  for (bool approves : {true, false}) {
    Decision decision;
    decision.approved = approves;
    decision.decided_by = approves ? "ana" : "ben";
    auto decided = block_on(
        world.loop, world.runtime->decide(default_tenant(), view.approval->interrupt, decision));
    ASSERT_TRUE(decided.ok()) << decided.error().message;
    view = block_on(world.loop, world.runtime->status(default_tenant(), view.row.thread)).value();
  }
  EXPECT_EQ(view.row.status, RunStatus::completed);
  CheckScope scope;
  scope.graphs = {graph.definition()};
  EXPECT_THAT(told(checked(world.loop, *world.store, std::move(scope))), IsEmpty());
}

}  // namespace
}  // namespace belay::check
