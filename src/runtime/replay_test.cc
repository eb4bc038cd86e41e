// Tests replays: recorded results are used instead of calls, and the first difference is reported.
// Long on purpose: each kind of recorded data and of divergence, with one fixture.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/event_fixture.h"

namespace belay {
namespace {

using ::testing::HasSubstr;

struct Footprint {
  static constexpr std::string_view collection = "footprints";
  static auto indexed() { return std::tuple{&Footprint::name}; }
  std::string name{};
  std::string key() const { return name; }
};

struct Replays : Events {
  int calls = 0;  // of external systems

  ReplayReport replay(Runtime& runtime) {
    ReplayOptions options;
    options.thread = ThreadId("t");
    int commits = store.commits;
    auto report = block_on(loop, runtime.replay(options));
    EXPECT_EQ(store.commits, commits) << "it writes nothing";
    if (report.ok()) return *std::move(report);
    ADD_FAILURE() << report.error().message;
    return {};
  }
  static std::string told(const ReplayReport& report) {
    if (!report.divergence) return "";
    const Divergence& first = *report.divergence;
    return std::to_string(first.seq) + " " + first.node + ": " + first.what + ": " +
           first.recorded + " / " + first.replayed;
  }
  void expect_clean(Runtime& runtime) {
    ReplayReport report = replay(runtime);
    EXPECT_EQ(told(report), "");
    EXPECT_EQ(report.matching_commits, report.run.seq);
  }

  // Effects of every class, random numbers, time, and a model; the first attempt fails partway.
  Graph<Plan> of_all_classes(bool changed = false) {
    GraphBuilder<Plan> graph{"effects"};
    graph
        .node("pay",
              [this](const Plan&, Context& context) {
                std::int64_t receipt =
                    context.keyed_effect("receipt", [this] { return std::int64_t{40 + ++calls}; });
                auto mailed = context.unkeyed_effect("mail", {}, [this]() -> Result<std::int64_t> {
                  if (++calls == 2) return error(ErrorCode::unavailable, "The post is away.");
                  return std::int64_t{7};
                });
                context.save(Footprint{"pay"});
                context.publish("paid", Value(receipt));
                context.emit("paid", Value(receipt));
                std::string seen =
                    std::to_string(receipt) + " " + std::to_string(mailed.value_or(0)) + " " +
                    std::to_string(context.random_bits()) + " " + to_text(context.now());
                return append(&Plan::log, seen);
              })
        .retry({.attempts = 3, .base = 100ms});
    graph.node("think", [this, changed](const Plan&, Context& context) -> Task<Update<Plan>> {
      std::string prompt = changed ? "Think otherwise" : "Think";
      auto thought = (co_await context.model().complete(prompt)).value();
      auto ask = [this]() -> Task<Result<std::int64_t>> {
        ++calls;
        co_return std::int64_t{9};
      };
      auto looked = co_await context.keyed_effect("look", ask);
      context.stream(thought);
      co_await sleep_for(1min);
      co_return set(&Plan::title, thought + std::to_string(looked));
    });
    graph.edge(start, "pay").edge("pay", "think").edge("think", end);
    return built(std::move(graph));
  }

  // Runs `recorded`, and replays it with `changed`, which has the same structure and other code.
  std::string first_difference(const Graph<Plan>& recorded, const Graph<Plan>& changed) {
    auto runtime = process(recorded);
    (void)block_on(loop, runtime->start(recorded, Plan{}, on_thread()));
    EXPECT_EQ(recorded.definition()->hash, changed.definition()->hash);
    auto other = process(changed);
    return told(replay(*other));
  }
  Graph<Plan> two_steps(std::function<Update<Plan>(const Plan&, Context&)> second,
                        std::function<std::string(const Plan&)> choose = nullptr) {
    GraphBuilder<Plan> graph{"steps"};
    graph.node("one", [](const Plan&, Context&) { return append(&Plan::log, "one"); });
    graph.node("two", std::move(second));
    graph.node("left", logs("left"));
    graph.node("right", logs("right"));
    graph.edge(start, "one").edge("one", "two");
    graph.branch("two", [choose](const Plan& plan) { return choose ? choose(plan) : "left"; },
                 {"left", "right"});
    graph.edge("left", end).edge("right", end);
    return built(std::move(graph));
  }
};

TEST_F(Replays, ARunThatHasItAllComesOutAsItIsRecorded) {
  for (Durability durability : {Durability::sync, Durability::async}) {
    auto runtime = process();
    auto graph = everything();
    runtime->add(graph);
    RunOptions run;
    run.durability = durability;
    StartOptions options = on_thread(run);
    options.thread = ThreadId(durability == Durability::sync ? "s" : "a");
    auto view = block_on(loop, runtime->start(graph, Plan{}, options)).value();
    while (view.row.status == RunStatus::paused) {
      Decision decision;
      decision.approved = true;
      decision.decided_by = "ana";
      ApprovalRow asked = view.approvals.back();
      if (terms_of(asked).value().find("happened")) decision.choice = "happened";
      if (asked.node == "review") decision.edited = Value("another plan");
      view =
          block_on(loop, runtime->decide(default_tenant(), asked.interrupt, decision)).value().view;
    }
    ASSERT_EQ(view.row.status, RunStatus::completed);
    ReplayOptions wanted;
    wanted.thread = options.thread;
    ReplayReport report = block_on(loop, runtime->replay(wanted)).value();
    EXPECT_EQ(told(report), "");
    EXPECT_EQ(report.matching_commits, view.row.seq);
  }
}

TEST_F(Replays, NoEffectAndNoModelIsCalledAgainAndChanceAndTimeAreTheSame) {
  model.replies("a thought");
  auto graph = of_all_classes();
  auto runtime = process(graph);
  play(*runtime, graph);
  int called = calls;
  EXPECT_EQ(called, 4);
  clock.move(24h);
  Instant before = clock.now();
  expect_clean(*runtime);
  EXPECT_EQ(calls, called);
  EXPECT_EQ(model.requests().size(), 1u);
  EXPECT_EQ(clock.now(), before) << "nor does time pass";
}

TEST_F(Replays, AnEffectThatWasUncertainIsAskedAboutAgainWithoutACall) {
  GraphBuilder<Plan> builder{"uncertain"};
  builder
      .node("mail",
            [this](const Plan&, Context& context) {
              auto sent = context.unkeyed_effect("mail", {}, [this]() -> Result<std::int64_t> {
                if (++calls == 1) return error(ErrorCode::uncertain, "The line went dead.");
                return std::int64_t{calls};
              });
              return append(&Plan::log, std::to_string(sent.value_or(0)));
            })
      .retry({.attempts = 2});
  builder.edge(start, "mail").edge("mail", end);
  auto graph = built(std::move(builder));
  // The process dies after the call and before its outcome is recorded.
  auto dies = [this](int commit) {
    store.commits = 0;
    store.halt_at = commit;
    store.lands = false;
  };
  Spawned running;
  auto first = process(graph);
  dies(3);
  calls = 1;
  loop.post([&] {
    running = spawn<Result<RunView>>(loop, first->start(graph, Plan{}, on_thread()),
                                     [](const Result<RunView>&) {});
  });
  loop.run_until(clock.now() + 1min);
  running.reset();
  first.reset();
  store.halt_at = 0;
  auto runtime = process(graph);
  auto view = block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).value();
  ASSERT_EQ(view.row.status, RunStatus::paused);
  Decision again;
  again.choice = "redo";
  again.decided_by = "ana";
  view = block_on(loop, runtime->decide(default_tenant(), view.approval->interrupt, again))
             .value()
             .view;
  ASSERT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  int called = calls;
  expect_clean(*runtime);
  EXPECT_EQ(calls, called);
}

TEST_F(Replays, RunsThatFailedWereCancelledTimedOutOrWaitAreReplayedToWhereTheyStand) {
  GraphBuilder<Plan> failing{"failing"};
  failing
      .node("fall",
            [this](const Plan&, Context& context) -> Result<Update<Plan>> {
              context.keyed_effect("try", [this]() -> Result<std::int64_t> {
                ++calls;
                return error(ErrorCode::unavailable, "Nobody answers.");
              });
              return unchanged<Plan>();
            })
      .retry({.attempts = 2});
  failing.edge(start, "fall").edge("fall", end);
  auto falls = built(std::move(failing));
  {
    auto runtime = process(falls);
    auto view = block_on(loop, runtime->start(falls, Plan{}, on_thread())).value();
    ASSERT_EQ(view.row.status, RunStatus::failed);
    int called = calls;
    expect_clean(*runtime);
    EXPECT_EQ(calls, called);
  }
  auto graph = everything();
  auto runtime = process(graph);
  StartOptions options;
  options.thread = ThreadId("waits");
  ASSERT_TRUE(block_on(loop, runtime->start(graph, Plan{}, options)).ok());
  ReplayOptions wanted;
  wanted.thread = options.thread;
  EXPECT_EQ(told(block_on(loop, runtime->replay(wanted)).value()), "");
  ASSERT_TRUE(block_on(loop, runtime->cancel(default_tenant(), options.thread, "ana")).ok());
  EXPECT_EQ(told(block_on(loop, runtime->replay(wanted)).value()), "");
}

TEST_F(Replays, AForkIsReplayedFromWhereItBegan) {
  auto graph = everything();
  auto runtime = process(graph);
  play(*runtime, graph);
  ForkOptions fork;
  fork.from = ThreadId("t");
  fork.seq = 1;
  fork.thread = ThreadId("other");
  auto forked = block_on(loop, runtime->fork(fork)).value();
  ReplayOptions wanted;
  wanted.thread = ThreadId("other");
  ReplayReport report = block_on(loop, runtime->replay(wanted)).value();
  EXPECT_EQ(told(report), "");
  EXPECT_EQ(report.matching_commits, forked.row.seq);
}

// Two branches at the start, one of them a subgraph: both emit an event, and the plain one fails in
// its first attempt.
TEST_F(Replays, ALaterRunIsReplayedFromItsFirstSuperstep) {
  int executions = 0;
  GraphBuilder<Plan> inner{"inner"};
  inner.node("inside", [&executions](const Plan&, Context& context) {
    ++executions;
    context.emit("inside", Value(true));
    return append(&Plan::log, "inside");
  });
  inner.edge(start, "inside").edge("inside", end);
  auto within = built(std::move(inner));
  GraphBuilder<Plan> graph{"branches"};
  graph.subgraph(
      "deep", within, [](const Plan&) { return Plan{}; },
      [](const Plan& plan) { return append(&Plan::log, plan.log.back()); });
  graph
      .node("flat",
            [&executions](const Plan&, Context& context) -> Result<Update<Plan>> {
              ++executions;
              context.emit("flat", Value(context.attempt()));
              if (context.attempt() == 1) return error(ErrorCode::unavailable, "Not yet.");
              return append(&Plan::log, "flat");
            })
      .retry({.attempts = 2});
  graph.edge(start, "deep").edge(start, "flat").edge("deep", end).edge("flat", end);
  auto outer = built(std::move(graph));
  auto runtime = process(outer);
  for (int run = 0; run < 2; ++run) {
    auto view = block_on(loop, runtime->start(outer, Plan{}, on_thread()));
    ASSERT_TRUE(view.ok()) << view.error().message;
    ASSERT_EQ(view->row.status, RunStatus::completed) << view->row.error;
    ASSERT_EQ(view->row.ordinal, run);
    executions = 0;
    expect_clean(*runtime);
    EXPECT_EQ(executions, 3) << "each node was executed again";
  }
}

TEST_F(Replays, ChangedCodeShowsTheFirstCommitAndNodeThatDiffer) {
  auto says = [](std::string text) {
    return [text](const Plan&, Context&) { return set(&Plan::title, text); };
  };
  EXPECT_EQ(first_difference(two_steps(says("a")), two_steps(says("b"))),
            "3 two: channel title: \"a\" / \"b\"");
}

TEST_F(Replays, AnotherWayIsADifference) {
  auto nothing = [](const Plan&, Context&) { return unchanged<Plan>(); };
  auto right = [](const Plan&) { return std::string("right"); };
  EXPECT_THAT(first_difference(two_steps(nothing), two_steps(nothing, right)),
              HasSubstr("3 two: next tasks: [{\"node\":\"left\""));
}

TEST_F(Replays, AnEffectThatIsNotOnRecordIsADifferenceAndNotACall) {
  auto nothing = [](const Plan&, Context&) { return unchanged<Plan>(); };
  auto calls_out = [this](const Plan&, Context& context) {
    context.keyed_effect("new", [this] { return std::int64_t{++calls}; });
    return unchanged<Plan>();
  };
  EXPECT_EQ(first_difference(two_steps(nothing), two_steps(calls_out)),
            "3 two: effect new: none / called");
  EXPECT_EQ(calls, 0);
}

TEST_F(Replays, AnotherRequestToTheModelIsADifferenceAndNotACall) {
  model.replies("a thought");
  auto recorded = of_all_classes();
  auto changed = of_all_classes(true);
  EXPECT_THAT(first_difference(recorded, changed), HasSubstr("think: request to the model"));
  EXPECT_EQ(model.requests().size(), 1u);
}

TEST_F(Replays, OfARunWithMoreEventsThanAPageHasCompareThemAll) {
  auto emits = [](std::string name) {
    return [name](const Plan&, Context& context) {
      for (std::size_t i = 0; i < limits::page_rows_max * 2 / 3; ++i) {
        context.emit(name, Value(static_cast<std::int64_t>(i)));
      }
      return append(&Plan::log, name);
    };
  };
  auto graph = [&](std::string last) {
    GraphBuilder<Plan> builder{"talks"};
    builder.node("one", emits("one"));
    builder.node("two", emits("two"));
    builder.node("last", [last](const Plan&, Context& context) {
      context.emit(last, Value(1));
      return append(&Plan::log, "last");
    });
    builder.edge(start, "one").edge("one", "two").edge("two", "last").edge("last", end);
    return built(std::move(builder));
  };
  auto recorded = graph("last");
  auto runtime = process(recorded);
  block_on(loop, runtime->start(recorded, Plan{}, on_thread())).value();
  expect_clean(*runtime);
  auto other = process(graph("other"));
  EXPECT_THAT(told(replay(*other)), HasSubstr("last: events"));
}

TEST_F(Replays, AnotherErrorIsADifference) {
  auto fails = [](std::string text) {
    return [text](const Plan&, Context&) -> Update<Plan> {
      detail::throw_failure(error(ErrorCode::invalid, text));
    };
  };
  EXPECT_EQ(first_difference(two_steps(fails("one")), two_steps(fails("other"))),
            "3 two: error: one / other");
}

// Stores the error of a failed run with the text of an older version of Belay.
class StoreWithOldError final : public ForwardingStore {
 public:
  StoreWithOldError(Store& inner, std::string text)
      : ForwardingStore(inner), text_(std::move(text)) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (commit.rows.run && commit.rows.run->status == RunStatus::failed) {
      commit.rows.run->error = text_;
    }
    return inner().commit(std::move(commit));
  }

 private:
  std::string text_;
};

TEST_F(Replays, AnErrorOfBelayMayBeRecordedInTheWordsOfAnOlderVersion) {
  GraphBuilder<Plan> builder{"cycle"};
  builder.node("again", logs("again"));
  builder.edge(start, "again");
  builder.branch("again", [](const Plan&) { return std::string("again"); }, {"again", end});
  auto graph = built(std::move(builder));
  std::string old = "The run took more than 3 steps; look for a cycle that never ends.";
  StoreWithOldError older(store, old);
  auto runtime = Runtime::open(RuntimeParts{older, loop, clock, random, model}).value();
  runtime->add(graph);
  RunOptions run;
  run.supersteps = 3;
  auto view = block_on(loop, runtime->start(graph, Plan{}, on_thread(run))).value();
  ASSERT_EQ(view.row.error_code, "exhausted");
  ReplayReport report = replay(*runtime);
  EXPECT_EQ(report.run.error, old);
  EXPECT_EQ(told(report), "");
  EXPECT_EQ(report.matching_commits, report.run.seq);
}

TEST_F(Replays, AnErrorWithAnotherCodeIsADifference) {
  auto fails = [](ErrorCode code) {
    return [code](const Plan&, Context&) -> Update<Plan> {
      detail::throw_failure(error(code, "It fails."));
    };
  };
  EXPECT_EQ(
      first_difference(two_steps(fails(ErrorCode::invalid)), two_steps(fails(ErrorCode::conflict))),
      "3 two: error: invalid: It fails. / conflict: It fails.");
}

TEST_F(Replays, WithExitEachRecordedCommitIsCompared) {
  auto graph = fan_out();
  auto runtime = process(graph);
  RunOptions run;
  run.durability = Durability::exit;
  auto view = play(*runtime, graph, run);
  ReplayReport report = replay(*runtime);
  EXPECT_EQ(told(report), "");
  EXPECT_EQ(report.matching_commits, view.row.seq);
}

TEST_F(Replays, WhatCantBeReplayedSaysWhy) {
  auto graph = fan_out();
  auto runtime = process(graph);
  auto view = play(*runtime, graph);
  ReplayOptions unknown;
  unknown.thread = ThreadId("nobody");
  EXPECT_EQ(block_on(loop, runtime->replay(unknown)).error().code, ErrorCode::not_found);
  GraphBuilder<Plan> builder{"fan"};
  builder.node("split", logs("split"));
  builder.edge(start, "split").edge("split", end);
  auto newer = built(std::move(builder));
  auto other = process(newer);
  ReplayOptions options;
  options.thread = ThreadId("t");
  EXPECT_EQ(block_on(loop, other->replay(options)).error().code, ErrorCode::invalid);
  Commit commit;
  commit.tenant = default_tenant();
  PruneRun prune;
  prune.run = view.row.run;
  prune.before_seq = 3;
  commit.rows.prune.push_back(prune);
  ASSERT_TRUE(block_on(loop, store.commit(std::move(commit))).ok());
  auto pruned = block_on(loop, runtime->replay(options));
  EXPECT_THAT(pruned.error().message, HasSubstr("pruned"));
}

}  // namespace
}  // namespace belay
