// Supersteps of several tasks: what runs beside what, what is stored when, what a crash repeats.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/halting_store.h"
#include "driver/test_world.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Page {
  std::string url{};
};

struct Plan {
  std::string title{};
  std::vector<std::string> log{};
  std::map<std::string, int> sizes{};
  int total = 0;
  std::string best{};
  int cache = 0;
};

struct Supersteps : ::testing::Test {
  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{7};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> kept = open_memory_store(clock, random);
  HaltingStore store{*kept};
  std::map<std::string, int> visits;

  std::unique_ptr<Runtime> process() {
    return Runtime::open(RuntimeParts{store, loop, clock, random, model}).value();
  }

  // Plain nodes that append their name to the log, and count their visits.
  auto logs(std::string name) {
    return [this, name](const Plan&, Context&) {
      ++visits[name];
      return append(&Plan::log, name).merge(&Plan::sizes, name, 1).add(&Plan::total, 1);
    };
  }
  // The same, but each takes a while.
  auto logs_after(std::string name, std::chrono::milliseconds time) {
    return [this, name, time](const Plan&, Context&) -> Task<Update<Plan>> {
      ++visits[name];
      co_await sleep_for(time);
      co_return append(&Plan::log, name).merge(&Plan::sizes, name, 1).add(&Plan::total, 1);
    };
  }

  Result<RunView> run(const Graph<Plan>& graph, Plan plan = {}, StartOptions options = {}) {
    auto runtime = process();
    runtime->add(graph);
    return block_on(loop, runtime->start(graph, std::move(plan), std::move(options)));
  }

  // Runs the graph in a process that dies at its n-th commit, then in another that goes on.
  Result<RunView> run_with_crash(const Graph<Plan>& graph, int commit, bool lands,
                                 RunOptions options = {}) {
    store.commits = 0;
    store.halt_at = commit;
    store.lands = lands;
    auto first = process();
    first->add(graph);
    StartOptions start_options;
    start_options.thread = ThreadId("t" + std::to_string(commit) + (lands ? "+" : "-"));
    start_options.run = options;
    std::optional<Result<RunView>> ended;
    Spawned spawned;
    loop.post([&] {
      spawned = spawn<Result<RunView>>(loop, first->start(graph, Plan{}, start_options),
                                       [&](Result<RunView> view) { ended = std::move(view); });
    });
    loop.run_until(clock.now() + 1h);
    store.halt_at = 0;
    if (ended) return *std::move(ended);
    spawned.reset();
    first.reset();
    auto second = process();
    second->add(graph);
    return block_on(loop, second->start(graph, Plan{}, start_options));
  }

  static Graph<Plan> built(GraphBuilder<Plan> graph) {
    auto result = std::move(graph).build();
    if (!result.ok()) ADD_FAILURE() << result.error().message;
    return *std::move(result);
  }

  Graph<Plan> fan_out() {
    GraphBuilder<Plan> graph{"fan"};
    graph.node("split", logs("split"));
    graph.node("a", logs_after("a", 30ms));
    graph.node("b", logs_after("b", 10ms));
    graph.node("c", logs_after("c", 20ms));
    graph.node("join", logs("join"));
    graph.edge(start, "split").edge("split", "a").edge("split", "b").edge("split", "c");
    graph.edge("a", "join").edge("b", "join").edge("c", "join").edge("join", end);
    return built(std::move(graph));
  }
};

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> found;
  for (const Value& each : *list.as_array()) found.push_back(*each.as_string());
  return found;
}

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
  // input, split, the three together, join; b and c ahead of it.
  EXPECT_EQ(view.row.seq, 4u);
  EXPECT_EQ(store.pending, 2);
}

TEST_F(Supersteps, PlainNodesThatFinishTogetherNeedOneCommit) {
  GraphBuilder<Plan> graph{"plain"};
  graph.node("split", logs("split"));
  for (int i = 0; i < 10; ++i) {
    std::string name = "n" + std::to_string(i);
    graph.node(name, logs(name)).may_go_to({});
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
  store.takes = 3ms;  // what finishes meanwhile shares the next commit
  auto view = run(map_reduce(10'000, &most), {}, options).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.state["total"], Value(10'000));
  EXPECT_EQ(most, 50);
  EXPECT_LE(store.pending, 201);
}

TEST_F(Supersteps, ANodeSaysWhereToGo) {
  GraphBuilder<Plan> graph{"command"};
  graph
      .node("router",
            [this](const Plan& plan, Context&) {
              ++visits["router"];
              return plan.total < 2 ? add(&Plan::total, 1).go_to("router") : go_to<Plan>("done");
            })
      .may_go_to({"router", "done"});
  graph.node("done", logs("done"));
  graph.edge(start, "router").edge("done", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["router"], 3);
}

TEST_F(Supersteps, GoingWhereItWasNotDeclaredIsATypedFailure) {
  GraphBuilder<Plan> graph{"astray"};
  graph.node("a", [](const Plan&, Context&) { return go_to<Plan>("b"); });
  graph.node("b", logs("b"));
  graph.edge(start, "a").edge("a", end).edge("a", "b").edge("b", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("\"a\" chose \"b\""));
}

TEST_F(Supersteps, AJoinWaitsForWaysOfDifferentLengths) {
  GraphBuilder<Plan> graph{"join"};
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
  graph.node("a", logs("a"));
  graph.branch("a", [](const Plan&) { return std::string("a"); }, {"a", end}).edge(start, "a");
  StartOptions options;
  options.run.supersteps = 10;
  auto view = run(built(std::move(graph)), {}, options).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "exhausted");
  EXPECT_THAT(view.row.error, HasSubstr("more than 10 steps"));
}

TEST_F(Supersteps, ATransientChannelIsNeverStored) {
  GraphBuilder<Plan> graph{"transient"};
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
  EXPECT_EQ(store.commits, 2);
  EXPECT_THAT(texts(view.state["log"]), ElementsAre("split", "a", "b", "c", "join"));
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
  EXPECT_EQ(answer.kind, DecisionAnswer::Kind::won);
  EXPECT_EQ(answer.view.row.status, RunStatus::completed) << answer.view.row.error;
  EXPECT_EQ(answer.view.state["title"], Value("signed"));
  EXPECT_EQ(visits["print"], 1);
}

TEST_F(Subgraphs, AFailureInsideFailsTheRunWithItsError) {
  GraphBuilder<Clause> inner{"inner"};
  inner.node("a", [](const Clause&, Context&) -> Result<Update<Clause>> {
    return error(ErrorCode::invalid, "The clause is void.");
  });
  inner.edge(start, "a").edge("a", end);
  GraphBuilder<Plan> graph{"outer"};
  graph.subgraph(
      "legal", std::move(inner).build().value(), [](const Plan&) { return Clause{}; },
      [](const Clause&) { return unchanged<Plan>(); });
  graph.edge(start, "legal").edge("legal", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error, "The clause is void.");
}

struct Pauses : Supersteps {
  std::unique_ptr<Runtime> runtime = process();

  RunView begin(const Graph<Plan>& graph) {
    runtime->add(graph);
    return block_on(loop, runtime->start(graph, Plan{}, StartOptions{})).value();
  }
  DecisionAnswer decide(const ApprovalRow& approval, bool approved) {
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
  RunOptions options;
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
  EXPECT_EQ(first.kind, DecisionAnswer::Kind::won);
  EXPECT_EQ(first.view.row.status, RunStatus::paused);
  ASSERT_EQ(first.view.approvals.size(), 1u);
  auto second = decide(paused.approvals[0], false);
  EXPECT_EQ(second.view.row.status, RunStatus::completed) << second.view.row.error;
  EXPECT_THAT(texts(second.view.state["log"]), ElementsAre("split", "slow", "r"));
  EXPECT_EQ(visits["slow"], 1);
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
    EXPECT_EQ(answer.kind, DecisionAnswer::Kind::won);
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
  EXPECT_EQ(block_on(loop, runtime->apply_due(default_tenant())).value(), 0u);
  clock.move(8h);
  EXPECT_EQ(block_on(loop, runtime->apply_due(default_tenant())).value(), 1u);
  auto view = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["a"], 1);
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
  for (const ValueRow& row : block_on(loop, read<std::vector<ValueRow>>(store, reader)).value()) {
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
  for (const ValueRow& row : block_on(loop, read<std::vector<ValueRow>>(store, reader)).value()) {
    if (row.channel == "sizes") bytes += row.envelope.size();
  }
  EXPECT_LT(bytes, 1000u);
}

}  // namespace
}  // namespace belay
