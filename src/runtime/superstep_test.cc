// Long on purpose: all behaviour of concurrent branches, with one fixture.

// Tests supersteps with several tasks: concurrency, pending writes, and recovery after a crash.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/superstep_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Page {
  std::string url{};
};

TEST_F(Supersteps, NodesRunSideBySideAndCombineInTheOrderOfTheirDeclaration) {
  Instant began = clock.now();
  auto view = run(fan_out()).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_THAT(texts(view.state["log"]), ElementsAre("split", "a", "b", "c", "join"));
  EXPECT_EQ(view.state["total"], Value(5));
  EXPECT_EQ(clock.now() - began, 30ms);
}

TEST_F(Supersteps, AFinishedNodeIsSavedAtOnceAndTheLastOneEndsTheSuperstep) {
  auto view = run(fan_out()).value();
  // Commits: input, split, the end of a, b and c, join. Pending writes: b and c.
  EXPECT_EQ(view.row.seq, 4u);
  EXPECT_EQ(store.pending, 2);
}

TEST_F(Supersteps, PlainNodesThatFinishTogetherNeedOneCommit) {
  GraphBuilder<Plan> graph{"plain"};
  graph.one_run_per_thread();
  graph.node("split", logs("split"));
  for (int i = 0; i < 10; ++i) {
    std::string name = "n" + std::to_string(i);
    graph.node(name, logs(name)).destinations({});
    graph.edge("split", name).edge(name, end);
  }
  graph.edge(start, "split");
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.seq, 3u);
  EXPECT_EQ(store.pending, 0);
  EXPECT_EQ(view.state["total"], Value(11));
}

TEST_F(Supersteps, NoFinishedNodeRunsAgainAfterACrashAtAnyCommit) {
  auto graph = fan_out();
  auto calm = run(graph).value();
  int commits = store.commits;
  ASSERT_EQ(commits, 6);
  for (int at = 1; at <= commits; ++at) {
    for (bool lands : {false, true}) {
      visits.clear();
      auto view = run_with_crash(graph, at, lands).value();
      EXPECT_EQ(view.row.status, RunStatus::completed) << at;
      EXPECT_EQ(view.state, calm.state) << at;
      for (const auto& [name, count] : visits) EXPECT_LE(count, 2) << name << " at " << at;
      // At commit 3, b's pending write is stored; at 4, c's.
      EXPECT_TRUE(at < 3 || (at == 3 && !lands) || visits["b"] == 1) << at;
      EXPECT_TRUE(at < 4 || (at == 4 && !lands) || visits["c"] == 1) << at;
    }
  }
}

TEST_F(Supersteps, ARetryOfOneLeavesItsSiblingsAlone) {
  GraphBuilder<Plan> graph{"retry"};
  graph.one_run_per_thread();
  graph.node("split", logs("split"));
  graph.node("steady", logs("steady"));
  graph
      .node("shaky",
            [this](const Plan&, Context& context) -> Result<Update<Plan>> {
              ++visits["shaky"];
              if (context.attempt() < 3) return error(ErrorCode::unavailable, "busy");
              return append(&Plan::log, "shaky");
            })
      .retry({.attempts = 3, .base = 10ms});
  graph.edge(start, "split").edge("split", "steady").edge("split", "shaky");
  graph.edge("steady", end).edge("shaky", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["steady"], 1);
  EXPECT_EQ(visits["shaky"], 3);
  EXPECT_EQ(view.row.retry_count, 2);
}

TEST_F(Supersteps, TwoThatSetOneChannelAreAnErrorThatNamesBoth) {
  GraphBuilder<Plan> graph{"conflict"};
  graph.one_run_per_thread();
  graph.node("split", logs("split"));
  auto sets = [](const Plan&, Context&) { return set(&Plan::title, "mine"); };
  graph.node("left", sets);
  graph.node("right", sets);
  graph.edge(start, "split").edge("split", "left").edge("split", "right");
  graph.edge("left", end).edge("right", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_THAT(view.row.error, HasSubstr("\"left\" and \"right\" both write the channel \"title\""));
  EXPECT_EQ(view.state["title"], Value(""));
}

Graph<Plan> with_reducer(std::function<std::string(std::string, const std::string&)> reduce_best) {
  GraphBuilder<Plan> graph{"reduce"};
  graph.one_run_per_thread();
  graph.node("split", [](const Plan&, Context&) { return unchanged<Plan>(); });
  for (std::string name : {"pear", "apple", "fig"}) {
    graph.node(name, [name](const Plan&, Context&) { return reduce(&Plan::best, name); });
    graph.edge("split", name).edge(name, end);
  }
  graph.reducer(&Plan::best, std::move(reduce_best));
  graph.edge(start, "split");
  return std::move(graph).build().value();
}

TEST_F(Supersteps, AGraphsOwnReducerCombinesInOrder) {
  auto graph = with_reducer([](std::string so_far, const std::string& next) {
    return so_far.empty() ? next : so_far + "+" + next;
  });
  auto view = run(graph).value();
  EXPECT_EQ(view.state["best"], Value("pear+apple+fig"));
}

TEST_F(Supersteps, AReducerThatThrowsIsATypedFailure) {
  auto graph = with_reducer(
      [](std::string, const std::string&) -> std::string { throw std::runtime_error("no taste"); });
  auto view = run(graph).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("The reducer of the channel \"best\" threw: no taste"));
}

Graph<Plan> map_reduce(int pages, int* most_at_once) {
  GraphBuilder<Plan> graph{"map"};
  graph.one_run_per_thread();
  graph.node("list", [](const Plan&, Context&) { return unchanged<Plan>(); });
  auto running = std::make_shared<int>(0);
  graph.node("fetch", [running, most_at_once](const Plan&, Context& context) -> Task<Update<Plan>> {
    auto page = context.input<Page>();
    *most_at_once = std::max(*most_at_once, ++*running);
    co_await sleep_for(1ms);
    --*running;
    co_return merge(&Plan::sizes, page.url, static_cast<int>(page.url.size())).add(&Plan::total, 1);
  });
  graph.node("sum", [](const Plan& plan, Context&) {
    return set(&Plan::title, std::to_string(plan.sizes.size()));
  });
  graph.edge(start, "list").edge("fetch", "sum").edge("sum", end);
  graph.branch("list",
               [pages](const Plan&) {
                 std::vector<Send> sends;
                 for (int i = 0; i < pages; ++i)
                   sends.push_back(send_to("fetch", Page{std::to_string(i)}));
                 return sends;
               },
               {"fetch"});
  return std::move(graph).build().value();
}

TEST_F(Supersteps, SendsVisitANodeOnceForEachInput) {
  int most = 0;
  auto view = run(map_reduce(7, &most)).value();
  EXPECT_EQ(view.state["title"], Value("7"));
  EXPECT_EQ(view.state["total"], Value(7));
  EXPECT_EQ(most, 7);
}

TEST_F(Supersteps, TenThousandBranchesRunThroughABoundedWindow) {
  int most = 0;
  StartOptions options;
  options.run.parallel = 50;
  store.takes = 3ms;  // tasks that end in the meantime share the next commit
  auto view = run(map_reduce(10'000, &most), {}, options).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.state["total"], Value(10'000));
  EXPECT_EQ(most, 50);
  EXPECT_LE(store.pending, 201);
}

TEST_F(Supersteps, ANodeSaysWhereToGo) {
  GraphBuilder<Plan> graph{"command"};
  graph.one_run_per_thread();
  graph
      .node("router",
            [this](const Plan& plan, Context&) {
              ++visits["router"];
              return plan.total < 2 ? add(&Plan::total, 1).go_to("router") : go_to<Plan>("done");
            })
      .destinations({"router", "done"});
  graph.node("done", logs("done"));
  graph.edge(start, "router").edge("done", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["router"], 3);
}

TEST_F(Supersteps, GoingWhereItWasNotDeclaredIsATypedFailure) {
  GraphBuilder<Plan> graph{"astray"};
  graph.one_run_per_thread();
  graph.node("a", [](const Plan&, Context&) { return go_to<Plan>("b"); });
  graph.node("b", logs("b"));
  graph.edge(start, "a").edge("a", end).edge("a", "b").edge("b", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("\"a\" selected \"b\""));
}

TEST_F(Supersteps, AJoinWaitsForWaysOfDifferentLengths) {
  GraphBuilder<Plan> graph{"join"};
  graph.one_run_per_thread();
  for (std::string name : {"a", "b1", "b2", "last"}) graph.node(name, logs(name));
  graph.edge(start, "a").edge(start, "b1").edge("b1", "b2");
  graph.join({"a", "b2"}, "last").edge("last", end);
  auto joined = built(std::move(graph));
  auto view = run(joined).value();
  EXPECT_THAT(texts(view.state["log"]), ElementsAre("a", "b1", "b2", "last"));
  int commits = store.commits;
  for (int at = 1; at <= commits; ++at) {
    auto again = run_with_crash(joined, at, true).value();
    EXPECT_EQ(again.state, view.state) << at;
  }
}

TEST_F(Supersteps, TheRecursionLimitStopsACycle) {
  GraphBuilder<Plan> graph{"cycle"};
  graph.one_run_per_thread();
  graph.node("a", logs("a"));
  graph.branch("a", [](const Plan&) { return std::string("a"); }, {"a", end}).edge(start, "a");
  StartOptions options;
  options.run.supersteps = 10;
  auto view = run(built(std::move(graph)), {}, options).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "exhausted");
  EXPECT_THAT(view.row.error, HasSubstr("limit of 10 supersteps"));
}

TEST_F(Supersteps, ATransientChannelIsNeverStored) {
  GraphBuilder<Plan> graph{"transient"};
  graph.one_run_per_thread();
  graph.node("a", [](const Plan&, Context&) { return set(&Plan::cache, 7); });
  graph.node("b", [](const Plan& plan, Context&) { return set(&Plan::total, plan.cache); });
  graph.transient(&Plan::cache);
  graph.edge(start, "a").edge("a", "b").edge("b", end);
  auto cached = built(std::move(graph));
  auto view = run(cached).value();
  EXPECT_EQ(view.state["total"], Value(7));
  EXPECT_EQ(view.state["cache"], Value(0));
  auto again = run_with_crash(cached, 2, true).value();
  EXPECT_EQ(again.state["total"], Value(0));
}

TEST_F(Supersteps, WithExitThereIsOneCommitAtTheEnd) {
  auto graph = fan_out();
  StartOptions options;
  options.run.durability = Durability::exit;
  auto view = run(graph, {}, options).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_THAT(texts(view.state["log"]), ElementsAre("split", "a", "b", "c", "join"));
  // Input, the step that schedules three tasks, their results, and the end with the later steps.
  EXPECT_LE(store.commits, 5);

  GraphBuilder<Plan> line{"line"};
  line.one_run_per_thread();
  for (const char* node : {"one", "two", "three"}) line.node(node, logs(node));
  line.edge(start, "one").edge("one", "two").edge("two", "three").edge("three", end);
  store.commits = 0;
  StartOptions again;
  again.run.durability = Durability::exit;
  again.thread = ThreadId("line");
  auto in_line = run(std::move(line).build().value(), {}, again).value();
  EXPECT_THAT(texts(in_line.state["log"]), ElementsAre("one", "two", "three"));
  EXPECT_EQ(store.commits, 2) << "the input and the end";
}

TEST_F(Supersteps, WithAsyncTheNextStepDoesNotWaitForTheCommit) {
  auto graph = fan_out();
  auto calm = run(graph).value();
  RunOptions options;
  options.durability = Durability::async;
  for (int at = 1; at <= 6; ++at) {
    auto view = run_with_crash(graph, at, false, options).value();
    EXPECT_EQ(view.row.status, RunStatus::completed) << at;
    EXPECT_EQ(view.state, calm.state) << at;
  }
}

struct Clause {
  std::string text{};
  std::string verdict{};
  std::vector<std::string> steps{};
};

Graph<Clause> legal_graph(bool asks) {
  GraphBuilder<Clause> graph{"legal"};
  graph.one_run_per_thread();
  graph.node("read", [](const Clause&, Context&) { return append(&Clause::steps, "read"); });
  graph.node("judge", [](const Clause& clause, Context& context) -> Task<Update<Clause>> {
    co_await sleep_for(5ms);
    context.emit("judged", Value(clause.text));
    co_return set(&Clause::verdict, "fine: " + clause.text).append(&Clause::steps, "judge");
  });
  if (asks) {
    graph.approval("sign", &Clause::verdict, {.question = "Sign?"}).approved(end).rejected("judge");
    graph.edge("judge", "sign");
  } else {
    graph.edge("judge", end);
  }
  graph.edge(start, "read").edge("read", "judge");
  return std::move(graph).build().value();
}

struct Subgraphs : Supersteps {
  Graph<Plan> contract(bool asks) {
    GraphBuilder<Plan> graph{"contract"};
    graph.one_run_per_thread();
    graph.node("draft", logs("draft"));
    graph.subgraph(
        "legal", legal_graph(asks),
        [](const Plan& plan) {
          Clause clause;
          clause.text = plan.log.back();
          return clause;
        },
        [](const Clause& clause) {
          return set(&Plan::title, clause.verdict)
              .append(&Plan::log, std::to_string(clause.steps.size()) + " steps");
        });
    graph.node("print", logs_after("print", 7ms));
    graph.node("send", logs("send"));
    graph.edge(start, "draft").edge("draft", "legal").edge("draft", "print");
    graph.join({"legal", "print"}, "send").edge("send", end);
    return built(std::move(graph));
  }
};

TEST_F(Subgraphs, RunAsOneNodeWithTheirOwnState) {
  auto view = run(contract(false)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.state["title"], Value("fine: draft"));
  EXPECT_THAT(texts(view.state["log"]), ElementsAre("draft", "2 steps", "print", "send"));
}

TEST_F(Subgraphs, ComeBackWhereTheyStoodAfterACrashAtAnyCommit) {
  auto graph = contract(false);
  auto calm = run(graph).value();
  int commits = store.commits;
  for (int at = 1; at <= commits; ++at) {
    for (bool lands : {false, true}) {
      auto view = run_with_crash(graph, at, lands).value();
      EXPECT_EQ(view.row.status, RunStatus::completed) << at << view.row.error;
      EXPECT_EQ(view.state, calm.state) << at << lands;
    }
  }
}

TEST_F(Subgraphs, AskFromInsideAndGoOnWithTheAnswer) {
  auto graph = contract(true);
  auto runtime = process();
  runtime->add(graph);
  auto paused = block_on(loop, runtime->start(graph, Plan{}, StartOptions{})).value();
  EXPECT_EQ(paused.row.status, RunStatus::paused) << paused.row.error;
  EXPECT_EQ(paused.row.reason, "approval");
  ASSERT_EQ(paused.approvals.size(), 1u);
  EXPECT_EQ(paused.approvals[0].node, "sign");
  EXPECT_EQ(paused.row.due_at, paused.approvals[0].expires_at);
  EXPECT_EQ(visits["print"], 1);
  runtime.reset();
  auto other = process();
  other->add(graph);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  decision.edited = Value("signed");
  auto answer =
      block_on(loop, other->decide(default_tenant(), paused.approvals[0].interrupt, decision))
          .value();
  EXPECT_EQ(answer.kind, DecisionResult::Kind::accepted);
  EXPECT_EQ(answer.view.row.status, RunStatus::completed) << answer.view.row.error;
  EXPECT_EQ(answer.view.state["title"], Value("signed"));
  EXPECT_EQ(visits["print"], 1);
}

TEST_F(Subgraphs, AFailureInsideFailsTheRunWithItsError) {
  GraphBuilder<Clause> inner{"inner"};
  inner.one_run_per_thread();
  inner.node("a", [](const Clause&, Context&) -> Result<Update<Clause>> {
    return error(ErrorCode::invalid, "The clause is void.");
  });
  inner.edge(start, "a").edge("a", end);
  GraphBuilder<Plan> graph{"outer"};
  graph.one_run_per_thread();
  graph.subgraph(
      "legal", std::move(inner).build().value(), [](const Plan&) { return Clause{}; },
      [](const Clause&) { return unchanged<Plan>(); });
  graph.edge(start, "legal").edge("legal", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error, "The clause is void.");
}

// Plain nodes of a millisecond each; their results are committed every ten milliseconds, also
// after the clock was set back.
TEST_F(Supersteps, WhatPlainNodesCameToIsSavedAheadThoughTheClockIsSetBack) {
  GraphBuilder<Plan> builder{"plain"};
  builder.one_run_per_thread();
  builder
      .node("split",
            [](const Plan&, Context&) {
              auto update = unchanged<Plan>();
              for (int i = 0; i < 400; ++i) update = std::move(update).send("visit", i);
              return update;
            })
      .destinations({"visit"});
  builder.node("visit", [this](const Plan&, Context& context) {
    clock.move(1ms);
    if (context.input<int>() == 150) clock.move(-1h);
    return add(&Plan::total, 1);
  });
  builder.edge(start, "split").edge("visit", end);
  auto view = run(built(std::move(builder))).value();
  EXPECT_EQ(view.state["total"], Value(400));
  EXPECT_GE(store.pending, 20);
}

}  // namespace
}  // namespace belay
