// Tests runs that started with another version of their graph than the program has.
// Long on purpose: each case is a separate run, with the same helpers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "belay/json_graph.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string hash_of(const JsonGraph& graph) { return to_hex(graph.definition()->hash); }

struct Upgrades : CrashingStoreFixture {
  std::map<std::string, int> visits;

  static JsonGraph built(JsonGraphBuilder graph) {
    auto result = std::move(graph).build();
    if (!result.ok()) ADD_FAILURE() << result.error().message;
    return *std::move(result);
  }

  // A graph with two steps, each after a breakpoint, and a text channel of this name.
  JsonGraphBuilder steps(std::string channel) {
    JsonGraphBuilder graph{"person"};
    graph.channel(channel, {.kind = JsonKind::string});
    graph.channel("log", {.kind = JsonKind::array});
    for (std::string step : {"one", "two"}) {
      graph
          .node(step,
                [this, step, channel](const Value& state, Context&) {
                  ++visits[step];
                  return append("log", step + " " + *state[channel].as_string());
                })
          .interrupt_before();
    }
    graph.edge(start, "one").edge("one", "two").edge("two", end);
    return graph;
  }

  // Returns an upgrade that moves the text of one channel to another, and appends to it.
  static GraphDefinition::Upgrade moves(std::string from, std::string to) {
    return [from, to](Value state) -> Result<Value> {
      Value::Object next = *state.as_object();
      next.insert_or_assign(to, *state[from].as_string() + ">" + to);
      return Value(std::move(next));
    };
  }

  RunView begin(const JsonGraph& graph, Value input, std::string thread = "t") {
    auto runtime = process(graph);
    StartOptions options;
    options.thread = ThreadId(std::move(thread));
    return block_on(loop, runtime->start(graph, std::move(input), options)).value();
  }
  Result<RunView> resume(const JsonGraph& graph, std::string thread = "t") {
    auto runtime = process(graph);
    return block_on(loop, runtime->resume(default_tenant(), ThreadId(std::move(thread))));
  }
  RunRow row(std::string thread = "t") {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [&](Snapshot& view) {
      RunFilter filter;
      filter.tenant = default_tenant();
      filter.thread = ThreadId(thread);
      return view.runs(filter);
    };
    return block_on(loop, read<std::vector<RunRow>>(*kept, std::move(reader))).value().at(0);
  }
  Result<DecisionResult> approve(const JsonGraph& graph, const InterruptId& interrupt) {
    auto runtime = process(graph);
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    return block_on(loop, runtime->decide(default_tenant(), interrupt, std::move(decision)));
  }
  // Runs a worker for `time`.
  void work(const JsonGraph& graph, std::chrono::milliseconds time) {
    auto runtime = process(graph);
    Spawned working;
    loop.post([&] {
      working = spawn<Result<std::size_t>>(loop, runtime->run_worker(WorkerOptions{}),
                                           [](const Result<std::size_t>&) {});
    });
    loop.run_until(clock.now() + time);
  }
  std::string violations(const JsonGraph& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    std::string told;
    CheckReport report = block_on(loop, check_store(*kept, scope)).value();
    for (const Violation& each : report.violations) {
      told += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return told;
  }
};

TEST_F(Upgrades, WithNoPathARunIsRefusedAndLeftAsItIs) {
  auto old = built(steps("name"));
  auto next = built(steps("title"));
  begin(old, Value::object({{"name", "Ana"}}));
  RunRow before = row();
  auto refused = resume(next);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr(hash_of(old).substr(0, 12)));
  EXPECT_THAT(refused.error().message, HasSubstr(hash_of(next).substr(0, 12)));
  EXPECT_THAT(refused.error().message, HasSubstr("upgrade_from(\"" + hash_of(old) + "\""));
  work(next, 10min);
  EXPECT_EQ(row(), before);
  ASSERT_EQ(resume(old).value().row.status, RunStatus::paused);
  EXPECT_EQ(resume(old).value().row.status, RunStatus::completed);
}

TEST_F(Upgrades, WithNoPathAQueuedRunAndAnOpenApprovalStayAsTheyAre) {
  auto asks = [&](std::string channel) {
    JsonGraphBuilder graph{"asks"};
    graph.channel(channel, {.kind = JsonKind::string});
    graph.approval("review", channel, {.question = "So?"}).approved(end).rejected(end);
    graph.edge(start, "review");
    return built(std::move(graph));
  };
  auto paused = begin(asks("name"), Value::Object());
  StartOptions options;
  options.thread = ThreadId("queued");
  auto client = process(asks("name"));
  block_on(loop, client->enqueue(asks("name"), Value::Object(), options, Instant())).value();
  RunRow before = row();
  RunRow queued = row("queued");
  work(asks("title"), 10min);
  auto refused = approve(asks("title"), paused.approval->interrupt);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(row(), before);
  EXPECT_EQ(row("queued"), queued);
  clock.move(25h);
  auto newer = process(asks("title"));
  EXPECT_EQ(block_on(loop, newer->process_due(default_tenant())).value().total(), 0u);
  EXPECT_EQ(row(), before);
  EXPECT_EQ(block_on(loop, client->process_due(default_tenant())).value().total(), 1u);
  EXPECT_EQ(row().outcome, "expired");
}

TEST_F(Upgrades, AnEditIsReadByTheVersionThatItsRunIsOf) {
  auto asks = [&](JsonKind kind) {
    JsonGraphBuilder graph{"asks"};
    graph.channel("place", {.kind = kind});
    graph.approval("review", "place", {.question = "There?"}).approved(end).rejected(end);
    graph.edge(start, "review");
    return built(std::move(graph));
  };
  auto old = asks(JsonKind::string);
  auto newest = asks(JsonKind::array);
  auto paused = begin(old, Value::object({{"place", "Rome"}}));
  auto both = process(old);
  both->add(newest);
  auto decide = [&](Runtime& runtime, Value edited) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    decision.edited = std::move(edited);
    return block_on(loop, runtime.decide(default_tenant(), paused.approval->interrupt, decision));
  };
  auto misfit = decide(*both, Value::Array{"Oslo"});
  ASSERT_FALSE(misfit.ok());
  EXPECT_THAT(misfit.error().message, HasSubstr("should be string"));
  auto answer = decide(*both, "Oslo").value();
  EXPECT_EQ(answer.kind, DecisionResult::Kind::accepted);
  EXPECT_EQ(answer.view.state["place"], Value("Oslo"));
  auto without_old = process(newest);
  EXPECT_EQ(decide(*without_old, "Oslo").value().kind, DecisionResult::Kind::duplicate);
  EXPECT_EQ(decide(*without_old, "Rome").value().kind, DecisionResult::Kind::conflict);
}

TEST_F(Upgrades, GoThroughSeveralVersionsOneAfterAnother) {
  auto first = built(steps("a"));
  auto second = steps("b");
  second.upgrade_from(hash_of(first), moves("a", "b"));
  auto middle = built(std::move(second));
  auto third = steps("c");
  third.upgrade_from(hash_of(middle), moves("b", "c"))
      .upgrade_from(hash_of(first), moves("a", "c"));
  auto last = built(std::move(third));

  begin(first, Value::object({{"a", "x"}}));
  begin(first, Value::object({{"a", "x"}}), "direct");
  ASSERT_EQ(resume(middle).value().row.status, RunStatus::paused);
  EXPECT_EQ(resume(first).error().code, ErrorCode::invalid) << "there is no way back";
  auto view = resume(last).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["log"]), R"(["one x>b","two x>b>c"])");
  resume(last, "direct").value();
  view = resume(last, "direct").value();
  EXPECT_EQ(to_json(view.state["log"]), R"(["one x>c","two x>c"])");
  EXPECT_EQ(violations(last), "");
}

// A run of version 1, and a program that has versions 2 and 3 with upgrades from 1 to 2 and 2 to 3.
struct UpgradeChain : Upgrades {
  JsonGraph first = built(steps("a"));
  std::unique_ptr<Runtime> holding(const GraphDefinition::Upgrade& to_second,
                                   const GraphDefinition::Upgrade& to_third) {
    auto second = steps("b");
    second.upgrade_from(hash_of(first), to_second);
    auto middle = built(std::move(second));
    auto third = steps("c");
    third.upgrade_from(hash_of(middle), to_third);
    auto runtime = process(middle);
    runtime->add(built(std::move(third)));
    return runtime;
  }
};

TEST_F(UpgradeChain, IsFoundAndAppliedInItsOrder) {
  begin(first, Value::object({{"a", "x"}}));
  auto runtime = holding(moves("a", "b"), moves("b", "c"));
  for (int each = 0; each < 2; ++each) {
    ASSERT_TRUE(block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).ok());
  }
  auto view = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["log"]), R"(["one x>b>c","two x>b>c"])");
}

TEST_F(UpgradeChain, ThatBreaksMidwayLeavesTheRunAsItIs) {
  begin(first, Value::object({{"a", "x"}}));
  RunRow before = row();
  GraphDefinition::Upgrade throws = [](Value) -> Result<Value> {
    detail::throw_failure(error(ErrorCode::invalid, "It threw."));
  };
  GraphDefinition::Upgrade is_no_object = [](Value) -> Result<Value> { return Value(7); };
  GraphDefinition::Upgrade does_not_fit = [](Value) -> Result<Value> {
    return Value::object({{"b", 7}});
  };
  GraphDefinition::Upgrade fine = [](Value) -> Result<Value> {
    return Value::object({{"c", "x"}});
  };
  for (auto& [to_second, to_third, told] :
       std::vector<std::tuple<GraphDefinition::Upgrade, GraphDefinition::Upgrade, std::string>>{
           {throws, fine, "It threw."},
           {moves("a", "b"), throws, "It threw."},
           {is_no_object, fine, "is of kind number"},
           {does_not_fit, fine, "\"b\" should be string, but is 7"},
           {moves("a", "b"), is_no_object, "returned a value of kind number"}}) {
    auto runtime = holding(to_second, to_third);
    auto refused = block_on(loop, runtime->resume(default_tenant(), ThreadId("t")));
    ASSERT_FALSE(refused.ok()) << told;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr(told));
    EXPECT_EQ(row(), before);
  }
}

TEST_F(Upgrades, OfAQueuedRunHappenWhenItIsTakenUp) {
  auto plain = [&](std::string channel) {
    JsonGraphBuilder graph{"plain"};
    graph.channel(channel, {.kind = JsonKind::string});
    graph.node("n", [channel](const Value& state, Context&) {
      return set(channel, *state[channel].as_string() + "!");
    });
    graph.edge(start, "n").edge("n", end);
    return graph;
  };
  auto old = built(plain("a"));
  auto client = process(old);
  StartOptions options;
  options.thread = ThreadId("t");
  block_on(loop, client->enqueue(old, Value::object({{"a", "x"}}), options, Instant())).value();
  auto builder = plain("b");
  builder.upgrade_from(hash_of(old), moves("a", "b"));
  work(built(std::move(builder)), 1min);
  EXPECT_EQ(row().status, RunStatus::completed);
  auto view = block_on(loop, client->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(view.state["b"], Value("x>b!"));
}

// If a process polls a candidate that it cannot execute, the candidate is hidden from those that
// can. After the first one, the process searches for others in the order in which the store would
// return them.
TEST_F(Upgrades, NoMoreRunsOfAnotherVersionAreClaimedThanWereAtFirst) {
  auto graph = [](std::string channel) {
    JsonGraphBuilder plain{"plain"};
    plain.channel(channel, {.kind = JsonKind::string});
    plain.node("n", [](const Value&, Context&) { return unchanged<Value>(); });
    plain.edge(start, "n").edge("n", end);
    return built(std::move(plain));
  };
  JsonGraph old = graph("a"), ours = graph("b");
  auto client = process(old);
  auto our_client = process(ours);
  StartOptions first;
  first.priority = 1;
  for (std::size_t i = 0; i < limits::poll_batch_max; ++i) {
    Value input = Value::object({{"b", "y"}});
    block_on(loop, our_client->enqueue(ours, std::move(input), {}, Instant())).value();
  }
  for (std::size_t i = 0; i < limits::poll_batch_max + 40; ++i) {
    block_on(loop, client->enqueue(old, Value::object({{"a", "x"}}), first, Instant())).value();
  }
  auto worker = process(ours);
  std::size_t refused = 0;
  WorkerOptions options;
  options.on_error = [&](const Error&) { ++refused; };
  Spawned working;
  loop.post([&] {
    working = spawn<Result<std::size_t>>(loop, worker->run_worker(options),
                                         [](const Result<std::size_t>&) {});
  });
  loop.run_until(clock.now() + 10s);
  EXPECT_EQ(refused, options.runs_max);
}

// Two branches: one completes immediately, as a pending write; the other raises an interrupt.
struct InTheMidst : Upgrades {
  JsonGraphBuilder halves(std::string channel, bool has_notes = true) {
    JsonGraphBuilder graph{"halves"};
    graph.channel(channel, {.kind = JsonKind::string});
    graph.channel("log", {.kind = JsonKind::array});
    if (has_notes) graph.channel("notes", {.kind = JsonKind::array});
    graph.node("split", [](const Value&, Context&) { return append("log", "split"); });
    graph.node("quick", [this, has_notes](const Value&, Context&) {
      ++visits["quick"];
      return has_notes ? append("notes", "quick") : append("log", "quick");
    });
    graph.approval("review", channel, {.question = "So?"}).approved("last").rejected(end);
    graph.node("last", [channel](const Value& state, Context&) {
      return append("log", *state[channel].as_string());
    });
    graph.edge(start, "split").edge("split", "quick").edge("split", "review");
    graph.edge("quick", end).edge("last", end);
    return graph;
  }
};

TEST_F(InTheMidst, OfASuperstepKeepWhatItsFinishedNodesWrote) {
  auto old = built(halves("a"));
  auto builder = halves("b");
  builder.upgrade_from(hash_of(old), moves("a", "b"));
  auto next = built(std::move(builder));
  auto paused = begin(old, Value::object({{"a", "x"}}));
  ASSERT_EQ(paused.row.status, RunStatus::paused);
  ASSERT_TRUE(paused.approval);
  auto view = approve(next, paused.approval->interrupt).value().view;
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["log"]), R"(["split","x>b"])");
  EXPECT_EQ(to_json(view.state["notes"]), R"(["quick"])");
  EXPECT_EQ(visits["quick"], 1);
  EXPECT_EQ(violations(next), "");
}

TEST_F(InTheMidst, OfASuperstepTheyOutliveACrashAtAnyCommit) {
  auto old = built(halves("a"));
  auto builder = halves("b");
  builder.upgrade_from(hash_of(old), moves("a", "b"));
  auto next = built(std::move(builder));
  for (int at = 1; at <= 4; ++at) {
    for (bool lands : {false, true}) {
      std::string thread = "t" + std::to_string(at) + (lands ? "l" : "");
      auto paused = begin(old, Value::object({{"a", "x"}}), thread);
      store.commits = 0;
      store.halt_at = at;
      store.lands = lands;
      auto dying = process(next);
      Decision decision;
      decision.approved = true;
      decision.decided_by = "ana";
      Spawned deciding;
      loop.post([&] {
        deciding = spawn<Result<DecisionResult>>(
            loop, dying->decide(default_tenant(), paused.approval->interrupt, decision),
            [](const Result<DecisionResult>&) {});
      });
      loop.run_until(clock.now() + 1min);
      store.halt_at = 0;
      deciding.reset();
      dying.reset();
      approve(next, paused.approval->interrupt).value();
      auto view = resume(next, thread).value();
      EXPECT_EQ(view.row.status, RunStatus::completed) << thread << view.row.error;
      EXPECT_EQ(to_json(view.state["log"]), R"(["split","x>b"])") << thread;
      EXPECT_EQ(to_json(view.state["notes"]), R"(["quick"])") << thread;
    }
  }
  EXPECT_EQ(violations(next), "");
}

TEST_F(InTheMidst, OfASuperstepATakeOverLeavesTheStoredStateReadable) {
  auto old = built(halves("a"));
  auto builder = halves("b");
  builder.upgrade_from(hash_of(old), moves("a", "b"));
  auto next = built(std::move(builder));
  // The process dies within the superstep.
  store.halt_at = 4;
  store.lands = false;
  auto dying = process(old);
  StartOptions options;
  options.thread = ThreadId("t");
  Spawned starting;
  loop.post([&] {
    starting = spawn<Result<RunView>>(loop, dying->start(old, Value::object({{"a", "x"}}), options),
                                      [](const Result<RunView>&) {});
  });
  loop.run_until(clock.now() + 1min);
  store.halt_at = 0;
  starting.reset();
  dying.reset();
  ASSERT_EQ(row().status, RunStatus::running);
  auto paused = resume(next).value();
  ASSERT_TRUE(paused.approval) << paused.row.error;
  EXPECT_EQ(paused.state["b"], Value("x>b"));
  auto view = approve(next, paused.approval->interrupt).value().view;
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["log"]), R"(["split","x>b"])");
  EXPECT_EQ(violations(next), "");
}

TEST_F(InTheMidst, OfASuperstepAChannelThatAFinishedNodeWroteMayNotBeGone) {
  auto old = built(halves("a"));
  auto builder = halves("b", false);
  builder.upgrade_from(hash_of(old), moves("a", "b"));
  auto next = built(std::move(builder));
  auto paused = begin(old, Value::object({{"a", "x"}}));
  RunRow before = row();
  auto refused = approve(next, paused.approval->interrupt);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message,
              HasSubstr("has no channel \"notes\", which a completed task wrote"));
  EXPECT_EQ(row(), before);
  EXPECT_EQ(approve(old, paused.approval->interrupt).value().view.row.status, RunStatus::completed);
}

TEST_F(InTheMidst, OfASubgraphTheOuterStateIsUpgradedAndTheInnerOneTakesItsDefaults) {
  auto nested = [&](std::string channel, bool grown) {
    JsonGraphBuilder inner{"inner"};
    inner.channel("text", {.kind = JsonKind::string});
    if (grown) inner.channel("more", {.kind = JsonKind::string, .default_value = Value("new")});
    inner.approval("ask", "text", {.question = "So?"}).approved("say").rejected(end);
    inner.node("say", [grown](const Value& state, Context&) {
      return set("text", *state["text"].as_string() + (grown ? *state["more"].as_string() : ""));
    });
    inner.edge(start, "ask").edge("say", end);
    JsonGraphBuilder graph{"outer"};
    graph.channel(channel, {.kind = JsonKind::string});
    graph.channel("said", {.kind = JsonKind::string});
    graph.subgraph("in", built(std::move(inner)), {{channel, "text"}}, {{"text", "said"}});
    graph.edge(start, "in").edge("in", end);
    return graph;
  };
  auto old = built(nested("a", false));
  auto builder = nested("b", true);
  builder.upgrade_from(hash_of(old), moves("a", "b"));
  auto next = built(std::move(builder));
  auto paused = begin(old, Value::object({{"a", "x"}}));
  ASSERT_TRUE(paused.approval);
  auto view = approve(next, paused.approval->interrupt).value().view;
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.state["said"], Value("xnew"));
  EXPECT_EQ(view.state["b"], Value("x>b"));
  EXPECT_EQ(violations(next), "");
}

TEST_F(Upgrades, ThatFailAreTypedAndLeaveTheRunAsItIs) {
  auto old = built(steps("a"));
  begin(old, Value::object({{"a", "x"}}));
  RunRow before = row();
  std::vector<std::pair<GraphDefinition::Upgrade, std::string>> upgrades = {
      {[](Value) -> Result<Value> { return error(ErrorCode::invalid, "Too old."); }, "Too old."},
      {[](Value) -> Result<Value> {
         detail::throw_failure(error(ErrorCode::invalid, "It threw."));
       },
       "It threw."},
      {[](Value) -> Result<Value> { return Value(7); }, "returned a value of kind number"},
      {[](Value) -> Result<Value> { return Value::object({{"b", 7}}); },
       "\"b\" should be string, but is 7"},
  };
  for (auto& [upgrade, told] : upgrades) {
    auto builder = steps("b");
    builder.upgrade_from(hash_of(old), upgrade);
    auto refused = resume(built(std::move(builder)));
    ASSERT_FALSE(refused.ok()) << told;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr(told));
    EXPECT_EQ(row(), before);
  }
}

struct Before {
  std::string name{};
  int count = 0;
};
struct After {
  std::string name{};
  std::string title{"Dr"};
};

template <typename State>
Graph<State> held(bool accepts) {
  GraphBuilder<State> graph{"held"};
  graph
      .node("hold",
            [](const State& state, Context&) { return set(&State::name, state.name + "!"); })
      .interrupt_before();
  graph.edge(start, "hold").edge("hold", end);
  if (accepts) graph.accept_older_versions();
  return std::move(graph).build().value();
}

TEST_F(Upgrades, ANewerVersionMayAcceptOlderOnesAsTheyAre) {
  auto old = held<Before>(false);
  auto first = process(old);
  StartOptions options;
  options.thread = ThreadId("t");
  block_on(loop, first->start(old, Before{"Ana", 3}, options)).value();
  first.reset();
  auto second = process(held<After>(true));
  auto view = block_on(loop, second->resume(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state), R"({"count":3,"name":"Ana!","title":"Dr"})");
}

// Members in another order than that of their names; the newer version has one more.
struct OldItem {
  int weight = 0;
  std::string kind{};
};
struct NewItem {
  int weight = 0;
  std::string kind{};
  int age = 7;
};
struct OldBasket {
  OldItem first{};
  std::vector<OldItem> others{};
  bool paid = false;
};
struct NewBasket {
  NewItem first{};
  std::vector<NewItem> others{};
  bool paid = false;
};

// Two nodes in parallel: one writes items and completes, the other waits for a decision.
template <typename Basket, typename Item>
Graph<Basket> basket_graph() {
  GraphBuilder<Basket> graph{"basket"};
  graph.node("fill", [](const Basket&, Context&) {
    return set(&Basket::first, Item{3, "apple"}).append(&Basket::others, Item{4, "pear"});
  });
  graph.node("pay", [](const Basket&, Context& context) {
    InterruptRequest question;
    question.name = "pay";
    return set(&Basket::paid, context.interrupt(std::move(question)).approved);
  });
  graph.edge(start, "fill").edge(start, "pay").edge("fill", end).edge("pay", end);
  graph.accept_older_versions();
  return std::move(graph).build().value();
}

TEST_F(Upgrades, KeepThePendingWritesOfStructsThatAnOlderVersionStored) {
  auto old = basket_graph<OldBasket, OldItem>();
  auto first = process(old);
  StartOptions options;
  options.thread = ThreadId("t");
  auto paused = block_on(loop, first->start(old, OldBasket{}, options)).value();
  ASSERT_EQ(paused.approvals.size(), 1u);
  first.reset();
  auto newer = basket_graph<NewBasket, NewItem>();
  auto second = process(newer);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  block_on(loop, second->decide(default_tenant(), paused.approvals[0].interrupt, decision)).value();
  second.reset();
  auto third = process(newer);
  auto view = block_on(loop, third->status(default_tenant(), ThreadId("t")));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->row.status, RunStatus::completed) << view->row.error;
  // The state as it is stored: the newer version reads the missing member as its default.
  EXPECT_EQ(to_json(view->state),
            R"({"first":{"kind":"apple","weight":3},"others":[{"kind":"pear","weight":4}],)"
            R"("paid":true})");
}

}  // namespace
}  // namespace belay
