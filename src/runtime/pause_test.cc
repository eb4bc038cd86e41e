// Tests pauses of supersteps with several tasks, and the stored size of their values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/superstep_fixture.h"

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Pauses : Supersteps {
  std::unique_ptr<Runtime> runtime = process();

  RunView begin(const Graph<Plan>& graph) {
    runtime->add(graph);
    return block_on(loop, runtime->start(graph, Plan{}, StartOptions{})).value();
  }
  DecisionResult decide(const ApprovalRow& approval, bool approved) {
    Decision decision;
    decision.approved = approved;
    decision.decided_by = "ana";
    return block_on(loop, runtime->decide(default_tenant(), approval.interrupt, decision)).value();
  }
  Graph<Plan> two_questions() {
    GraphBuilder<Plan> graph{"two"};
    graph.node("split", logs("split"));
    graph.approval("left", &Plan::title, {.question = "Left?"}).approved("l").rejected(end);
    graph.approval("right", &Plan::total, {.question = "Right?"}).approved("r").rejected(end);
    graph.node("slow", logs_after("slow", 1h));
    for (std::string name : {"l", "r"}) graph.node(name, logs(name));
    graph.edge(start, "split").edge("split", "left").edge("split", "right").edge("split", "slow");
    graph.edge("l", end).edge("r", end).edge("slow", end);
    return built(std::move(graph));
  }
};

TEST_F(Pauses, SeveralBranchesAskAtOnceAndTheRunPausesWhenNoneCanMove) {
  auto paused = [&] {
    auto graph = two_questions();
    runtime->add(graph);
    StartOptions start_options;
    start_options.run.timeout = 3h;
    return block_on(loop, runtime->start(graph, Plan{}, start_options)).value();
  }();
  EXPECT_EQ(paused.row.status, RunStatus::paused) << paused.row.error;
  ASSERT_EQ(paused.approvals.size(), 2u);
  EXPECT_EQ(visits["slow"], 1);
  auto first = decide(paused.approvals[1], true);
  EXPECT_EQ(first.kind, DecisionResult::Kind::accepted);
  EXPECT_EQ(first.view.row.status, RunStatus::paused);
  ASSERT_EQ(first.view.approvals.size(), 1u);
  auto second = decide(paused.approvals[0], false);
  EXPECT_EQ(second.view.row.status, RunStatus::completed) << second.view.row.error;
  EXPECT_THAT(texts(second.view.state["log"]), ElementsAre("split", "slow", "r"));
  EXPECT_EQ(visits["slow"], 1);
}

// Tasks that wait for a decision do not count as running: the tasks after them are started.
TEST_F(Pauses, ANarrowWindowStartsEveryTaskThough) {
  GraphBuilder<Plan> graph{"narrow"};
  graph.node("split", logs("split"));
  graph.edge(start, "split");
  for (std::string name : {"a", "b", "c", "d"}) {
    graph.approval(name + "?", &Plan::title, {.question = "Now?"}).approved(name).rejected(end);
    graph.node(name, logs(name));
    graph.edge("split", name + "?").edge(name, end);
  }
  auto narrow = built(std::move(graph));
  runtime->add(narrow);
  StartOptions options;
  options.run.parallel = 1;
  auto paused = block_on(loop, runtime->start(narrow, Plan{}, options)).value();
  EXPECT_EQ(paused.row.status, RunStatus::paused);
  EXPECT_EQ(paused.approvals.size(), 4u);
}

TEST_F(Pauses, ADecisionMadeWhileABranchWorksIsUsedByItsOwner) {
  auto graph = two_questions();
  runtime->add(graph);
  StartOptions options;
  options.thread = ThreadId("t");
  options.run.timeout = 3h;
  std::optional<Result<RunView>> ended;
  Spawned spawned;
  loop.post([&] {
    spawned = spawn<Result<RunView>>(loop, runtime->start(graph, Plan{}, options),
                                     [&](Result<RunView> view) { ended = std::move(view); });
  });
  loop.run_until(clock.now() + 1min);
  ASSERT_FALSE(ended);
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [](Snapshot& view) {
    ApprovalFilter filter;
    filter.tenant = default_tenant();
    return view.approvals(filter);
  };
  auto open = block_on(loop, read<std::vector<ApprovalRow>>(store, std::move(reader))).value();
  ASSERT_EQ(open.size(), 2u);
  auto other = process();
  other->add(graph);
  Decision yes;
  yes.approved = true;
  yes.decided_by = "ana";
  for (const ApprovalRow& approval : open) {
    auto answer = block_on(loop, other->decide(default_tenant(), approval.interrupt, yes)).value();
    EXPECT_EQ(answer.kind, DecisionResult::Kind::accepted);
    EXPECT_EQ(answer.view.row.status, RunStatus::running);
  }
  loop.run_until(clock.now() + 2h);
  ASSERT_TRUE(ended && ended->ok());
  EXPECT_EQ((*ended)->row.status, RunStatus::completed) << (*ended)->row.error;
  EXPECT_THAT(texts((*ended)->state["log"]), ElementsAre("split", "slow", "l", "r"));
}

TEST_F(Pauses, AWaitHoldsNoProcessAndGoesOnWhenItsTimeHasCome) {
  GraphBuilder<Plan> graph{"wait"};
  graph.node("a", logs("a"));
  graph.wait("night", 8h);
  graph.node("b", logs("b"));
  graph.edge(start, "a").edge("a", "night").edge("night", "b").edge("b", end);
  auto paused = begin(built(std::move(graph)));
  EXPECT_EQ(paused.row.status, RunStatus::paused);
  EXPECT_EQ(paused.row.reason, "timer");
  EXPECT_EQ(paused.row.due_at, clock.now() + 8h);
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 0u);
  clock.move(8h);
  DueReport continued{.continued_runs = 1};
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value(), continued);
  auto view = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["a"], 1);
}

TEST_F(Pauses, AWaitThatIsOverWhenItStartsDoesNotPauseTheRun) {
  for (auto time : {0ms, -1ms}) {
    GraphBuilder<Plan> graph{"wait"};
    graph.node("a", logs("a"));
    graph.wait("none", [time](const Plan&) { return time; });
    graph.node("b", logs("b"));
    graph.edge(start, "a").edge("a", "none").edge("none", "b").edge("b", end);
    auto view = begin(built(std::move(graph)));
    EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
    EXPECT_THAT(texts(view.state["log"]), ElementsAre("a", "b"));
  }
}

TEST_F(Pauses, ABreakpointStopsBeforeOrAfterItsNode) {
  GraphBuilder<Plan> graph{"break"};
  graph.node("a", logs("a"));
  graph.node("b", logs("b")).interrupt_before();
  graph.node("c", logs("c")).interrupt_after();
  graph.node("d", logs("d"));
  graph.edge(start, "a").edge("a", "b").edge("b", "c").edge("c", "d").edge("d", end);
  auto view = begin(built(std::move(graph)));
  EXPECT_EQ(view.row.reason, "breakpoint");
  EXPECT_EQ(view.row.node, "b");
  EXPECT_EQ(visits["b"], 0);
  view = block_on(loop, runtime->resume(default_tenant(), view.row.thread)).value();
  EXPECT_EQ(view.row.node, "d");
  EXPECT_EQ(visits["c"], 1);
  view = block_on(loop, runtime->resume(default_tenant(), view.row.thread)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
}

TEST_F(Pauses, AfterAWeekAPersonCantResumeWhatWaitsForOneButTimeCan) {
  auto at_breakpoint = [&] {
    GraphBuilder<Plan> graph{"break"};
    graph.node("a", logs("a")).interrupt_after();
    graph.node("b", logs("b"));
    graph.edge(start, "a").edge("a", "b").edge("b", end);
    return begin(built(std::move(graph)));
  }();
  ASSERT_EQ(at_breakpoint.row.reason, "breakpoint");
  clock.move(24h * 7 + 1s);
  auto refused = block_on(loop, runtime->resume(default_tenant(), at_breakpoint.row.thread));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_THAT(refused.error().message, HasSubstr("not found or expired"));
  EXPECT_EQ(visits["b"], 0);
  GraphBuilder<Plan> graph{"fortnight"};
  graph.wait("fortnight", 24h * 14);
  graph.node("b", logs("b"));
  graph.edge(start, "fortnight").edge("fortnight", "b").edge("b", end);
  auto waiting = begin(built(std::move(graph)));
  ASSERT_EQ(waiting.row.reason, "timer");
  clock.move(24h * 15);
  auto view = block_on(loop, runtime->resume(default_tenant(), waiting.row.thread)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
}

struct Deltas : Supersteps {};

TEST_F(Deltas, AGrowingListCostsItsNewItemsOnly) {
  GraphBuilder<Plan> graph{"chat"};
  graph.node("turn", [](const Plan& plan, Context&) {
    return append(&Plan::log, std::string(500, static_cast<char>('a' + plan.total % 26)))
        .add(&Plan::total, 1);
  });
  graph.branch("turn", [](const Plan& plan) { return plan.total >= 100; }, {"turn", end});
  graph.edge(start, "turn");
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.state["log"].as_array()->size(), 100u);
  std::function<Result<std::vector<ValueRow>>(Snapshot&)> reader = [&](Snapshot& snapshot) {
    ValueFilter filter;
    filter.tenant = default_tenant();
    filter.run = view.row.run;
    filter.at_seq = 1000;
    filter.every_version = true;
    return snapshot.values(filter);
  };
  std::size_t bytes = 0;
  auto rows = block_on(loop, read<std::vector<ValueRow>>(store, reader)).value();
  for (const ValueRow& row : rows) {
    bytes += row.envelope.size();
  }
  EXPECT_LT(bytes, 100u * 530u);
}

TEST_F(Deltas, AMapThatIsRewrittenIsStoredWholeBeforeItsReaderReadsTwiceAsMuch) {
  GraphBuilder<Plan> graph{"map"};
  graph.node("turn", [](const Plan& plan, Context&) {
    return merge(&Plan::sizes, "k" + std::to_string(plan.total % 10), plan.total)
        .add(&Plan::total, 1);
  });
  graph.branch("turn", [](const Plan& plan) { return plan.total >= 1000; }, {"turn", end});
  graph.edge(start, "turn");
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.state["sizes"]["k9"], Value(999));
  std::function<Result<std::vector<ValueRow>>(Snapshot&)> reader = [&](Snapshot& snapshot) {
    ValueFilter filter;
    filter.tenant = default_tenant();
    filter.run = view.row.run;
    filter.at_seq = 10'000;
    return snapshot.values(filter);
  };
  std::size_t bytes = 0;
  auto rows = block_on(loop, read<std::vector<ValueRow>>(store, reader)).value();
  for (const ValueRow& row : rows) {
    if (row.channel == "sizes") bytes += row.envelope.size();
  }
  EXPECT_LT(bytes, 1000u);
}

}  // namespace
}  // namespace belay
